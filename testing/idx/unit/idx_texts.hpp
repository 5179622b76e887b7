// SPDX-License-Identifier: BSD-3-Clause
// Texts of .idx files for tests.
#pragma once

#include <string>

/// A text with every required key; one of them has another value, and one or more are added.
inline std::string idx_text(
  const std::string& key = "", const std::string& value = "", const std::string& more = "")
{
  const char* const keys[][2] = { { "version", "6" }, { "box", "0 9 0 8 0 7" },
    { "fields", "a float32 + b uint8[3]" }, { "bits", "V012012012012" }, { "bitsperblock", "6" },
    { "blocksperfile", "4" }, { "interleave block", "0" },
    { "filename_template", "./x/%04x.bin" } };
  std::string text;
  bool found = key.empty();
  for (const auto& pair : keys)
  {
    found = found || key == pair[0];
    text += std::string("(") + pair[0] + ")\n" + (key == pair[0] ? value : pair[1]) + "\n";
  }
  return text + (found ? "" : "(" + key + ")\n" + value + "\n") + more;
}
