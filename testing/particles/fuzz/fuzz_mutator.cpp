// SPDX-License-Identifier: BSD-3-Clause
// How libFuzzer changes an input: it knows header, section table and sections, and corrects the
// checksums, without which no change would pass the first check.

#include "particles/fuzz/fuzz_input.hpp"
#include "support/damage.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace
{
using damage::Bytes;
using damage::Random;

std::uint8_t* at(Bytes& bytes, std::size_t offset)
{
  return reinterpret_cast<std::uint8_t*>(bytes.data()) + offset;
}

void set_file_bytes(Bytes& file)
{
  if (file.size() >= sizeof(damage::format::Header))
  {
    damage::store<std::uint64_t>(file, offsetof(damage::format::Header, file_bytes), file.size());
  }
}

// Other content of the same length.
void mutate_region(Bytes& file, Random& random)
{
  const damage::Region region = damage::random_region(file, random);
  (void)LLVMFuzzerMutate(at(file, region.begin), region.bytes, region.bytes);
}

// A section with another length moves to the end of the file, with space for its page checksums.
void resize_section(Bytes& file, Random& random, std::size_t room)
{
  const std::vector<std::uint64_t> records = damage::section_records(file);
  if (records.empty())
  {
    return;
  }
  const std::uint64_t record_at = records[random() % records.size()];
  auto record = damage::load<damage::format::SectionRecord>(file, record_at);
  if (!damage::inside(record.offset, record.bytes, file.size()) || room < record.bytes + 512)
  {
    return;
  }
  Bytes content(record.bytes + 256);
  std::copy_n(
    file.begin() + static_cast<std::ptrdiff_t>(record.offset), record.bytes, content.begin());
  const std::size_t bytes = LLVMFuzzerMutate(at(content, 0), record.bytes, content.size());
  content.resize(bytes);
  file.resize((file.size() + 7) / 8 * 8);
  record.offset = file.size();
  record.bytes = bytes;
  if (record.encoding == damage::format::kRaw)
  {
    record.raw_bytes = bytes;
  }
  file.insert(file.end(), content.begin(), content.end());
  if ((record.flags & damage::format::kPaged) != 0)
  {
    file.resize((file.size() + 7) / 8 * 8);
    record.checksums_offset = file.size();
    file.resize(file.size() + damage::format::PageLayout(bytes).checksums_bytes());
  }
  damage::store(file, record_at, record);
  set_file_bytes(file);
}

void mutate_file(Bytes& file, Random& random, std::size_t maximum)
{
  const std::size_t before = file.size();
  switch (random() % 8)
  {
    case 0:
      mutate_region(file, random);
      break;
    case 1:
      resize_section(file, random, maximum - before);
      break;
    default:
      for (std::uint64_t pokes = 1 + random() % 3; pokes != 0; --pokes)
      {
        const damage::Region region = damage::random_region(file, random);
        if (region.bytes != 0)
        {
          damage::poke(file, region.begin, region.bytes, random);
        }
      }
      break;
  }
  if (random() % 64 != 0)
  {
    damage::repair_checksums(file);
  }
}
}

extern "C" std::size_t LLVMFuzzerCustomMutator(
  std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed)
{
  Random random(seed);
  if (size < sizeof(damage::format::Header) || random() % 256 == 0)
  {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const std::size_t end = fuzz::file_bytes(data, size);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  Bytes file(bytes, bytes + end);
  Bytes rest(bytes + end, bytes + size);
  constexpr std::size_t kMaxQueryBytes = 128;
  if (BAT_FUZZ_QUERIES && random() % 2 == 0)
  {
    const std::size_t before = std::min(rest.size(), kMaxQueryBytes);
    rest.resize(kMaxQueryBytes);
    rest.resize(LLVMFuzzerMutate(at(rest, 0), before, kMaxQueryBytes));
  }
  else
  {
    mutate_file(file, random, std::max(max_size - rest.size(), file.size()));
  }
  file.insert(file.end(), rest.begin(), rest.end());
  const std::size_t total = std::min(file.size(), max_size);
  std::memcpy(data, file.data(), total);
  return total;
}
