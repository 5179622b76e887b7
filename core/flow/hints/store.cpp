// SPDX-License-Identifier: BSD-3-Clause
#include "flow/hints/store.hpp"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "bat/flow/cache.hpp"
#include "common/io/atomic_file.hpp"

#include <fmt/format.h>

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace bat::flow
{
namespace
{
constexpr std::array<unsigned char, 8> kMagic{ 0x89, 'H', 'N', 'T', 0x0D, 0x0A, 0x1A, 0x0A };
constexpr std::size_t kHeaderBytes = 64;
constexpr std::uint16_t kFormatMajor = 1;
constexpr auto kTryInterval = std::chrono::milliseconds(5);
constexpr int kMaxTries = 40;

struct Header
{
  std::array<unsigned char, 8> magic = kMagic;
  std::uint16_t major = kFormatMajor;
  std::uint16_t minor = 0;
  std::uint32_t header_bytes = kHeaderBytes;
  std::uint64_t id = 0;
  std::uint64_t count = 0;
  std::uint64_t body_checksum = 0;
  std::array<std::uint64_t, 2> reserved{};
  std::uint64_t header_checksum = 0; ///< covers the preceding bytes
};
static_assert(sizeof(Header) == kHeaderBytes);
const Header kDefaultHeader;

std::uint64_t compute_checksum(const Header& header) noexcept
{
  return XXH64(&header, offsetof(Header, header_checksum), 0);
}

std::uint64_t compute_checksum(
  const std::vector<std::uint64_t>& transitions, const std::vector<std::uint16_t>& counts) noexcept
{
  const std::uint64_t first = XXH64(transitions.data(), 8 * transitions.size(), 0);
  return XXH64(counts.data(), 2 * counts.size(), first);
}

bool read_all(int descriptor, std::uint64_t offset, void* to, std::size_t bytes) noexcept
{
  char* at = static_cast<char*>(to);
  while (bytes != 0)
  {
    const ssize_t done = ::pread(descriptor, at, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
    {
      continue;
    }
    if (done <= 0)
    {
      return false;
    }
    at += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

// Returns whether a file may be replaced: it is empty, or begins like hints of a known version.
bool is_local(int descriptor, std::uint64_t bytes) noexcept
{
  Header found;
  const auto known =
    static_cast<std::size_t>(std::min<std::uint64_t>(bytes, offsetof(Header, minor)));
  return read_all(descriptor, 0, &found, known) && std::memcmp(&found, &kDefaultHeader, known) == 0;
}

class Descriptor
{
public:
  explicit Descriptor(int number)
    : number_(number)
  {
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor()
  {
    if (this->number_ >= 0)
    {
      ::close(this->number_);
    }
  }
  [[nodiscard]] int number() const noexcept { return this->number_; }

private:
  int number_;
};

// Names the file in the cache folder: the same in every process of the user, and a different one
// for a different folder.
std::filesystem::path in_cache_folder(const std::filesystem::path& file)
{
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  if (cache && cache[0] == '/') // others are to be ignored, says the XDG Base Directory standard
  {
    folder = cache;
  }
  else if (home && home[0] == '/')
  {
    folder = std::filesystem::path(home) / ".cache";
  }
  else
  {
    return {};
  }
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(file, none);
  if (none)
  {
    return {};
  }
  const std::string& text = whole.native();
  return folder / "parabat" /
    fmt::format(
      "{:016x}-{}", XXH64(text.data(), text.size(), 0), whole.filename().native().substr(0, 200));
}

// Waits, for a limited time, until no other process holds the lock and the file still has that
// name.
enum class Held
{
  Yes,
  Busy,
  Replaced
};
Held hold(int descriptor, const std::filesystem::path& file)
{
  for (int i = 0; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++i)
  {
    if (errno != EWOULDBLOCK && errno != EINTR)
    {
      break; // no locks: one of two concurrent writers is lost
    }
    if (i == kMaxTries)
    {
      return Held::Busy;
    }
    std::this_thread::sleep_for(kTryInterval);
  }
  struct stat own;
  struct stat named;
  const bool same = ::fstat(descriptor, &own) == 0 && ::stat(file.c_str(), &named) == 0 &&
    own.st_dev == named.st_dev && own.st_ino == named.st_ino;
  return same ? Held::Yes : Held::Replaced;
}
}

std::filesystem::path hints_beside(const std::filesystem::path& series)
{
  std::filesystem::path file = display_name(series);
  if (file.extension() == ".series")
  {
    return file.replace_extension(".hints");
  }
  return file += ".hints";
}

std::uint64_t hints_id(const BrickSource& source) noexcept
{
  const BrickGrid& grid = source.grid();
  std::array<unsigned char, 96> record{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    std::memcpy(record.data() + 8 * a, &grid.points[a], 8);
    std::memcpy(record.data() + 24 + 8 * a, &grid.origin[a], 8);
    std::memcpy(record.data() + 48 + 8 * a, &grid.spacing[a], 8);
    record[72] = static_cast<unsigned char>(record[72] | (grid.cyclic[a] ? 1u << a : 0u));
  }
  record[73] = static_cast<unsigned char>(grid.type);
  record[74] = static_cast<unsigned char>(grid.components);
  record[75] = static_cast<unsigned char>(grid.edge);
  std::memcpy(record.data() + 80, &source.times()[0], 8);
  std::memcpy(record.data() + 88, &source.times()[source.times().size() == 1 ? 0 : 1], 8);
  return XXH64(record.data(), record.size(), 0);
}

std::size_t max_transitions(const BrickSource& source) noexcept
{
  double bytes = static_cast<double>(source.grid().point_bytes() * source.times().size());
  for (const std::int64_t points : source.grid().points)
  {
    bytes *= static_cast<double>(points);
  }
  constexpr double kMin = 1 << 16;
  constexpr double kMax = 1 << 26;
  return static_cast<std::size_t>(std::clamp(bytes / 1000, kMin, kMax)) / HintGraph::kBytes;
}

std::vector<std::byte> encode_hints(const HintGraph& graph, std::uint64_t id)
{
  Header header;
  header.id = id;
  header.count = graph.size();
  header.body_checksum = compute_checksum(graph.transitions(), graph.counts());
  header.header_checksum = compute_checksum(header);
  std::vector<std::byte> bytes(kHeaderBytes + HintGraph::kBytes * graph.size());
  std::memcpy(bytes.data(), &header, kHeaderBytes);
  if (graph.size() != 0)
  {
    std::byte* const body = bytes.data() + kHeaderBytes;
    std::memcpy(body, graph.transitions().data(), 8 * graph.size());
    std::memcpy(body + 8 * graph.size(), graph.counts().data(), 2 * graph.size());
  }
  return bytes;
}

std::optional<HintGraph> read_hints(int descriptor, std::uint64_t id, std::size_t maximum) noexcept
{
  std::optional<HintGraph> graph;
  const auto failed = attempt(
    [&]
    {
      struct stat status;
      Header header;
      if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        !read_all(descriptor, 0, &header, kHeaderBytes))
      {
        return;
      }
      const bool is_sound = header.magic == kMagic && header.major == kFormatMajor &&
        header.header_bytes == kHeaderBytes && header.header_checksum == compute_checksum(header) &&
        header.id == id && header.count <= maximum &&
        static_cast<std::uint64_t>(status.st_size) ==
          kHeaderBytes + HintGraph::kBytes * header.count;
      if (!is_sound)
      {
        return;
      }
      const auto count = static_cast<std::size_t>(header.count);
      std::vector<std::uint64_t> transitions(count);
      std::vector<std::uint16_t> counts(count);
      if (read_all(descriptor, kHeaderBytes, transitions.data(), 8 * count) &&
        read_all(descriptor, kHeaderBytes + 8 * header.count, counts.data(), 2 * count) &&
        compute_checksum(transitions, counts) == header.body_checksum)
      {
        graph = HintGraph::of(std::move(transitions), std::move(counts));
      }
    });
  return failed ? std::nullopt : std::move(graph);
}

HintStore::HintStore(const BrickSource& source, std::filesystem::path file)
  : id_(hints_id(source))
  , max_(max_transitions(source))
  , file_(std::move(file))
  , graph_(std::make_shared<const HintGraph>())
{
  if (!this->file_.empty())
  {
    std::error_code none; // a process may go to another folder
    const auto whole = std::filesystem::absolute(this->file_, none);
    this->file_ = none ? this->file_ : whole;
    this->other_ = in_cache_folder(this->file_);
  }
}

HintStore::~HintStore()
{
  this->save();
}

void HintStore::load()
{
  if (this->is_loaded_)
  {
    return;
  }
  this->is_loaded_ = true;
  for (const std::filesystem::path& path : { this->file_, this->other_ })
  {
    if (path.empty())
    {
      continue;
    }
    // The open does not block, whatever has that name.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0)
    {
      continue;
    }
    if (const auto found = read_hints(file.number(), this->id_, this->max_))
    {
      this->graph_ = std::make_shared<const HintGraph>(this->graph_->merged(*found, this->max_));
    }
  }
}

std::shared_ptr<const HintGraph> HintStore::graph() noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  (void)attempt([this] { this->load(); });
  return this->graph_;
}

void HintStore::learn(std::vector<HintLog>& logs) noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  (void)attempt(
    [&]
    {
      HintGraph more;
      for (HintLog& log : logs)
      {
        more = more.merged(log.take(), this->max_);
      }
      this->graph_ = std::make_shared<const HintGraph>(this->graph_->merged(more, this->max_));
      if (!this->file_.empty())
      {
        this->learned_ = this->learned_.merged(more, this->max_);
      }
    });
}

void HintStore::save() noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  (void)attempt(
    [this]
    {
      if (this->learned_.size() == 0)
      {
        return;
      }
      Saved saved = this->save_to(this->file_);
      if (saved == Saved::Refused && !this->other_.empty())
      {
        std::error_code none; // reported by the code below
        std::filesystem::create_directories(this->other_.parent_path(), none);
        saved = this->save_to(this->other_);
      }
      if (saved != Saved::Busy)
      {
        this->learned_ = {};
      }
    });
}

HintStore::Saved HintStore::save_to(const std::filesystem::path& path)
{
  constexpr int kMaxReplacements = 4;
  for (int i = 0; i != kMaxReplacements; ++i)
  {
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
    struct stat status;
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
    {
      return Saved::Refused;
    }
    switch (hold(file.number(), path))
    {
      case Held::Busy:
        return Saved::Busy;
      case Held::Replaced:
        continue; // replaced by the previous holder
      case Held::Yes:
        break;
    }
    if (!is_local(file.number(), static_cast<std::uint64_t>(status.st_size)))
    {
      return Saved::Refused;
    }
    const auto there = read_hints(file.number(), this->id_, this->max_);
    const HintGraph all = there ? there->merged(this->learned_, this->max_) : this->learned_;
    const auto failed = attempt(
      [&]
      {
        const std::vector<std::byte> bytes = encode_hints(all, this->id_);
        io::AtomicFile target(path);
        target.write(0, bytes.data(), bytes.size());
        target.commit(false);
      });
    if (failed && status.st_size == 0)
    {
      std::error_code none; // links stay
      std::filesystem::remove(std::filesystem::canonical(path, none), none);
    }
    return failed ? Saved::Refused : Saved::Yes;
  }
  return Saved::Busy;
}
}
