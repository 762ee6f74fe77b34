// A hash table whose changes are undone at the end of a scope, as walks over nested code need it.
//
//   struct Entry { const Expr* value; uint32_t hash; };
//   ScopedHashTable<Entry> table;
//   const size_t index = table.Find(hash, [&](const Entry& entry) { return Same(entry.value, value); });
//   if (index == table.kNone) table.Add({value, hash});
//   {
//     const ScopedHashTable<Entry>::Scope scope(table);  // what is added and changed from here on is forgotten
//     ...
//   }
//
// Open addressing with linear probing over a list of entries in the order of their addition, so that nothing depends on
// addresses. A slot holds the hash next to the index: a lookup touches an entry only if it is almost surely the right
// one. LLVM has a class of this name and purpose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace iropt {

// Entry is copyable and has a member `uint32_t hash`. Find and Add are O(1) for good hashes; the end of a scope is
// O(additions and changes in it).
template <class Entry>
class ScopedHashTable {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Restores at its end the contents that the table had at its beginning. Scopes nest.
  class Scope {
   public:
    explicit Scope(ScopedHashTable& table)
        : table_(table), outer_start_(table.scope_start_), num_changes_(table.changes_.size()) {
      table.scope_start_ = table.entries_.size();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { table_.Undo(outer_start_, num_changes_); }

   private:
    ScopedHashTable& table_;
    size_t outer_start_;
    size_t num_changes_;
  };

  // The index of the entry with this hash for which equal(entry) holds, or kNone.
  template <class Equal>
  size_t Find(uint32_t hash, Equal&& equal) const {
    if (slots_.empty()) return kNone;
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask; slots_[i].index_plus_1 != 0; i = (i + 1) & mask) {
      if (slots_[i].hash == hash && equal(entries_[slots_[i].index_plus_1 - 1])) return slots_[i].index_plus_1 - 1;
    }
    return kNone;
  }
  // Adds an entry. The table must not have it.
  void Add(const Entry& entry) {
    if ((entries_.size() + 1) * 4 > slots_.size() * 3) Grow();
    slots_[SlotOf(entry.hash, entries_.size())] = {entry.hash, static_cast<uint32_t>(entries_.size() + 1)};
    entries_.push_back(entry);
  }
  // Replaces an entry by one with the same key and hash.
  void Set(size_t index, const Entry& entry) {
    if (index < scope_start_) changes_.emplace_back(index, entries_[index]);
    entries_[index] = entry;
  }

  const Entry& operator[](size_t index) const { return entries_[index]; }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  struct Slot {
    uint32_t hash;
    uint32_t index_plus_1;  // 0: free
  };

  // The slot that has the entry, or the free one for it.
  size_t SlotOf(uint32_t hash, size_t index) const {
    const size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    while (slots_[i].index_plus_1 != 0 && slots_[i].index_plus_1 != index + 1) i = (i + 1) & mask;
    return i;
  }

  void Grow() {
    slots_.assign(std::max<size_t>(slots_.size() * 2, 16), Slot{0, 0});
    // In the order of the entries, so that they can still be taken out from the last to the first.
    for (size_t i = 0; i < entries_.size(); ++i) {
      slots_[SlotOf(entries_[i].hash, i)] = {entries_[i].hash, static_cast<uint32_t>(i + 1)};
    }
  }

  void Undo(size_t outer_start, size_t num_changes) {
    for (; changes_.size() > num_changes; changes_.pop_back()) {
      entries_[changes_.back().first] = std::move(changes_.back().second);
    }
    // The entry that was added last lies after everything that it collided with, so freeing its slot breaks no chain.
    for (; entries_.size() > scope_start_; entries_.pop_back()) {
      slots_[SlotOf(entries_.back().hash, entries_.size() - 1)] = {0, 0};
    }
    scope_start_ = outer_start;
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;                        // a power of two, at most three quarters full
  std::vector<std::pair<size_t, Entry>> changes_;  // earlier values of entries from outside the innermost scope
  size_t scope_start_ = 0;                         // number of entries outside the innermost scope
};

}  // namespace iropt
