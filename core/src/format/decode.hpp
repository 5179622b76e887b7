// From bytes that nobody has checked to values that can be trusted. The only place where offsets
// and counts of a file are believed, and only after they were compared with what is there.
#pragma once

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "elements.hpp"
#include "format/checksum.hpp"
#include "format/layout.hpp"
#include "io/random_access_file.hpp"
#include "levels.hpp"
#include "numbers.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bat::format
{
[[noreturn]] void corrupt(const io::RandomAccessFile& file, const std::string& what);

/// "BIN_EDGES 3": how messages call a section.
[[nodiscard]] std::string describe(const SectionRecord& section);

/// What a file is read as.
enum class FileKind
{
  Leaf, ///< particles
  Top   ///< of a dataset of several leaf files
};

/// By the magic and the features of the header; nothing if it has another magic or none. Checks no
/// more.
[[nodiscard]] std::optional<FileKind> peek_kind(const io::RandomAccessFile& file);

/// Steps 2 to 6 of FORMAT.md section 16.
[[nodiscard]] Header read_header(const io::RandomAccessFile& file, FileKind kind = FileKind::Leaf);

/// Step 7: the checked section table, ordered by kind and index.
[[nodiscard]] std::vector<SectionRecord> read_sections(
  const io::RandomAccessFile& file, const Header& header, FileKind kind = FileKind::Leaf);

/// A SORTED_INDEX that is to be used: of a leaf file that has the feature.
[[nodiscard]] bool is_sorted_index(
  const Header& header, const SectionRecord& section, FileKind kind = FileKind::Leaf);

[[nodiscard]] const SectionRecord* find_section(
  const std::vector<SectionRecord>& sections, SectionKind kind, std::uint32_t index = 0);

/// Bytes of a section that is not paged, checked against its checksum.
[[nodiscard]] std::vector<std::byte> read_plain(
  const io::RandomAccessFile& file, const SectionRecord& section);

/// The same as text; empty if there is no such section.
[[nodiscard]] std::string read_text(
  const io::RandomAccessFile& file, const std::vector<SectionRecord>& sections, SectionKind kind);

/// The same as records; the size of the section is a multiple of the record's.
template <class Record>
[[nodiscard]] std::vector<Record> read_records(
  const io::RandomAccessFile& file, const SectionRecord& section)
{
  const std::vector<std::byte> bytes = read_plain(file, section);
  std::vector<Record> records(bytes.size() / sizeof(Record));
  if (!records.empty())
  {
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
  }
  return records;
}

/// Checks the nodes of SHALLOW_TREE or AGGREGATION_TREE (`what`) over `non_finite.size()` treelets
/// or leaf files; a leaf whose box is that of everything must be non-finite. Gives the node of each
/// leaf.
[[nodiscard]] std::vector<std::uint32_t> check_tree(const io::RandomAccessFile& file,
  const char* what, const std::vector<NodeRecord>& nodes, const std::vector<bool>& non_finite);

/// SCHEMA and, in a leaf file, LEVELS.
struct Schema
{
  SchemaHead head{};
  std::vector<bat::Attribute> attributes;
  std::vector<std::uint32_t> first_keys; ///< of each attribute
  std::vector<KeyRecord> keys;
  LevelTable levels;

  [[nodiscard]] ValueClass key_class(std::size_t key) const
  {
    const KeyRecord& record = this->keys[key];
    return record.component < 0 ? ValueClass::Float
                                : value_class(this->attributes[record.attribute].type);
  }
};

/// Step 8: also checks that every section that the schema implies is there and has its size.
[[nodiscard]] Schema read_schema(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, FileKind kind = FileKind::Leaf);

/// LEAF_FILES and AGGREGATION_TREE.
struct LeafFiles
{
  std::vector<LeafRecord> leaves;
  std::vector<LeafKeyRecord> keys; ///< shape (leaves, keys)
  std::vector<std::string> names;  ///< relative to the folder of the top file
  std::vector<NodeRecord> nodes;
};
[[nodiscard]] LeafFiles read_leaf_files(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, const Schema& schema);

/// Which pages of a mapped section match their checksums. May be used concurrently.
class CheckedPages
{
public:
  explicit CheckedPages(std::uint64_t pages)
    : words_(std::make_unique<std::atomic<std::uint64_t>[]>((pages + 63) / 64))
  {
  }
  [[nodiscard]] bool has(std::uint64_t page) const noexcept
  {
    return (this->words_[page / 64].load(std::memory_order_relaxed) >> page % 64 & 1) != 0;
  }
  void add(std::uint64_t page) noexcept
  {
    this->words_[page / 64].fetch_or(std::uint64_t{ 1 } << page % 64, std::memory_order_relaxed);
  }

private:
  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
};

/// Reads pages of one paged section and checks each against its checksum. const functions may be
/// called concurrently.
class PagedSection
{
public:
  PagedSection(const io::RandomAccessFile& file, const Header& header, const SectionRecord& section)
    : file_(file)
    , hash_(page_hash(header))
    , section_(section)
  {
  }
  [[nodiscard]] const SectionRecord& record() const noexcept { return this->section_; }
  [[nodiscard]] const io::RandomAccessFile& file() const noexcept { return this->file_; }
  [[nodiscard]] PageHash hash() const noexcept { return this->hash_; }

  /// Checksums of pages first to first + 1023, first being a multiple of 1024 (one page of L1).
  [[nodiscard]] std::vector<std::uint32_t> page_checksums(std::uint64_t first) const;

  /// The marks of a mapped file; null for a file that is read, whose pages are checked each time.
  [[nodiscard]] CheckedPages* checked_pages() const;

private:
  const io::RandomAccessFile& file_;
  PageHash hash_;
  SectionRecord section_;
  mutable std::once_flag marked_;
  mutable std::optional<CheckedPages> checked_;
  mutable std::once_flag loaded_;
  mutable std::vector<std::uint32_t> upper_; ///< L2
};

/// Copies out pieces of a paged section. One per thread.
class PageReader
{
public:
  explicit PageReader(const PagedSection& section)
    : section_(section)
    , checked_(section.checked_pages())
  {
  }

  /// Of a mapped file: pages from first_page on, which have `bytes`, checked.
  const std::byte* view_pages(std::uint64_t first_page, std::uint64_t bytes);

  /// Copies the elements of ascending `spans` to `out`, packed. Elements have `element_bytes`
  /// bytes. The spans lie inside the section.
  void gather(
    const Span* spans, std::size_t span_count, std::uint64_t element_bytes, std::byte* out);

  /// Calls look(elements, count) with those of ascending `spans` where they lie, some at a time and
  /// in order; a span may come in parts. The memory is the file's or the reader's, and what it
  /// holds until `look` returns. The spans lie inside the section.
  void visit(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
    const std::function<void(const Elements*, std::size_t)>& look);

private:
  void visit_mapped(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
    const std::function<void(const Elements*, std::size_t)>& look);
  void gather_mapped(
    const Span* spans, std::size_t span_count, std::uint64_t element_bytes, std::byte* out);
  void stream_pages(std::uint64_t first_page, std::uint64_t bytes, std::byte* out);
  void read_pages(std::uint64_t first_page, std::uint64_t bytes, std::byte* to);
  void check_pages(std::uint64_t first_page, std::uint64_t bytes, const std::byte* pages);
  void load(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
    std::uint64_t first_page);
  void look_at_found(const std::function<void(const Elements*, std::size_t)>& look);

  const PagedSection& section_;
  CheckedPages* checked_;
  Bytes buffer_;
  std::uint64_t buffer_begin_ = 0; ///< offset in the section
  std::uint64_t buffer_end_ = 0;
  std::vector<std::uint32_t> sums_; ///< one page of L1
  std::uint64_t sums_first_ = ~std::uint64_t{ 0 };
  std::vector<Elements> found_; ///< by visit(), not looked at yet
};
}
