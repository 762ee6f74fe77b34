// Facts about expressions that hold in scopes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// Equal for expressions that are equal by DeepEqual. O(1): it looks at the outermost nodes only, because the parts of
// an expression are looked up as well as the whole.
uint32_t FactHash(const PrimExpr* e);

// Facts in the order of their scopes, found by their expressions, which are compared by DeepEqual.
template <class T>
class FactTable {
 public:
  size_t size() const { return facts_.size(); }
  void Add(const PrimExpr* e, const T& value) { facts_.push_back({e, value}); }
  // Keeps the first `count` facts.
  void Resize(size_t count) {
    for (; index_ && index_->links.size() > count; index_->links.pop_back()) {
      index_->newest.insert_or_assign(index_->links.back().hash, index_->links.back().earlier);
    }
    facts_.resize(count);
  }

  // The newest fact about the expression, or null. O(1) for good hashes.
  const T* Find(const PrimExpr* e) const {
    // Most comparisons of two expressions end at the first node, which takes less time than hashing.
    constexpr size_t kFew = 8;
    if (facts_.size() > kFew) return FindByHash(e);
    for (auto fact = facts_.rbegin(); fact != facts_.rend(); ++fact) {
      if (DeepEqual(fact->expr, e)) return &fact->value;
    }
    return nullptr;
  }

 private:
  struct Fact {
    const PrimExpr* expr;
    T value;
  };
  // Facts of the same hash are linked, from the newest to the oldest. The first facts have links, and the others get
  // them when they are looked up.
  struct Link {
    uint32_t hash;
    size_t earlier;  // the number of the earlier fact, or kNone
  };
  struct Index {
    std::vector<Link> links;
    LookupMap<uint32_t, size_t> newest;  // by hash
  };
  static constexpr size_t kNone = SIZE_MAX;

  const T* FindByHash(const PrimExpr* e) const {
    if (!index_) index_ = std::make_unique<Index>();
    while (index_->links.size() < facts_.size()) {
      const uint32_t hash = FactHash(facts_[index_->links.size()].expr);
      size_t& newest = index_->newest.try_emplace(hash, kNone).first;
      index_->links.push_back({hash, newest});
      newest = index_->links.size() - 1;
    }
    size_t i = index_->newest.Lookup(FactHash(e), kNone);
    while (i != kNone && !DeepEqual(facts_[i].expr, e)) i = index_->links[i].earlier;
    return i == kNone ? nullptr : &facts_[i].value;
  }

  std::vector<Fact> facts_;
  mutable std::unique_ptr<Index> index_;  // allocated once there are many facts
};

}  // namespace iropt::arith
