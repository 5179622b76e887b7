// SPDX-License-Identifier: BSD-3-Clause
#include "node.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace bat::catalyst
{
namespace
{
template <class T>
T load(const Numbers& numbers, std::uint64_t i) noexcept
{
  T value;
  std::memcpy(&value, numbers.data + i * numbers.stride_bytes, sizeof(T));
  return value;
}

template <class Result>
Result value_at(const Numbers& numbers, std::uint64_t i) noexcept
{
  switch (numbers.type)
  {
    case ScalarType::Int8:
      return static_cast<Result>(load<std::int8_t>(numbers, i));
    case ScalarType::UInt8:
      return static_cast<Result>(load<std::uint8_t>(numbers, i));
    case ScalarType::Int16:
      return static_cast<Result>(load<std::int16_t>(numbers, i));
    case ScalarType::UInt16:
      return static_cast<Result>(load<std::uint16_t>(numbers, i));
    case ScalarType::Int32:
      return static_cast<Result>(load<std::int32_t>(numbers, i));
    case ScalarType::UInt32:
      return static_cast<Result>(load<std::uint32_t>(numbers, i));
    case ScalarType::Int64:
      return static_cast<Result>(load<std::int64_t>(numbers, i));
    case ScalarType::UInt64:
      return static_cast<Result>(load<std::uint64_t>(numbers, i));
    case ScalarType::Float32:
      return static_cast<Result>(load<float>(numbers, i));
    case ScalarType::Float64:
      break;
  }
  return static_cast<Result>(load<double>(numbers, i));
}

std::optional<ScalarType> scalar_type(ConduitType type) noexcept
{
  switch (type)
  {
    case ConduitType::Int8:
      return ScalarType::Int8;
    case ConduitType::Int16:
      return ScalarType::Int16;
    case ConduitType::Int32:
      return ScalarType::Int32;
    case ConduitType::Int64:
      return ScalarType::Int64;
    case ConduitType::UInt8:
      return ScalarType::UInt8;
    case ConduitType::UInt16:
      return ScalarType::UInt16;
    case ConduitType::UInt32:
      return ScalarType::UInt32;
    case ConduitType::UInt64:
      return ScalarType::UInt64;
    case ConduitType::Float32:
      return ScalarType::Float32;
    case ConduitType::Float64:
      return ScalarType::Float64;
    default:
      return std::nullopt;
  }
}

std::string joined(const std::string& path, std::string_view name)
{
  return path.empty() ? std::string(name) : fmt::format("{}/{}", path, name);
}

[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, what);
}
}

double float64_at(const Numbers& numbers, std::uint64_t i) noexcept
{
  return value_at<double>(numbers, i);
}

std::int64_t int64_at(const Numbers& numbers, std::uint64_t i) noexcept
{
  return value_at<std::int64_t>(numbers, i);
}

bool is_integer(ScalarType type) noexcept
{
  return type != ScalarType::Float32 && type != ScalarType::Float64;
}

// The C functions take pointers to non-const but change nothing.
Node::Node(const ConduitApi& api, const conduit_node* node, std::string path)
  : api_(&api)
  , node_(const_cast<conduit_node*>(node))
  , path_(std::move(path))
{
}

ConduitType Node::type() const
{
  return static_cast<ConduitType>(this->api_->type_id(this->api_->dtype(this->node_)));
}

std::string Node::name() const
{
  const std::unique_ptr<char, void (*)(void*)> name(this->api_->name(this->node_), &std::free);
  return name ? name.get() : "";
}

std::string Node::type_name() const
{
  const ConduitType type = this->type();
  if (const auto scalar = scalar_type(type))
  {
    return std::string(name_of(*scalar));
  }
  switch (type)
  {
    case ConduitType::Empty:
      return "empty";
    case ConduitType::Object:
      return "object";
    case ConduitType::List:
      return "list";
    case ConduitType::Char8Str:
      return "text";
    default:
      return fmt::format("type {}", static_cast<std::int64_t>(type));
  }
}

std::size_t Node::size() const
{
  return this->is_object() || this->is_list()
    ? static_cast<std::size_t>(this->api_->number_of_children(this->node_))
    : 0;
}

Node Node::child(std::size_t i) const
{
  Node child(
    *this->api_, this->api_->child(this->node_, static_cast<conduit_index>(i)), this->path_);
  child.path_ = joined(this->path_, this->is_list() ? std::to_string(i) : child.name());
  return child;
}

std::optional<Node> Node::child_named(const std::string& name) const
{
  if (!this->is_object() || !this->api_->has_child(this->node_, name.c_str()))
  {
    return std::nullopt;
  }
  return Node(
    *this->api_, this->api_->child_by_name(this->node_, name.c_str()), joined(this->path_, name));
}

std::optional<Node> Node::find(std::string_view path) const
{
  const std::size_t slash = path.find('/');
  const auto child = this->child_named(std::string(path.substr(0, slash)));
  return child && slash != std::string_view::npos ? child->find(path.substr(slash + 1)) : child;
}

std::optional<std::string> Node::string() const
{
  if (!this->is_string())
  {
    return std::nullopt;
  }
  const conduit_datatype* type = this->api_->dtype(this->node_);
  const auto count = static_cast<std::size_t>(this->api_->number_of_elements(type));
  const auto* text = static_cast<const char*>(this->api_->element_ptr(this->node_, 0));
  return count == 0 || !text ? std::string() : std::string(text, ::strnlen(text, count));
}

std::optional<Numbers> Node::numbers() const
{
  const auto scalar = scalar_type(this->type());
  if (!scalar)
  {
    return std::nullopt;
  }
  const conduit_datatype* type = this->api_->dtype(this->node_);
  const conduit_index count = this->api_->number_of_elements(type);
  const conduit_index stride = this->api_->stride(type);
  if (count <= 0)
  {
    return Numbers{ *scalar, 0, size_of(*scalar), nullptr };
  }
  if (!this->api_->endianness_matches_machine(type))
  {
    refuse(fmt::format("{} has a different byte order than this machine", this->path_));
  }
  const auto* data = static_cast<const std::byte*>(this->api_->element_ptr(this->node_, 0));
  if (!data || stride < 0)
  {
    refuse(fmt::format("{} has {} values at {}", this->path_, count,
      data ? fmt::format("a stride of {} bytes", stride) : "a null pointer"));
  }
  return Numbers{ *scalar, static_cast<std::uint64_t>(count), static_cast<std::size_t>(stride),
    data };
}

Node Node::require(std::string_view path) const
{
  if (auto node = this->find(path))
  {
    return *std::move(node);
  }
  const std::string there = this->format_child_names();
  refuse(fmt::format("{} is missing; {} has {}", joined(this->path_, path), this->path_,
    there.empty() ? "no children" : there));
}

std::string Node::require_string(std::string_view path) const
{
  const Node node = this->require(path);
  auto text = node.string();
  if (!text)
  {
    refuse(fmt::format("{} has type {}; it must be a string", node.path(), node.type_name()));
  }
  return *std::move(text);
}

std::string Node::format_child_names() const
{
  std::vector<std::string> names;
  for (std::size_t i = 0; i != this->size(); ++i)
  {
    names.push_back(this->child(i).name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}
}
