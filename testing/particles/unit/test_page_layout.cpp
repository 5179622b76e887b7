// SPDX-License-Identifier: BSD-3-Clause
// Addresses of elements, pages and page checksums, compared with counting one by one.

#include "particles/format/checksum.hpp"
#include "particles/format/page_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace
{
using bat::format::ByteRange;
using bat::format::PageLayout;
using bat::format::PageRange;

constexpr std::uint64_t kPage = 4096;

PageLayout parse_layout(std::uint64_t bytes, std::uint64_t element_bytes)
{
  bat::format::SectionRecord record{};
  record.offset = 8008;
  record.bytes = bytes;
  record.checksums_offset = 1000000;
  return PageLayout(record, element_bytes);
}
}

TEST(PageLayout, pages_of_elements_are_those_that_hold_a_byte_of_them)
{
  for (const std::uint64_t element_bytes : { 1u, 6u, 12u, 4096u, 5000u })
  {
    const std::uint64_t elements = 3 * kPage / element_bytes + 2;
    const PageLayout layout = parse_layout(elements * element_bytes, element_bytes);
    for (std::uint64_t first = 0; first < elements; first += 1 + elements / 50)
    {
      for (const std::uint64_t count : { std::uint64_t{ 1 }, (elements - first + 1) / 2 })
      {
        std::set<std::uint64_t> touched;
        for (std::uint64_t b = first * element_bytes; b != (first + count) * element_bytes; ++b)
        {
          touched.insert(b / kPage);
        }
        const PageRange pages = layout.pages_of(bat::Span{ first, count });
        EXPECT_EQ(pages.first, *touched.begin());
        EXPECT_EQ(pages.count(), touched.size());
      }
    }
  }
}

TEST(PageLayout, the_last_page_ends_with_the_section)
{
  for (const std::uint64_t bytes :
    { std::uint64_t{ 1 }, kPage - 1, kPage, kPage + 1, 5 * kPage, 5 * kPage + 7 })
  {
    const PageLayout layout = parse_layout(bytes, 1);
    std::uint64_t end = 0;
    for (std::uint64_t page = 0; page != layout.page_count(); ++page)
    {
      const ByteRange range = layout.bytes_of(PageRange{ page, page + 1 });
      EXPECT_EQ(range.begin, end);
      EXPECT_TRUE(range.size() == kPage || page + 1 == layout.page_count());
      EXPECT_TRUE(layout.begins_page(range.begin));
      EXPECT_EQ(layout.in_file(range.begin), 8008 + range.begin);
      end = range.end;
    }
    EXPECT_EQ(end, bytes);
  }
  EXPECT_EQ(parse_layout(0, 12).page_count(), 0U);
  EXPECT_EQ(parse_layout(0, 12).checksum_count(), 0U);
}

TEST(PageLayout, whole_pages_leave_out_the_one_that_is_cut)
{
  const PageLayout layout = parse_layout(10 * kPage + 100, 1);
  EXPECT_EQ(layout.whole_pages({ 0, 10 * kPage + 100 }).count(), 10U);
  EXPECT_EQ(layout.whole_pages({ 2 * kPage, 3 * kPage - 1 }).count(), 0U);
  EXPECT_EQ(layout.whole_pages({ 2 * kPage, 4 * kPage }).count(), 2U);
}

TEST(PageLayout, sections_of_64_kib_and_more_begin_on_a_page)
{
  EXPECT_EQ(PageLayout((1 << 16) - 1).alignment(), 8U);
  EXPECT_EQ(PageLayout(1 << 16).alignment(), kPage);
}

// Pages of 1,023 to 2,049: one, two and three groups.
TEST(PageLayout, each_page_and_each_group_has_its_checksum)
{
  for (const std::uint64_t pages : { 1u, 1023u, 1024u, 1025u, 2048u, 2049u })
  {
    const std::uint64_t bytes = pages * kPage - 5;
    const PageLayout layout = parse_layout(bytes, 1);
    std::vector<std::byte> data(bytes);
    for (std::uint64_t page = 0; page != pages; ++page)
    {
      std::memcpy(&data[page * kPage], &page, sizeof(page));
    }
    const std::vector<std::uint32_t> sums = bat::format::page_checksums(data.data(), bytes);
    ASSERT_EQ(sums.size(), layout.checksum_count());
    EXPECT_EQ(layout.checksums_bytes(), 4 * sums.size());
    const std::uint64_t groups = (pages + 1023) / 1024;
    EXPECT_EQ(layout.group_count(), groups);
    EXPECT_EQ(layout.group_checksums_bytes(), 4 * groups);
    for (std::uint64_t page = 0; page != pages; ++page)
    {
      const ByteRange range = layout.bytes_of(PageRange{ page, page + 1 });
      EXPECT_EQ(sums[groups + page], bat::format::page_checksum(&data[range.begin], range.size()));
      EXPECT_EQ(layout.checksum_in_file(page), 1000000 + 4 * (groups + page));
      const PageRange group = layout.pages_of_group(layout.group_of(page));
      EXPECT_TRUE(group.first <= page && page < group.end);
    }
    std::uint64_t end = 0;
    for (std::uint64_t group = 0; group != groups; ++group)
    {
      const PageRange of_group = layout.pages_of_group(group);
      EXPECT_EQ(of_group.first, end);
      EXPECT_EQ(sums[group],
        bat::format::page_checksum(&sums[groups + of_group.first], 4 * of_group.count()));
      end = of_group.end;
    }
    EXPECT_EQ(end, pages);
  }
}
