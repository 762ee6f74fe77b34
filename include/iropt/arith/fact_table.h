// Facts about expressions that hold in a scope.
#pragma once

#include <cstddef>
#include <cstdint>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/support/scoped_hash_table.h"

namespace iropt::arith {

// Equal for expressions that are equal by DeepEqual. O(1): it looks at the outermost nodes only, because the parts of
// an expression are looked up as well as the whole.
uint32_t FactHash(const PrimExpr* e);

// Values by expressions, which are compared by DeepEqual.
template <class T>
class FactTable {
  struct Entry {
    const PrimExpr* expr;
    T value;
    uint32_t hash;
  };

 public:
  // Restores at its end the contents that the table had at its beginning. Scopes nest.
  class Scope {
   public:
    explicit Scope(FactTable& facts) : scope_(facts.table_) {}

   private:
    typename ScopedHashTable<Entry>::Scope scope_;
  };

  // The value of the expression, or null.
  const T* Find(const PrimExpr* e) const {
    const size_t index = IndexOf(e);
    return index == table_.kNone ? nullptr : &table_[index].value;
  }
  // Gives an expression a value, unless it has one.
  void Add(const PrimExpr* e, const T& value) {
    if (IndexOf(e) == table_.kNone) table_.Add({e, value, FactHash(e)});
  }
  // Gives an expression a value instead of the one that it may have.
  void Set(const PrimExpr* e, const T& value) {
    const size_t index = IndexOf(e);
    if (index == table_.kNone) return table_.Add({e, value, FactHash(e)});
    table_.Set(index, {table_[index].expr, value, table_[index].hash});
  }

 private:
  size_t IndexOf(const PrimExpr* e) const {
    // Most comparisons of two expressions end at the first node, which takes less time than hashing.
    constexpr size_t kFew = 8;
    const auto is_about = [e](const Entry& entry) { return DeepEqual(entry.expr, e); };
    if (table_.size() > kFew) return table_.Find(FactHash(e), is_about);
    for (size_t i = 0; i < table_.size(); ++i) {
      if (is_about(table_[i])) return i;
    }
    return table_.kNone;
  }

  ScopedHashTable<Entry> table_;
};

}  // namespace iropt::arith
