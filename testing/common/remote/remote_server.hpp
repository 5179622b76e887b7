// SPDX-License-Identifier: BSD-3-Clause
// Starts server.py for a test.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

class RemoteServer
{
public:
  explicit RemoteServer(
    const std::filesystem::path& folder, const std::vector<std::string>& options = {})
    : folder_(folder)
    , log_(folder / "requests.log")
  {
    int ends[2];
    if (::pipe(ends) != 0)
    {
      throw std::runtime_error("cannot create a pipe");
    }
    std::vector<std::string> words{ BAT_TEST_PYTHON, BAT_TEST_SERVER, folder.string() };
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words)
    {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    this->process_ = ::fork();
    if (this->process_ == 0)
    {
      ::dup2(ends[1], 1);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    std::FILE* const output = ::fdopen(ends[0], "r");
    if (std::fscanf(output, "%d", &this->port_) != 1)
    {
      this->port_ = 0;
    }
    std::fclose(output);
    if (this->port_ == 0)
    {
      throw std::runtime_error("the test server does not start");
    }
  }
  RemoteServer(const RemoteServer&) = delete;
  RemoteServer& operator=(const RemoteServer&) = delete;
  ~RemoteServer() { this->kill(); }

  void kill()
  {
    if (this->process_ > 0)
    {
      ::kill(this->process_, SIGKILL);
      ::waitpid(this->process_, nullptr, 0);
      this->process_ = -1;
    }
  }

  [[nodiscard]] int port() const { return this->port_; }
  /// Returns the address of a path that begins with the name of a fault.
  [[nodiscard]] std::string at(const std::string& path, const std::string& host = "127.0.0.1") const
  {
    return "http://" + host + ":" + std::to_string(this->port_) + "/" + path;
  }

  /// Returns the requests whose paths begin with a text.
  [[nodiscard]] std::vector<nlohmann::json> requests(const std::string& beginning) const
  {
    std::vector<nlohmann::json> found;
    std::ifstream log(this->log_);
    for (std::string line; std::getline(log, line);)
    {
      nlohmann::json request = nlohmann::json::parse(line);
      if (request["path"].get<std::string>().rfind("/" + beginning, 0) == 0)
      {
        found.push_back(std::move(request));
      }
    }
    return found;
  }

  /// Returns the size of the answers to these requests. The names of the files need no escapes.
  [[nodiscard]] std::uint64_t bytes(const std::string& beginning) const
  {
    std::uint64_t sum = 0;
    for (const nlohmann::json& request : this->requests(beginning))
    {
      const std::string path = request["path"];
      std::error_code none;
      const std::uintmax_t size =
        std::filesystem::file_size(this->folder_ / path.substr(path.find('/', 1) + 1), none);
      const std::string range = request["range"];
      unsigned long long first = 0;
      unsigned long long last = 0;
      if (none)
      {
        continue;
      }
      if (std::sscanf(range.c_str(), "bytes=%llu-%llu", &first, &last) == 2)
      {
        sum += std::min<std::uintmax_t>(last + 1, size) - first;
      }
      else
      {
        const bool is_tail = std::sscanf(range.c_str(), "bytes=-%llu", &last) == 1;
        sum += is_tail ? std::min<std::uintmax_t>(last, size) : size;
      }
    }
    return sum;
  }

private:
  std::filesystem::path folder_;
  std::filesystem::path log_;
  pid_t process_ = -1;
  int port_ = 0;
};
