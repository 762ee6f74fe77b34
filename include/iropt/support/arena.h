// Bump allocation for IR nodes: an allocation is an add and a compare, single nodes are not freed, no destructor runs.
// Everything in an arena lives as long as the arena. One thread allocates at a time; reading needs no care.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "iropt/support/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define IROPT_ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IROPT_ARENA_POISON 1
#endif
#endif
#ifdef IROPT_ARENA_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace iropt {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept { Swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    Arena(std::move(other)).Swap(*this);
    return *this;
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  template <class T, class... Args>
  T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "no destructor runs in an arena");
    void* place = Allocate(sizeof(T), alignof(T));
    if constexpr (std::is_constructible_v<T, Args&&...>) {
      return new (place) T(std::forward<Args>(args)...);
    } else {
      return new (place) T{std::forward<Args>(args)...};
    }
  }

  // `n` value-initialized elements.
  template <class T>
  std::span<T> NewArray(size_t n) {
    static_assert(std::is_trivially_destructible_v<T>, "no destructor runs in an arena");
    if (n == 0) return {};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): elements may be pointers
    T* first = static_cast<T*>(AllocateArray(n, sizeof(T), alignof(T)));
    for (size_t i = 0; i < n; ++i) new (first + i) T();
    return {first, n};
  }

  template <class T>
  std::span<T> Copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>, "copied as bytes");
    if (items.empty()) return {};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): items may be pointers
    T* first = static_cast<T*>(AllocateArray(items.size(), sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(first), items.data(), items.size_bytes());
    return {first, items.size()};
  }
  template <class T>
  std::span<T> Copy(std::span<T> items) {
    return Copy(std::span<const T>(items));
  }
  template <class T>
  std::span<T> Copy(const std::vector<T>& items) {
    return Copy(std::span<const T>(items));
  }
  template <class T>
  std::span<T> Copy(std::initializer_list<T> items) {
    return Copy(std::span<const T>(items.begin(), items.size()));
  }

  std::string_view CopyString(std::string_view text) {
    const std::span<char> copy = Copy(std::span<const char>(text.data(), text.size()));
    return {copy.data(), copy.size()};
  }

  void* Allocate(size_t size, size_t align) {
    const uintptr_t start = (cursor_ + (align - 1)) & ~static_cast<uintptr_t>(align - 1);
    // A request close to SIZE_MAX must not wrap around, hence the subtraction.
    if (start > end_ || size > end_ - start) [[unlikely]]
      return AllocateSlow(size, align);
    cursor_ = start + size;
#ifdef IROPT_ARENA_POISON
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(start), size);
#endif
    return reinterpret_cast<void*>(start);
  }

  // Keeps `owner` alive as long as the arena: for nodes that point to big data outside (constants).
  void Retain(std::shared_ptr<const void> owner) { retained_.push_back(std::move(owner)); }

  // Bytes handed out, padding included; and bytes taken from the system.
  size_t bytes_used() const { return closed_used_ + (cursor_ - begin_); }
  size_t bytes_reserved() const { return reserved_; }

 private:
  struct Chunk {
    Chunk* previous;
    size_t size;  // of the whole chunk
  };

  void* AllocateArray(size_t n, size_t size, size_t align) {
    IROPT_CHECK(n <= SIZE_MAX / size, "array of {} elements", n);
    return Allocate(n * size, align);
  }
  void* AllocateSlow(size_t size, size_t align);
  Chunk* NewChunk(size_t size);
  void Swap(Arena& other) noexcept;

  // [begin_, end_) is the payload of the current chunk; all zero in an empty arena.
  uintptr_t cursor_ = 0;
  uintptr_t end_ = 0;
  uintptr_t begin_ = 0;
  Chunk* chunks_ = nullptr;
  size_t next_chunk_size_ = 0;
  size_t closed_used_ = 0;
  size_t reserved_ = 0;
  std::vector<std::shared_ptr<const void>> retained_;
};

}  // namespace iropt
