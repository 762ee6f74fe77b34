// Orders of pairs of expressions that are known from conditions: i < j, j <= k + 3, n == 5.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// Possible orders of two numbers: a union of the three orders. The intersection of two facts is the & of their bits;
// kInconsistent is a contradiction, which only code that is never reached has.
enum class Order : uint8_t {
  kInconsistent = 0,
  kEqual = 1,
  kLess = 2,
  kLessEqual = 3,
  kGreater = 4,
  kGreaterEqual = 5,
  kNotEqual = 6,
  kUnknown = 7
};
constexpr Order operator&(Order a, Order b) {
  return static_cast<Order>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}

class KnownOrders {
 public:
  // The comparisons of integers in a conjunction. Conditions with other effects than pure ones are not facts for long,
  // and are left out.
  void Add(const PrimExpr* condition);
  size_t size() const { return facts_.size(); }
  // Keeps the first `count` facts.
  void Resize(size_t count) { Erase(count, facts_.size()); }
  void Erase(size_t begin, size_t end);
  void Append(const KnownOrders& other) { facts_.insert(facts_.end(), other.facts_.begin(), other.facts_.end()); }

  // The order of two index expressions by the facts about this pair; with `transitively` also by chains of facts:
  // i <= j and j < k give i < k. O(1), or O(facts^2) for chains.
  Order Compare(const PrimExpr* a, const PrimExpr* b, bool transitively) const;

 private:
  // a <order> b + offset; the order is kEqual, kNotEqual, kLessEqual or kGreaterEqual. A null expression is 0.
  struct Fact {
    const PrimExpr* a;
    const PrimExpr* b;
    int64_t offset;
    Order order;
  };
  std::optional<Fact> FromComparison(const PrimExpr* condition);
  // Of conditions in each other, the inner ones are looked at once.
  bool IsPureOperand(const PrimExpr* e);
  static std::optional<Fact> Make(const PrimExpr* a, const PrimExpr* b, int64_t offset, Order order);
  // The fact with `a` on its left side; nothing if it does not have it.
  static std::optional<Fact> From(const PrimExpr* a, const Fact& fact);
  static bool Implies(const Fact& fact, const Fact& other);
  static std::optional<Fact> Chain(const Fact& first, const Fact& second);
  static Order OrderBy(const Fact& fact, int64_t offset);
  static Order OrderBy(const std::vector<Fact>& facts, int64_t offset);

  std::vector<Fact> ChainsFrom(const PrimExpr* a, const PrimExpr* b) const;

  // What the facts about one pair say together, as facts with `a` on their left side. Of bounds, the tightest counts.
  struct Pair {
    const PrimExpr* a;
    const PrimExpr* b;
    std::optional<int64_t> at_most = std::nullopt, at_least = std::nullopt;
    std::vector<int64_t> equal = {};
    LookupMap<int64_t, size_t> not_equal = {};  // how often
    size_t same_hash = kNone;                   // the earlier pair with the same hash
  };
  // A fact in the pairs, and what it replaced.
  struct Entry {
    Fact fact;  // of the pair
    size_t pair;
    std::optional<int64_t> at_most, at_least;  // of the pair before
    bool is_first;                             // of the pair
  };
  static constexpr size_t kNone = SIZE_MAX;
  Order CompareByPairs(const PrimExpr* a, const PrimExpr* b, int64_t offset) const;
  size_t PairOf(uint64_t hash, const PrimExpr* a, const PrimExpr* b) const;
  void Enter(const Fact& fact) const;
  void Leave() const;

  std::vector<Fact> facts_;
  LookupMap<const PrimExpr*, bool> pure_;  // operations of which operands are operations
  // Of the first facts; the others are entered when they are looked up.
  mutable std::vector<Entry> entries_;
  mutable std::vector<Pair> pairs_;
  mutable LookupMap<uint64_t, size_t> newest_;  // the newest pair of a hash
};

}  // namespace iropt::arith
