// SPDX-License-Identifier: BSD-3-Clause
// A separate folder for one test, removed when the test ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

class TempDir
{
public:
  TempDir()
  {
    std::string name = (std::filesystem::temp_directory_path() / "bat_test_XXXXXX").string();
    if (!::mkdtemp(name.data()))
    {
      throw std::runtime_error("cannot create a temporary folder like " + name);
    }
    this->path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir()
  {
    std::error_code ignored;
    std::filesystem::remove_all(this->path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return this->path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const
  {
    return this->path_ / name;
  }

private:
  std::filesystem::path path_;
};

/// Names of everything in a folder, hidden files included.
inline std::vector<std::string> names_in(const std::filesystem::path& folder)
{
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
  {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path)
{
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
  {
    throw std::runtime_error("cannot read " + path.string());
  }
  const std::string text{ std::istreambuf_iterator<char>(stream), {} };
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return { data, data + text.size() };
}

inline void write_bytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes)
{
  std::ofstream stream(path, std::ios::binary);
  stream.write(
    reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush())
  {
    throw std::runtime_error("cannot write " + path.string());
  }
}

/// During its lifetime, permissions apply to this process even if root runs it: `folder` then
/// belongs to the user nobody, as does the process.
class WithoutPrivileges
{
public:
  explicit WithoutPrivileges(const std::filesystem::path& folder)
    : before_(::geteuid())
  {
    constexpr uid_t kNobody = 65534;
    if (this->before_ == 0 &&
      (::chown(folder.c_str(), kNobody, static_cast<gid_t>(-1)) != 0 || ::seteuid(kNobody) != 0))
    {
      throw std::runtime_error("cannot become nobody");
    }
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
  ~WithoutPrivileges()
  {
    if (::seteuid(this->before_) != 0)
    {
      std::abort();
    }
  }

private:
  uid_t before_;
};
