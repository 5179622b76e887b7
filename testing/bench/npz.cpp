// SPDX-License-Identifier: BSD-3-Clause
#include "npz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <stdexcept>

namespace bench
{
namespace
{
const std::map<std::string, bat::ScalarType>& types()
{
  static const std::map<std::string, bat::ScalarType> kTypes{ { "i1", bat::ScalarType::Int8 },
    { "u1", bat::ScalarType::UInt8 }, { "i2", bat::ScalarType::Int16 },
    { "u2", bat::ScalarType::UInt16 }, { "i4", bat::ScalarType::Int32 },
    { "u4", bat::ScalarType::UInt32 }, { "i8", bat::ScalarType::Int64 },
    { "u8", bat::ScalarType::UInt64 }, { "f4", bat::ScalarType::Float32 },
    { "f8", bat::ScalarType::Float64 } };
  return kTypes;
}

// Converts a (rows, columns) array from Fortran order to C order.
std::vector<std::byte> transposed(const std::vector<std::byte>& from, std::uint64_t rows,
  std::uint64_t columns, std::size_t value_bytes)
{
  std::vector<std::byte> to(from.size());
  for (std::uint64_t row = 0; row != rows; ++row)
  {
    for (std::uint64_t column = 0; column != columns; ++column)
    {
      std::memcpy(&to[(row * columns + column) * value_bytes],
        &from[(column * rows + row) * value_bytes], value_bytes);
    }
  }
  return to;
}

std::optional<NpzArray> parse_npy(const std::string& name, const std::vector<std::byte>& file)
{
  // 6 bytes magic, 2 bytes version, then the length of a Python dictionary as text.
  if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0)
  {
    throw std::runtime_error(name + " is not a .npy array");
  }
  const bool wide = file[6] != std::byte{ 1 };
  std::uint32_t length = 0;
  std::memcpy(&length, &file[8], wide ? 4 : 2);
  const std::size_t begin = wide ? 12 : 10;
  if (length > file.size() - begin)
  {
    throw std::runtime_error(name + " ends inside its header");
  }
  const std::string header(reinterpret_cast<const char*>(&file[begin]), length);
  static const std::regex kDescription(
    R"('descr':\s*'[<|=]?([a-z]\d+)',\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([^)]*)\))");
  std::smatch match;
  if (!std::regex_search(header, match, kDescription) || types().count(match[1]) == 0)
  {
    return std::nullopt;
  }
  NpzArray array;
  array.name = name;
  array.type = types().at(match[1]);
  std::uint64_t values = 1;
  const std::string shape = match[3];
  static const std::regex kNumber(R"(\d+)");
  for (std::sregex_iterator it(shape.begin(), shape.end(), kNumber), end; it != end; ++it)
  {
    array.shape.push_back(std::stoull(it->str()));
    values *= array.shape.back();
  }
  if (values * bat::size_of(array.type) != file.size() - begin - length)
  {
    throw std::runtime_error(name + " has another size than its header says");
  }
  array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(begin + length), file.end());
  if (match[2] == "True" && array.shape.size() > 1)
  {
    if (array.shape.size() != 2)
    {
      throw std::runtime_error(name + " is in Fortran order with more than two dimensions");
    }
    array.bytes = transposed(array.bytes, array.shape[0], array.shape[1], bat::size_of(array.type));
  }
  return array;
}
}

std::vector<NpzArray> read_npz(const std::filesystem::path& path)
{
  int error = 0;
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive(
    zip_open(path.c_str(), ZIP_RDONLY, &error), &zip_discard);
  if (!archive)
  {
    throw std::runtime_error(fmt::format("{}: cannot open as .npz", path.string()));
  }
  std::vector<NpzArray> arrays;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i != entries; ++i)
  {
    zip_stat_t status;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &status) != 0)
    {
      throw std::runtime_error(fmt::format("{}: entry {} is damaged", path.string(), i));
    }
    std::vector<std::byte> bytes(status.size);
    const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(
      zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0), &zip_fclose);
    if (!file ||
      zip_fread(file.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
    {
      throw std::runtime_error(fmt::format("{}: cannot read {}", path.string(), status.name));
    }
    std::string name = status.name;
    name = name.substr(0, name.rfind(".npy"));
    if (auto array = parse_npy(name, bytes))
    {
      arrays.push_back(std::move(*array));
    }
  }
  return arrays;
}

void write_npy(const std::filesystem::path& path, bat::ScalarType type,
  const std::vector<std::uint64_t>& shape, const std::vector<std::byte>& bytes)
{
  const auto named = std::find_if(
    types().begin(), types().end(), [type](const auto& entry) { return entry.second == type; });
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({},), }}",
    bat::size_of(type) == 1 ? '|' : '<', named->first, fmt::join(shape, ", "));
  // Magic, version and length are 10 bytes; the data begin at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  const std::uint16_t length = static_cast<std::uint16_t>(header.size());
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.write(reinterpret_cast<const char*>(&length), 2);
  file << header;
  file.write(
    reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
  {
    throw std::runtime_error(fmt::format("cannot write {}", path.string()));
  }
}
}
