// SPDX-License-Identifier: BSD-3-Clause
// Prints each warning once.
#pragma once

#include "census.hpp"
#include "options.hpp"

#include <map>
#include <string>

namespace bat::catalyst
{
/// Prints one line to standard error.
void print_warning(const std::string& warning);
void print_note(const std::string& note);

/// A run's warnings: they are the same on all ranks, and one rank prints them.
class Warnings
{
public:
  /// Adds warnings about differences between the data and the options and, if `prints`, prints the
  /// new ones. Fields that count as errors, because the options stop on them, are kept and not
  /// printed.
  void add(const Census& census, const Options& options, bool prints);

  /// Adds a line that is the same on all ranks, once.
  void add(const std::string& text, bool prints) { this->add(text, text, prints); }

  /// The same for notes that are not faults.
  void note(const std::string& text, bool prints);

  /// True if a field that is not written has been reported.
  [[nodiscard]] bool has(const SpeciesKey& topology, const std::string& field) const;
  /// The report about a field that is not written.
  [[nodiscard]] std::string of(const UnwrittenField& field) const;

private:
  void add(const std::string& key, const std::string& text, bool prints);
  void add_fields(const Options& options, const std::vector<UnwrittenField>& fields, bool prints);
  void add_species(const Census& census, const Options& options, bool prints);

  std::map<std::string, std::string> reported_; // keys: subject of the warning
};
}
