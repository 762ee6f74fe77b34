// The values that are bound to variables so far, for finding equal ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// What a binding computes: its value, and for a match_cast the type that is checked.
struct BoundValue {
  const Expr* value;
  const Type* cast = nullptr;
};

BoundValue BoundValueOf(const Binding* binding);

// Equal values have equal hashes. Variables are equal to themselves alone; constants are compared by content, of which
// the hash sees a sample. O(operands), but for conditionals and functions, which the hash sees from outside only.
uint32_t HashOf(const BoundValue& value);
bool SameValue(const BoundValue& a, const BoundValue& b);

// An open-addressing table over a list of entries. Scopes nest: what was added or changed in one is undone at its end.
//
// A slot has the hash beside the index, so that a lookup touches an entry only where it is (almost surely) the right
// one.
class ValueTable {
 public:
  struct Entry {
    const Binding* binding;       // the first one of the value
    const Var* output = nullptr;  // if its variable is a DataflowVar: the first output of the block with the same value
    uint32_t hash;
    uint32_t block;  // the dataflow block of the binding, or 0
  };

  // The index of the entry with an equal value, or kNone.
  size_t Find(uint32_t hash, const BoundValue& value) const;
  // Adds a value that is not there.
  void Add(const Entry& entry);
  const Entry& operator[](size_t index) const { return entries_[index]; }
  // Replaces an entry by one with an equal value.
  void Change(size_t index, const Entry& entry);

  struct Scope {
    size_t num_entries;
    size_t num_changes;
  };
  Scope EnterScope();
  void LeaveScope(const Scope& scope);

  static constexpr size_t kNone = SIZE_MAX;

 private:
  struct Slot {
    uint32_t hash;
    uint32_t index_plus_1;  // 0: free
  };

  size_t SlotOf(uint32_t hash, size_t index) const;
  void Grow();

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;                        // a power of two, at most three quarters full
  std::vector<std::pair<size_t, Entry>> changes_;  // of entries from outside the innermost scope: what they were
  size_t scope_start_ = 0;                         // number of entries outside the innermost scope
};

}  // namespace iropt
