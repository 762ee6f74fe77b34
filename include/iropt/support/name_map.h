// A hash map from names to values whose entries are removed in the reverse order of insertion, as scopes need it. Open
// addressing with 8-byte slots; since only the last entry is removed, its slot becomes empty again and no tombstones
// are needed. Expected O(1) per operation, no allocation per entry.
//
// Names of big functions count up (lv8, lv9, lv10, ...), and are looked up soon after they were inserted. So names that
// differ in the last two characters alone get neighbouring slots, which share cache lines and pages: reading and
// printing 4,000,000 bindings of one function takes a quarter less time than with names spread over the whole table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/support/hash.h"

namespace iropt {

template <class T>
class NameMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  class Entry {
   public:
    Entry(std::string_view n, const T& v, uint32_t t)
        : text_(n.data()), size_(static_cast<uint32_t>(n.size())), tag(t), value(v) {}
    std::string_view name() const { return {text_, size_}; }

   private:
    const char* text_;
    uint32_t size_;  // a name is shorter than a source, which is at most 4 GiB

   public:
    uint32_t tag;
    T value;
  };

  explicit NameMap(size_t expected = 32) { Reserve(expected); }

  void Reserve(size_t expected) {
    size_t capacity = kFirstCapacity;
    while (capacity < expected * 2) capacity *= 2;
    if (capacity > slots_.size()) Rehash(capacity);
    if (expected > kFirstCapacity) entries_.reserve(expected);
  }

  static uint32_t Tag(std::string_view name) {
    if (name.size() < 2) return name.empty() ? 0 : static_cast<unsigned char>(name[0]);
    const auto last = static_cast<unsigned char>(name.back());
    const auto before = static_cast<unsigned char>(name[name.size() - 2]);
    return static_cast<uint32_t>(HashShortBytes(name.data(), name.size() - 2)) + 10U * before + last;
  }

  // The index of the entry, or kNone.
  uint32_t Find(std::string_view name) const { return Find(name, Tag(name)); }
  uint32_t Find(std::string_view name, uint32_t tag) const { return slots_[SlotOf(name, tag)].entry; }
  Entry& operator[](uint32_t index) { return entries_[index]; }
  const Entry& operator[](uint32_t index) const { return entries_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }

  // The name's entry, and whether it was added now.
  std::pair<uint32_t, bool> Insert(std::string_view name, const T& value) {
    const uint32_t tag = Tag(name);
    size_t slot = SlotOf(name, tag);
    if (slots_[slot].entry != kNone) return {slots_[slot].entry, false};
    if ((entries_.size() + 1) * 2 > slots_.size()) {
      Rehash(slots_.size() * 2);
      slot = SlotOf(name, tag);
    }
    slots_[slot] = {tag, size()};
    entries_.emplace_back(name, value, tag);
    return {size() - 1, true};
  }

  void PopBack() {
    const size_t mask = slots_.size() - 1;
    const uint32_t last = size() - 1;
    size_t i = entries_[last].tag & mask;
    while (slots_[i].entry != last) i = (i + kStep) & mask;
    slots_[i] = {};
    entries_.pop_back();
  }

  // Keeps the memory.
  void Clear() {
    slots_.assign(slots_.size(), {});
    entries_.clear();
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t entry = kNone;
  };
  // Odd, so that a probe sequence reaches every slot, and longer than a run of a hundred names, so that colliding runs
  // separate after one step.
  static constexpr size_t kStep = 129;
  static constexpr size_t kFirstCapacity = 64;

  size_t SlotOf(std::string_view name, uint32_t tag) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = tag & mask;; i = (i + kStep) & mask) {
      const Slot& s = slots_[i];
      if (s.entry == kNone || (s.tag == tag && IsNameOf(entries_[s.entry], name))) return i;
    }
  }
  static bool IsNameOf(const Entry& entry, std::string_view name) {
    return entry.name().size() == name.size() && EqualBytes(entry.name().data(), name.data(), name.size());
  }

  // In the order of insertion, so that PopBack still finds the last entry at the end of its probe sequence.
  void Rehash(size_t capacity) {
    slots_.assign(capacity, {});
    const size_t mask = capacity - 1;
    for (uint32_t e = 0; e < entries_.size(); ++e) {
      size_t i = entries_[e].tag & mask;
      while (slots_[i].entry != kNone) i = (i + kStep) & mask;
      slots_[i] = {entries_[e].tag, e};
    }
  }

  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
};

}  // namespace iropt
