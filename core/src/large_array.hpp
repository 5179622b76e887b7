// Memory for as many values as there are particles.
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace bat
{
/// Values that start undefined: nothing is filled with zeros only to be written again. Large ones
/// lie on large pages where the system has them, because what is gathered through a permutation
/// would otherwise wait for address translation. The size is fixed until reset().
template <class T>
class LargeArray
{
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  LargeArray() = default;
  explicit LargeArray(std::size_t size) { this->reset(size); }

  /// Throws std::bad_alloc.
  void reset(std::size_t size)
  {
    this->memory_.reset();
    this->size_ = 0;
    if (size != 0)
    {
      this->memory_ = allocate(size);
      this->size_ = size;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return this->size_; }
  [[nodiscard]] T* data() noexcept { return this->memory_.get(); }
  [[nodiscard]] const T* data() const noexcept { return this->memory_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return this->memory_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return this->memory_.get()[i]; }

private:
  static constexpr std::size_t kLargePage = std::size_t{ 1 } << 21;

  struct Free
  {
    std::size_t alignment = 0;
    void operator()(T* memory) const noexcept
    {
      ::operator delete (memory, std::align_val_t{ this->alignment });
    }
  };
  using Memory = std::unique_ptr<T, Free>;

  static Memory allocate(std::size_t size)
  {
    if (size > (std::numeric_limits<std::size_t>::max() - kLargePage) / sizeof(T))
    {
      throw std::bad_alloc();
    }
    constexpr std::size_t kCacheLine = 64;
    const std::size_t bytes = size * sizeof(T);
    const std::size_t alignment = bytes >= 2 * kLargePage ? kLargePage : kCacheLine;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = ::operator new (rounded, std::align_val_t{ alignment });
#ifdef MADV_HUGEPAGE
    if (alignment == kLargePage)
    {
      (void)::madvise(memory, rounded, MADV_HUGEPAGE);
    }
#endif
    return Memory(static_cast<T*>(memory), Free{ alignment });
  }

  Memory memory_;
  std::size_t size_ = 0;
};
}
