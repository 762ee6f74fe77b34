#include "known_orders.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "iropt/arith/fact_table.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::arith {
namespace {

constexpr Order Reversed(Order order) {
  const auto bits = static_cast<uint8_t>(order);
  return static_cast<Order>((bits & 1) | (bits & 2) << 1 | (bits & 4) >> 1);
}

// x and c of x + c; null and c for a constant.
std::pair<const PrimExpr*, int64_t> SplitOffset(const PrimExpr* e) {
  if (const int64_t* value = AsInt(e)) return {nullptr, *value};
  const auto* binary = As<tir::BinaryExpr>(e);
  const int64_t* c = binary ? AsInt(binary->b) : nullptr;
  if (c && e->kind == NodeKind::kAdd) return {binary->a, *c};
  if (c && e->kind == NodeKind::kSub && *c != std::numeric_limits<int64_t>::min()) return {binary->a, -*c};
  return {e, 0};
}

Order OrderOf(NodeKind comparison) {
  switch (comparison) {
    case NodeKind::kEQ: return Order::kEqual;
    case NodeKind::kNE: return Order::kNotEqual;
    case NodeKind::kLT: return Order::kLess;
    case NodeKind::kLE: return Order::kLessEqual;
    case NodeKind::kGT: return Order::kGreater;
    case NodeKind::kGE: return Order::kGreaterEqual;
    default: return Order::kUnknown;
  }
}

// The same for a and b as for b and a.
uint64_t HashOfPair(const PrimExpr* a, const PrimExpr* b) {
  return uint64_t{a ? FactHash(a) : 0} + uint64_t{b ? FactHash(b) : 0};
}

}  // namespace

// Strict orders become others with an offset, so that chains need not handle them.
std::optional<KnownOrders::Fact> KnownOrders::Make(const PrimExpr* a, const PrimExpr* b, int64_t offset, Order order) {
  const auto shifted = CheckedAdd(offset, order == Order::kLess ? -1 : order == Order::kGreater ? 1 : 0);
  if (!shifted) return std::nullopt;
  if (order == Order::kLess) order = Order::kLessEqual;
  if (order == Order::kGreater) order = Order::kGreaterEqual;
  return Fact{a, b, *shifted, order};
}

std::optional<KnownOrders::Fact> KnownOrders::FromComparison(const PrimExpr* condition) {
  const Order order = OrderOf(condition->kind);
  if (order == Order::kUnknown) return std::nullopt;
  const auto* comparison = static_cast<const tir::BinaryExpr*>(condition);
  // In other dtypes x + c wraps around.
  if (!IsIndexType(comparison->a->dtype)) return std::nullopt;
  const auto [a, a_offset] = SplitOffset(comparison->a);
  const auto [b, b_offset] = SplitOffset(comparison->b);
  const auto offset = CheckedSub(b_offset, a_offset);
  if (!offset || (!a && !b) || !IsPureOperand(condition)) return std::nullopt;
  return Make(a, b, *offset, order);
}

bool KnownOrders::IsPureOperand(const PrimExpr* e) {
  const auto is_leaf = [](const PrimExpr* x) { return tir::Var::ClassOf(x->kind) || x->kind == NodeKind::kIntImm; };
  if (is_leaf(e)) return true;
  const auto* binary = As<tir::BinaryExpr>(e);
  if (binary && is_leaf(binary->a) && is_leaf(binary->b)) return true;
  const auto* select = As<tir::Select>(e);
  const auto* call = As<tir::Call>(e);
  if (call && !IsOp(call->op, op::kTirIfThenElse)) call = nullptr;
  if (!binary && !select && !call) return IsPure(e);
  if (const bool* known = pure_.Find(e)) return *known;
  const bool pure = WithStack([&] {
    if (binary) return IsPureOperand(binary->a) && IsPureOperand(binary->b);
    if (call) return std::ranges::all_of(call->args, [this](const PrimExpr* arg) { return IsPureOperand(arg); });
    return IsPureOperand(select->condition) && IsPureOperand(select->true_value) && IsPureOperand(select->false_value);
  });
  pure_.try_emplace(e, pure);
  return pure;
}

void KnownOrders::Add(const PrimExpr* condition) {
  if (const auto* both = As<tir::And>(condition)) {
    WithStack([&] {
      Add(both->a);
      Add(both->b);
    });
  } else if (const auto fact = FromComparison(condition)) {
    facts_.push_back(*fact);
  }
}

void KnownOrders::Erase(size_t begin, size_t end) {
  while (entries_.size() > begin) Leave();
  facts_.erase(facts_.begin() + static_cast<ptrdiff_t>(begin), facts_.begin() + static_cast<ptrdiff_t>(end));
}

std::optional<KnownOrders::Fact> KnownOrders::From(const PrimExpr* a, const Fact& fact) {
  if (DeepEqual(fact.a, a)) return fact;
  if (!DeepEqual(fact.b, a) || fact.offset == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return Fact{fact.b, fact.a, -fact.offset, Reversed(fact.order)};
}

// Both facts are about the same pair.
bool KnownOrders::Implies(const Fact& fact, const Fact& other) {
  if (fact.order == other.order && fact.offset == other.offset) return true;
  const bool at_most = fact.order == Order::kEqual || fact.order == Order::kLessEqual;
  const bool at_least = fact.order == Order::kEqual || fact.order == Order::kGreaterEqual;
  switch (other.order) {
    case Order::kLessEqual: return at_most && fact.offset <= other.offset;
    case Order::kGreaterEqual: return at_least && fact.offset >= other.offset;
    case Order::kNotEqual: return (at_most && fact.offset < other.offset) || (at_least && fact.offset > other.offset);
    default: return false;
  }
}

// x <= y + c and y <= z + d give x <= z + c + d.
std::optional<KnownOrders::Fact> KnownOrders::Chain(const Fact& first, const Fact& second) {
  const bool same_direction =
      first.order == second.order && (first.order == Order::kLessEqual || first.order == Order::kGreaterEqual);
  if (first.order != Order::kEqual && second.order != Order::kEqual && !same_direction) return std::nullopt;
  const auto offset = CheckedAdd(first.offset, second.offset);
  if (!offset) return std::nullopt;
  return Fact{first.a, second.b, *offset, first.order == Order::kEqual ? second.order : first.order};
}

// All facts about `a` that chains of facts give, searched breadth-first; returns those about `a` and `b`.
std::vector<KnownOrders::Fact> KnownOrders::ChainsFrom(const PrimExpr* a, const PrimExpr* b) const {
  // By the right side. A side is continued once, with what is known when its turn comes.
  std::vector<std::pair<const PrimExpr*, std::vector<Fact>>> reached;
  const auto declare = [&](const Fact& fact) {
    if (DeepEqual(fact.b, a)) return;
    auto it = std::ranges::find_if(reached, [&](const auto& entry) { return DeepEqual(entry.first, fact.b); });
    if (it == reached.end()) it = reached.insert(reached.end(), {fact.b, {}});
    std::vector<Fact>& known = it->second;
    if (std::ranges::any_of(known, [&](const Fact& earlier) { return Implies(earlier, fact); })) return;
    const auto weaker = std::ranges::find_if(known, [&](const Fact& earlier) { return Implies(fact, earlier); });
    if (weaker != known.end()) {
      *weaker = fact;
    } else {
      known.push_back(fact);
    }
  };
  for (const Fact& fact : facts_) {
    if (const auto turned = From(a, fact)) declare(*turned);
  }
  for (size_t i = 0; i < reached.size(); ++i) {
    const PrimExpr* middle = reached[i].first;
    if (DeepEqual(middle, b)) continue;
    const std::vector<Fact> to_middle = reached[i].second;
    for (const Fact& fact : facts_) {
      const auto onward = From(middle, fact);
      if (!onward) continue;
      for (const Fact& first : to_middle) {
        if (const auto chained = Chain(first, *onward)) declare(*chained);
      }
    }
  }
  const auto found = std::ranges::find_if(reached, [&](const auto& entry) { return DeepEqual(entry.first, b); });
  return found == reached.end() ? std::vector<Fact>() : found->second;
}

// Returns the order of a and b + offset that the fact gives.
Order KnownOrders::OrderBy(const Fact& fact, int64_t offset) {
  switch (fact.order) {
    case Order::kEqual: return offset == fact.offset ? Order::kEqual : Order::kNotEqual;
    case Order::kLessEqual:
      if (fact.offset > offset) return Order::kUnknown;
      return fact.offset < offset ? Order::kLess : Order::kLessEqual;
    case Order::kGreaterEqual:
      if (fact.offset < offset) return Order::kUnknown;
      return fact.offset > offset ? Order::kGreater : Order::kGreaterEqual;
    case Order::kNotEqual: return fact.offset == offset ? Order::kNotEqual : Order::kUnknown;
    default: return Order::kUnknown;
  }
}

Order KnownOrders::OrderBy(const std::vector<Fact>& facts, int64_t offset) {
  Order order = Order::kUnknown;
  for (const Fact& fact : facts) order = order & OrderBy(fact, offset);
  return order;
}

// ---- Facts by pairs

size_t KnownOrders::PairOf(uint64_t hash, const PrimExpr* a, const PrimExpr* b) const {
  size_t i = newest_.Lookup(hash, kNone);
  const auto is_about = [&](const Pair& pair) {
    return (DeepEqual(pair.a, a) && DeepEqual(pair.b, b)) || (DeepEqual(pair.a, b) && DeepEqual(pair.b, a));
  };
  while (i != kNone && !is_about(pairs_[i])) i = pairs_[i].same_hash;
  return i;
}

void KnownOrders::Enter(const Fact& fact) const {
  const uint64_t hash = HashOfPair(fact.a, fact.b);
  size_t i = PairOf(hash, fact.a, fact.b);
  const bool is_first = i == kNone;
  if (is_first) {
    i = pairs_.size();
    pairs_.push_back({.a = fact.a, .b = fact.b, .same_hash = newest_.Lookup(hash, kNone)});
    newest_.insert_or_assign(hash, i);
  }
  Pair& pair = pairs_[i];
  // A fact that cannot be turned counts for nothing.
  const Fact turned = From(pair.a, fact).value_or(Fact{pair.a, pair.b, 0, Order::kUnknown});
  entries_.push_back({turned, i, pair.at_most, pair.at_least, is_first});
  switch (turned.order) {
    case Order::kEqual: pair.equal.push_back(turned.offset); break;
    case Order::kNotEqual: ++pair.not_equal[turned.offset]; break;
    case Order::kLessEqual: pair.at_most = std::min(pair.at_most.value_or(turned.offset), turned.offset); break;
    case Order::kGreaterEqual: pair.at_least = std::max(pair.at_least.value_or(turned.offset), turned.offset); break;
    default: break;
  }
}

void KnownOrders::Leave() const {
  const Entry& entry = entries_.back();
  Pair& pair = pairs_[entry.pair];
  if (entry.is_first) {
    // Pairs that were entered later have left.
    newest_.insert_or_assign(HashOfPair(pair.a, pair.b), pair.same_hash);
    pairs_.pop_back();
  } else {
    pair.at_most = entry.at_most;
    pair.at_least = entry.at_least;
    if (entry.fact.order == Order::kEqual) pair.equal.pop_back();
    if (entry.fact.order == Order::kNotEqual && --pair.not_equal.at(entry.fact.offset) == 0)
      pair.not_equal.erase(entry.fact.offset);
  }
  entries_.pop_back();
}

Order KnownOrders::CompareByPairs(const PrimExpr* a, const PrimExpr* b, int64_t offset) const {
  while (entries_.size() < facts_.size()) Enter(facts_[entries_.size()]);
  const size_t i = PairOf(HashOfPair(a, b), a, b);
  if (i == kNone || offset == std::numeric_limits<int64_t>::min()) return Order::kUnknown;
  const Pair& pair = pairs_[i];
  const bool is_turned = !DeepEqual(pair.a, a);
  if (is_turned) offset = -offset;
  Order order = Order::kUnknown;
  const auto apply = [&](Order by, int64_t known) { order = order & OrderBy({pair.a, pair.b, known, by}, offset); };
  if (pair.at_most) apply(Order::kLessEqual, *pair.at_most);
  if (pair.at_least) apply(Order::kGreaterEqual, *pair.at_least);
  for (const int64_t known : pair.equal) apply(Order::kEqual, known);
  if (pair.not_equal.contains(offset)) apply(Order::kNotEqual, offset);
  return is_turned ? Reversed(order) : order;
}

Order KnownOrders::Compare(const PrimExpr* a_expr, const PrimExpr* b_expr, bool transitively) const {
  if (facts_.empty()) return Order::kUnknown;
  const auto [a, a_offset] = SplitOffset(a_expr);
  const auto [b, b_offset] = SplitOffset(b_expr);
  const auto offset = CheckedSub(b_offset, a_offset);
  if (!offset || (!a && !b)) return Order::kUnknown;
  if (transitively) {
    std::vector<Fact> facts = ChainsFrom(a, b);
    for (const Fact& fact : ChainsFrom(b, a)) {
      if (const auto turned = From(a, fact)) facts.push_back(*turned);
    }
    return OrderBy(facts, *offset);
  }
  // A few are compared faster than looked up.
  constexpr size_t kFew = 8;
  if (facts_.size() > kFew) return CompareByPairs(a, b, *offset);
  Order order = Order::kUnknown;
  for (const Fact& fact : facts_) {
    const auto turned = From(a, fact);
    if (turned && DeepEqual(turned->b, b)) order = order & OrderBy(*turned, *offset);
  }
  return order;
}

}  // namespace iropt::arith
