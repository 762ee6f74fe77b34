// A vector for short lists of plain values: the first items lie in the object itself, so that a list on the stack that
// stays short allocates nothing.
//
//   InlineVector<const Expr*, 8> operands;
//   for (...) operands.push_back(...);
//   Use(operands);  // as a std::span
//
// LLVM has a class of this purpose, SmallVector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace iropt {

// The interface is that of std::vector, as far as it is needed. Growing and moving items copies their bytes.
template <class T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>, "items are copied as bytes");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  // Not defaulted: that would clear the room for the first items.
  InlineVector() {}  // NOLINT(modernize-use-equals-default)
  InlineVector(std::initializer_list<T> items) { append({items.begin(), items.size()}); }
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;
  ~InlineVector() {
    if (first_ != room()) [[unlikely]]
      std::allocator<T>().deallocate(first_, capacity_);
  }

  T* begin() { return first_; }
  T* end() { return first_ + size_; }
  const T* begin() const { return first_; }
  const T* end() const { return first_ + size_; }
  T* data() { return first_; }
  const T* data() const { return first_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return first_[i]; }
  const T& operator[](size_t i) const { return first_[i]; }
  T& front() { return first_[0]; }
  const T& front() const { return first_[0]; }
  T& back() { return first_[size_ - 1]; }
  const T& back() const { return first_[size_ - 1]; }

  void push_back(const T& item) { emplace_back(item); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    const T item(std::forward<Args>(args)...);  // possibly made of an item of the list, which may move
    if (size_ == capacity_) [[unlikely]]
      Grow(size_ + 1);
    return *new (first_ + size_++) T(item);
  }
  // The items must not be in this list.
  void append(std::span<const T> items) {
    if (items.empty()) return;
    if (items.size() > capacity_ - size_) Grow(size_ + items.size());
    std::memcpy(static_cast<void*>(end()), items.data(), items.size_bytes());
    size_ += items.size();
  }
  void insert(const T* position, const T& item) {
    const auto index = position - first_;
    push_back(item);
    std::rotate(first_ + index, end() - 1, end());
  }
  void erase(const T* position) {
    T* item = first_ + (position - first_);
    std::copy(item + 1, end(), item);
    --size_;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  // Keeps the first items.
  void truncate(size_t size) { size_ = size; }

 private:
  T* room() { return room_; }

  [[gnu::noinline]] void Grow(size_t least) {
    const size_t capacity = std::max(least, 2 * capacity_);
    T* grown = std::allocator<T>().allocate(capacity);
    std::memcpy(static_cast<void*>(grown), first_, std::span(first_, size_).size_bytes());
    if (first_ != room()) std::allocator<T>().deallocate(first_, capacity_);
    first_ = grown;
    capacity_ = capacity;
  }

  T* first_ = room();
  size_t size_ = 0;
  size_t capacity_ = N;
  union {  // an array whose items are not made with it
    T room_[N];
  };
};

}  // namespace iropt
