// Names in scope while a function is read: Python names to IR nodes, with scopes. Open addressing on 8-byte slots; a
// definition in an inner scope hides the outer one until the scope ends. Expected O(1) per operation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/ir/node.h"
#include "iropt/support/hash.h"

namespace iropt::text {

class SymbolTable {
 public:
  explicit SymbolTable(size_t expected = 32) {
    size_t capacity = 64;
    while (capacity < expected * 2) capacity *= 2;
    slots_.resize(capacity);
    entries_.reserve(expected);
  }

  // Null where the name is not in scope.
  const Node* Find(std::string_view name) const {
    const uint32_t i = slots_[SlotOf(name, Tag(name))].entry;
    return i ? entries_[i - 1].node : nullptr;
  }

  void Define(std::string_view name, const Node* node) {
    const uint32_t tag = Tag(name);
    size_t slot = SlotOf(name, tag);
    if (slots_[slot].entry == 0 && ++used_ * 2 > slots_.size()) {
      Grow();
      slot = SlotOf(name, tag);
    }
    const uint32_t outer = slots_[slot].entry;
    // A redefinition in the same scope needs no way back.
    if (outer && outer > scope_start()) {
      entries_[outer - 1].node = node;
      return;
    }
    entries_.push_back({name, node, tag, outer});
    slots_[slot] = {tag, static_cast<uint32_t>(entries_.size())};
  }

  void PushScope() { scopes_.push_back(static_cast<uint32_t>(entries_.size())); }
  void PopScope() {
    const uint32_t start = scopes_.back();
    scopes_.pop_back();
    while (entries_.size() > start) {
      const Entry& e = entries_.back();
      // The slot keeps the name's tag with no entry behind it only while an outer one exists; otherwise it becomes a
      // tombstone that Find passes over.
      slots_[SlotOf(e.name, e.tag)].entry = e.outer ? e.outer : kTombstone;
      entries_.pop_back();
    }
  }
  size_t scope_depth() const { return scopes_.size(); }

  // Calls f(name, node) for every name in scope, for suggestions in messages.
  template <class F>
  void ForEach(F&& f) const {
    for (const Slot& s : slots_) {
      if (s.entry != 0 && s.entry != kTombstone) f(entries_[s.entry - 1].name, entries_[s.entry - 1].node);
    }
  }

 private:
  static constexpr uint32_t kTombstone = UINT32_MAX;
  struct Slot {
    uint32_t tag = 0;
    uint32_t entry = 0;  // index + 1 in entries_; 0: empty
  };
  struct Entry {
    std::string_view name;
    const Node* node;
    uint32_t tag;
    uint32_t outer;  // the entry that this one hides, or 0
  };

  static uint32_t Tag(std::string_view name) { return static_cast<uint32_t>(HashString(name)); }
  uint32_t scope_start() const { return scopes_.empty() ? 0 : scopes_.back(); }

  // The slot that holds the name, or the empty slot where it belongs.
  size_t SlotOf(std::string_view name, uint32_t tag) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = tag & mask;; i = (i + 1) & mask) {
      const Slot& s = slots_[i];
      if (s.entry == 0) return i;
      if (s.tag == tag && s.entry != kTombstone && entries_[s.entry - 1].name == name) return i;
    }
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    used_ = 0;
    for (const Slot& s : old) {
      if (s.entry == 0 || s.entry == kTombstone) continue;
      slots_[SlotOf(entries_[s.entry - 1].name, s.tag)] = s;
      ++used_;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> scopes_;
  size_t used_ = 0;
};

}  // namespace iropt::text
