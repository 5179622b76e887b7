// SPDX-License-Identifier: BSD-3-Clause
// How the harnesses interpret their input: a .bat file, followed for fuzz_query by the queries.
#pragma once

#include "bat/bat.hpp"
#include "particles/format/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fuzz
{
/// The length of the file at the beginning of an input: as in its header, if possible.
inline std::size_t file_bytes(const std::uint8_t* data, std::size_t size)
{
  if (size < sizeof(bat::format::Header))
  {
    return size;
  }
  std::uint64_t promised = 0;
  std::memcpy(&promised, data + offsetof(bat::format::Header, file_bytes), sizeof(promised));
  return promised >= sizeof(bat::format::Header) && promised <= size
    ? static_cast<std::size_t>(promised)
    : size;
}

/// Turns bytes into choices and numbers; when they run out, everything is 0.
class Choices
{
public:
  Choices(const std::uint8_t* data, std::size_t size)
    : data_(data)
    , left_(size)
  {
  }

  [[nodiscard]] bool empty() const { return this->left_ == 0; }

  template <class T>
  T take()
  {
    T value{};
    const std::size_t bytes = this->left_ < sizeof(T) ? this->left_ : sizeof(T);
    std::memcpy(&value, this->data_, bytes);
    this->data_ += bytes;
    this->left_ -= bytes;
    return value;
  }

  /// 0 to `end` - 1, or 0 if there is no choice.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : this->take<std::uint16_t>() % end; }

  /// A number near [a, b], or any.
  double real(double a, double b)
  {
    const auto kind = this->take<std::uint8_t>();
    if (kind % 4 == 0)
    {
      return this->take<double>();
    }
    if (kind % 4 == 1)
    {
      return kind % 8 < 4 ? a : b;
    }
    return a + (b - a) * (this->take<std::uint8_t>() / 255.0);
  }

  bat::Number number(const bat::Key& key)
  {
    switch (this->take<std::uint8_t>() % 6)
    {
      case 0:
        return this->take<std::int64_t>();
      case 1:
        return this->take<std::uint64_t>();
      case 2:
        return key.minimum;
      case 3:
        return key.maximum;
      default:
        return this->real(bat::to_double(key.minimum), bat::to_double(key.maximum));
    }
  }

  bat::Query query(const bat::File& file)
  {
    bat::Query query;
    const auto parts = this->take<std::uint8_t>();
    if (parts % 2 == 1)
    {
      query.quality = this->real(0, 1);
      query.after_quality = parts % 4 == 3 ? this->real(0, query.quality) : 0;
    }
    if (parts / 4 % 2 == 1)
    {
      const auto bounds = file.bounds();
      query.box.emplace();
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        const double a = bounds ? bounds->lower[axis] : 0;
        const double b = bounds ? bounds->upper[axis] : 0;
        query.box->lower[axis] = this->real(a, b);
        query.box->upper[axis] = this->real(a, b);
      }
    }
    for (int ranges = parts / 8 % 4; ranges != 0 && !file.attributes().empty(); --ranges)
    {
      const bat::Attribute& attribute = file.attributes()[this->below(file.attributes().size())];
      const bat::Key& key = attribute.keys[this->below(attribute.keys.size())];
      bat::AttributeRange range;
      range.attribute = attribute.name;
      if (key.component >= 0)
      {
        range.component = key.component;
      }
      range.lower = this->number(key);
      range.upper = this->number(key);
      query.ranges.push_back(range);
    }
    for (int lists = parts / 32 == 6 ? 2 : parts / 32 == 5;
         lists != 0 && !file.attributes().empty(); --lists)
    {
      const bat::Attribute& attribute = file.attributes()[this->below(file.attributes().size())];
      const bat::Key& key = attribute.keys[this->below(attribute.keys.size())];
      bat::AttributeValues list{ attribute.name, std::nullopt, {} };
      if (key.component >= 0)
      {
        list.component = key.component;
      }
      for (int left = this->take<std::uint8_t>(); left != 0 && !this->empty(); --left)
      {
        list.values.push_back(this->number(key));
      }
      query.values.push_back(list);
    }
    if (parts / 32 == 7)
    {
      query.parts = this->take<std::uint8_t>();
      query.part = this->take<std::uint8_t>();
    }
    return query;
  }

private:
  const std::uint8_t* data_;
  std::size_t left_;
};
}
