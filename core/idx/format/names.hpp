// SPDX-License-Identifier: BSD-3-Clause
// Names of sample files (IDX.md section 3). Templates are expanded explicitly, never by
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
/// The part of a name that contains the step: text, "%04d", text. Without a number, the name has
/// none.
struct TimeTemplate
{
  std::string before;
  std::string after;
  int width = 0;
  bool zeros = false;
  bool has_number = false;

  [[nodiscard]] std::string expand(std::int64_t step) const;
  /// The step whose expansion begins a name, and the length of that expansion; empty if none
  /// matches.
  [[nodiscard]] std::optional<std::int64_t> match(std::string_view name) const;
};

/// The template of a file name: text, then parts "%04x", each followed by text.
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

/// Throws Refused if a template leads out of the dataset's folder, or has parts other than those in
/// IDX.md.
[[nodiscard]] TimeTemplate parse_time_template(std::string_view text);
[[nodiscard]] NameTemplate parse_name_template(std::string_view text);

/// Returns why a text may not be part of a file name; empty if it may.
[[nodiscard]] std::string find_name_problem(std::string_view text);

/// The location of a block: the file and the row in it.
struct BlockPlace
{
  std::uint64_t file = 0; ///< number of its first block
  std::uint64_t row = 0;
};
[[nodiscard]] BlockPlace place_of_block(const Header& header, std::uint64_t block) noexcept;

/// File names, relative to the folder of the .idx.
class FileNames
{
public:
  /// `stem`: the name of the .idx without its extension, from which arco builds names.
  FileNames(const Header& header, std::string stem);

  /// Returns the file with this number at a step.
  [[nodiscard]] std::string file(std::int64_t step, std::uint64_t number) const;
  /// For arco: returns the file of a block.
  [[nodiscard]] std::string arco_file(
    std::int64_t step, const std::string& field, std::uint64_t block) const;
  /// Returns the folder that contains all files of a step, directly or in subfolders.
  [[nodiscard]] std::string folder(std::int64_t step) const;

  /// Returns the folder whose entries name the steps, and how to read them: match() of an entry's
  /// name, which must end there if `whole`.
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
