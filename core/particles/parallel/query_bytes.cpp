// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/query_bytes.hpp"

#include "bat/error.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

namespace bat::mpi
{
namespace
{
class Writer
{
public:
  explicit Writer(std::vector<std::byte>& bytes)
    : bytes_(bytes)
  {
  }

  template <class T>
  std::enable_if_t<std::is_trivially_copyable_v<T>> operator()(const T& value)
  {
    this->append(&value, sizeof(value));
  }
  void operator()(const std::string& text)
  {
    (*this)(static_cast<std::uint64_t>(text.size()));
    this->append(text.data(), text.size());
  }
  template <class T>
  void operator()(const std::vector<T>& values)
  {
    (*this)(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values)
    {
      (*this)(value);
    }
  }
  void operator()(const AttributeRange& range)
  {
    const auto& [attribute, component, lower, upper] = range;
    this->all(attribute, component, lower, upper);
  }
  void operator()(const AttributeValues& values)
  {
    const auto& [attribute, component, numbers, ranges, negated] = values;
    this->all(attribute, component, numbers, ranges, negated);
  }
  template <class... T>
  void all(const T&... values)
  {
    ((*this)(values), ...);
  }

private:
  void append(const void* from, std::size_t size)
  {
    const auto* begin = static_cast<const std::byte*>(from);
    this->bytes_.insert(this->bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte>& bytes_;
};

class Reader
{
public:
  Reader(const std::byte* begin, const std::byte* end)
    : at_(begin)
    , end_(end)
  {
  }

  template <class T>
  std::enable_if_t<std::is_trivially_copyable_v<T>> operator()(T& value)
  {
    std::memcpy(&value, this->take(sizeof(value)), sizeof(value));
  }
  void operator()(std::string& text)
  {
    const std::uint64_t size = this->size();
    text.assign(reinterpret_cast<const char*>(this->take(size)), size);
  }
  template <class T>
  void operator()(std::vector<T>& values)
  {
    values.resize(this->size());
    for (T& value : values)
    {
      (*this)(value);
    }
  }
  void operator()(AttributeRange& range)
  {
    auto& [attribute, component, lower, upper] = range;
    this->all(attribute, component, lower, upper);
  }
  void operator()(AttributeValues& values)
  {
    auto& [attribute, component, numbers, ranges, negated] = values;
    this->all(attribute, component, numbers, ranges, negated);
  }
  template <class... T>
  void all(T&... values)
  {
    ((*this)(values), ...);
  }

private:
  std::uint64_t size()
  {
    std::uint64_t size = 0;
    (*this)(size);
    return size;
  }
  const std::byte* take(std::size_t size)
  {
    if (size > static_cast<std::size_t>(this->end_ - this->at_))
    {
      throw Error(ErrorCode::InvalidArgument, "the query of another rank is truncated");
    }
    const std::byte* const taken = this->at_;
    this->at_ += size;
    return taken;
  }

  const std::byte* at_;
  const std::byte* end_;
};

// Names all members, so that adding one to the query does not compile until it is transferred too.
template <class Q, class Archive>
void each_member(Q& query, Archive& archive)
{
  auto& [quality, after_quality, box, half_open, shapes, ranges, values, part, parts] = query;
  archive.all(quality, after_quality, box, half_open, shapes, ranges, values, part, parts);
}
}

void append_query(std::vector<std::byte>& bytes, const Query& query)
{
  Writer writer(bytes);
  each_member(query, writer);
}

Query parse_query(const std::byte* begin, const std::byte* end)
{
  Query query;
  Reader reader(begin, end);
  each_member(query, reader);
  return query;
}
}
