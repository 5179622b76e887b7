// SPDX-License-Identifier: BSD-3-Clause
// Names of the files of samples (IDX.md section 3). Templates are expanded by hand, never by
// printf.
#pragma once

#include "bat/idx/header.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat::idx::format
{
/// A step's part of a name: text, "%04d", text. Without number if it has none.
struct TimeTemplate
{
  std::string before;
  std::string after;
  int width = 0;
  bool zeros = false;
  bool has_number = false;

  [[nodiscard]] std::string expand(std::int64_t step) const;
  /// The step whose expansion a name begins with, and how long that is; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> match(std::string_view name) const;
};

/// The name of a file: text, then parts "%04x", each with the text behind it.
struct NameTemplate
{
  struct Part
  {
    int width = 0;
    std::string after;
  };
  std::string before;
  std::vector<Part> parts; ///< empty: one file
};

/// Throws Refused: a template that leads out of the dataset's
/// folder, or has parts other than those that IDX.md names.
[[nodiscard]] TimeTemplate parse_time_template(std::string_view text);
[[nodiscard]] NameTemplate parse_name_template(std::string_view text);

/// Empty, or why a text may not be in the name of a file.
[[nodiscard]] std::string find_name_problem(std::string_view text);

/// The place of a block: the file, and its row there.
struct BlockPlace
{
  std::uint64_t file = 0; ///< number of its first block
  std::uint64_t row = 0;
};
[[nodiscard]] BlockPlace place_of_block(const Header& header, std::uint64_t block) noexcept;

/// Names of files, relative to the folder of the .idx.
class FileNames
{
public:
  /// `stem`: the name of the .idx without its extension, of which arco makes names.
  FileNames(const Header& header, std::string stem);

  /// The file of a number at a step.
  [[nodiscard]] std::string file(std::int64_t step, std::uint64_t number) const;
  /// arco: the file of a block.
  [[nodiscard]] std::string arco_file(
    std::int64_t step, const std::string& field, std::uint64_t block) const;
  /// The folder that all files of a step are in, and below.
  [[nodiscard]] std::string folder(std::int64_t step) const;

  /// The folder whose entries tell which steps there are, and how to read them: match() of an
  /// entry's name, which must end there if `whole`.
  struct Listing
  {
    std::string folder;
    TimeTemplate entry;
    bool whole = true;
  };
  [[nodiscard]] Listing listing() const;

private:
  NameTemplate name_;
  TimeTemplate time_;
  std::string stem_;
  bool is_old_ = false;  ///< versions 1 to 4
  bool is_arco_ = false; ///< a folder for each step, called as it is
};
}
