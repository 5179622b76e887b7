// SPDX-License-Identifier: BSD-3-Clause
// Passes files, and the files in folders, to a fuzz harness, to replay a corpus without libFuzzer.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv)
{
  std::size_t inputs = 0;
  std::string current;
  try
  {
    const auto run = [&](const std::filesystem::path& path)
    {
      current = path.string();
      std::ifstream stream(path, std::ios::binary);
      const std::string text{ std::istreambuf_iterator<char>(stream), {} };
      // A copy of exactly this size, so that a sanitizer detects reads past the end.
      const std::vector<std::uint8_t> bytes(text.begin(), text.end());
      (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++inputs;
    };
    for (int i = 1; i != argc; ++i)
    {
      if (!std::filesystem::is_directory(argv[i]))
      {
        run(argv[i]);
        continue;
      }
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      {
        if (entry.is_regular_file())
        {
          run(entry.path());
        }
      }
    }
  }
  catch (const std::exception& e)
  {
    std::fprintf(stderr, "%s: %s\n", current.c_str(), e.what());
    return 1;
  }
  std::printf("%zu inputs\n", inputs);
  return inputs == 0 ? 1 : 0;
}
