#include "iropt/analysis/tir/commutative_reducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/limits.h"
#include "iropt/ir/structural.h"

namespace iropt {

namespace {

using Exprs = std::vector<const PrimExpr*>;

// ---- Reducers

enum class Combination : uint8_t { kSum, kProduct, kMin, kMax, kTwoSums, kArgMax, kArgMaxFirst, kArgMin, kArgMinFirst };

// In the order in which they are tried.
constexpr Combination kOfOneValue[] = {Combination::kSum, Combination::kProduct, Combination::kMin, Combination::kMax};
constexpr Combination kOfTwoValues[] = {Combination::kTwoSums, Combination::kArgMax, Combination::kArgMaxFirst,
                                        Combination::kArgMin, Combination::kArgMinFirst};

const PrimExpr* LeastValue(DataType dtype, const arith::PrimBuilder& make) {
  if (dtype.is_floating()) return GreatestFinite(dtype) ? make.Float(-*GreatestFinite(dtype), dtype) : nullptr;
  if (dtype.is_uint()) return make.Int(0, dtype);
  if (!dtype.is_int()) return nullptr;
  return make.Int(dtype.bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (dtype.bits - 1)), dtype);
}

const PrimExpr* GreatestValue(DataType dtype, const arith::PrimBuilder& make) {
  if (dtype.is_floating()) return GreatestFinite(dtype) ? make.Float(*GreatestFinite(dtype), dtype) : nullptr;
  if (!dtype.is_int() && !dtype.is_uint()) return nullptr;
  if (dtype.bits == 64) return make.Int(dtype.is_int() ? std::numeric_limits<int64_t>::max() : -1, dtype);
  return make.Int((int64_t{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1, dtype);
}

// The neutral elements; an element is null if its dtype has none.
Exprs IdentitiesOf(Combination combination, std::span<const DataType> dtypes, const arith::PrimBuilder& make) {
  switch (combination) {
    case Combination::kSum: return {make.Const(0, dtypes[0])};
    case Combination::kProduct: return {make.Const(1, dtypes[0])};
    case Combination::kMin: return {GreatestValue(dtypes[0], make)};
    case Combination::kMax: return {LeastValue(dtypes[0], make)};
    case Combination::kTwoSums: return {make.Const(0, dtypes[0]), make.Const(0, dtypes[1])};
    case Combination::kArgMax:
    case Combination::kArgMaxFirst: return {make.Const(-1, dtypes[0]), LeastValue(dtypes[1], make)};
    case Combination::kArgMin:
    case Combination::kArgMinFirst: return {make.Const(-1, dtypes[0]), GreatestValue(dtypes[1], make)};
  }
  return {};
}

// The position and value of x if it wins, or else those of y. With `first`, the least position of equal values wins.
Exprs Choose(NodeKind order, bool first, std::span<const tir::Var* const> x, std::span<const tir::Var* const> y,
             const arith::PrimBuilder& make) {
  const PrimExpr* wins = make.Binary(order, x[1], y[1]);
  const PrimExpr* is_first = wins;
  if (first) {
    const PrimExpr* earlier = make.Binary(NodeKind::kLT, x[0], y[0]);
    const PrimExpr* same = make.Binary(NodeKind::kEQ, x[1], y[1]);
    is_first = make.Binary(NodeKind::kOr, wins, make.Binary(NodeKind::kAnd, same, earlier));
  }
  return {make.Select(is_first, x[0], y[0]), make.Select(wins, x[1], y[1])};
}

Exprs Combine(Combination combination, std::span<const tir::Var* const> x, std::span<const tir::Var* const> y,
              const arith::PrimBuilder& make) {
  switch (combination) {
    case Combination::kSum: return {make.Add(x[0], y[0])};
    case Combination::kProduct: return {make.Mul(x[0], y[0])};
    case Combination::kMin: return {make.Min(x[0], y[0])};
    case Combination::kMax: return {make.Max(x[0], y[0])};
    case Combination::kTwoSums: return {make.Add(x[0], y[0]), make.Add(x[1], y[1])};
    case Combination::kArgMax: return Choose(NodeKind::kGE, /*first=*/false, x, y, make);
    case Combination::kArgMaxFirst: return Choose(NodeKind::kGT, /*first=*/true, x, y, make);
    case Combination::kArgMin: return Choose(NodeKind::kLE, /*first=*/false, x, y, make);
    case Combination::kArgMinFirst: return Choose(NodeKind::kLT, /*first=*/true, x, y, make);
  }
  return {};
}

// Finds what the variables of a combination stand for. Combinations have a handful of nodes.
class CombinationMatcher {
 public:
  bool Match(const PrimExpr* pattern, const PrimExpr* expr) {
    if (const auto* var = As<tir::Var>(pattern)) {
      const auto known = std::ranges::find(values_, var, &std::pair<const tir::Var*, const PrimExpr*>::first);
      if (known != values_.end()) return DeepEqual(known->second, expr);
      values_.emplace_back(var, expr);
      return true;
    }
    if (pattern->kind != expr->kind) return false;
    if (const auto* select = As<tir::Select>(pattern)) {
      const auto& other = *To<tir::Select>(expr);
      return Match(select->condition, other.condition) && Match(select->true_value, other.true_value) &&
             Match(select->false_value, other.false_value);
    }
    const auto* binary = As<tir::BinaryExpr>(pattern);
    const auto* other = As<tir::BinaryExpr>(expr);
    return binary && Match(binary->a, other->a) && Match(binary->b, other->b);
  }

  const PrimExpr* ValueOf(const tir::Var* var) const {
    return std::ranges::find(values_, var, &std::pair<const tir::Var*, const PrimExpr*>::first)->second;
  }

 private:
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> values_;
};

// ---- The stores of a block

struct Update {
  const tir::BufferStore* store;
  const PrimExpr* value;
};

class ReductionFinder {
 public:
  ReductionFinder(const tir::Block& block, arith::Analyzer& analyzer, Workspace& workspace, std::string& problem)
      : block_(block), analyzer_(analyzer), workspace_(workspace), problem_(problem) {}

  std::optional<BlockReduction> Find() {
    if (!CollectInits() || !CollectUpdates() || !OrderInits()) return std::nullopt;
    BlockReduction found;
    found.indices = updates_[0].store->indices;
    for (const Update& update : updates_) found.buffers.push_back(update.store->buffer);
    const auto matches = [&](Combination combination) { return Matches(combination, found); };
    const bool known = updates_.size() == 1   ? std::ranges::any_of(kOfOneValue, matches)
                       : updates_.size() == 2 ? std::ranges::any_of(kOfTwoValues, matches)
                                              : false;
    if (known) return found;
    Fail("does not combine its values by a known reducer with the identity that it starts from");
    return std::nullopt;
  }

 private:
  bool Fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool CollectInits() {
    const auto* seq = As<tir::SeqStmt>(block_.init);
    const auto stmts = seq ? std::span<const tir::Stmt* const>(seq->seq.begin(), seq->seq.size())
                           : std::span<const tir::Stmt* const>(&block_.init, 1);
    for (const tir::Stmt* stmt : stmts) {
      const auto* store = As<tir::BufferStore>(stmt);
      if (!store) return Fail("initializes by something else than stores");
      const auto same = [&](const tir::BufferStore* other) { return other->buffer == store->buffer; };
      if (std::ranges::any_of(inits_, same)) return Fail("initializes a buffer twice");
      inits_.push_back(store);
    }
    return true;
  }

  bool CollectUpdates() {
    if (const auto* store = As<tir::BufferStore>(block_.body)) {
      updates_.push_back({store, store->value});
      return inits_.size() == 1 || Fail("does not update all buffers that it initializes");
    }
    std::vector<const tir::LetStmt*> lets;
    const tir::Stmt* body = block_.body;
    while (const auto* let = As<tir::LetStmt>(body)) {
      lets.push_back(let);
      body = let->body;
    }
    if (lets.size() != inits_.size()) return Fail("does not bind one new value for each buffer that it initializes");
    const auto* seq = As<tir::SeqStmt>(body);
    const auto stmts = seq ? std::span<const tir::Stmt* const>(seq->seq.begin(), seq->seq.size())
                           : std::span<const tir::Stmt* const>(&body, 1);
    if (stmts.size() != lets.size()) return Fail("does not store each of its new values once");
    updates_.resize(lets.size());
    for (const tir::Stmt* stmt : stmts) {
      const auto* store = As<tir::BufferStore>(stmt);
      const auto let = store ? std::ranges::find(lets, store->value, &tir::LetStmt::var) : lets.end();
      if (let == lets.end()) return Fail("stores something else than its new values");
      Update& update = updates_[static_cast<size_t>(let - lets.begin())];
      if (update.store) return Fail("does not store each of its new values once");
      update = {store, (*let)->value};
    }
    return true;
  }

  // The initial values in the order of the updates.
  bool OrderInits() {
    const tir::BufferStore& first = *updates_[0].store;
    const auto equal = [&](const PrimExpr* a, const PrimExpr* b) { return analyzer_.CanProveEqual(a, b); };
    identities_.resize(updates_.size());
    for (const Update& update : updates_) {
      if (!std::ranges::equal(update.store->buffer->shape, first.buffer->shape, equal))
        return Fail("reduces to buffers of different shapes");
      if (!std::ranges::equal(update.store->indices, first.indices, equal)) return Fail("stores at different indices");
    }
    for (const tir::BufferStore* init : inits_) {
      if (!std::ranges::equal(init->indices, first.indices, equal)) return Fail("stores at different indices");
      const auto same = [&](const Update& update) { return update.store->buffer == init->buffer; };
      const auto update = std::ranges::find_if(updates_, same);
      if (update == updates_.end()) return Fail("does not update all buffers that it initializes");
      const PrimExpr*& identity = identities_[static_cast<size_t>(update - updates_.begin())];
      identity = init->value;
    }
    return std::ranges::none_of(identities_, [](const PrimExpr* e) { return e == nullptr; }) ||
           Fail("updates a buffer twice");
  }

  bool Matches(Combination combination, BlockReduction& found) {
    const arith::PrimBuilder& make = analyzer_.make();
    std::vector<DataType> dtypes;
    for (const PrimExpr* identity : identities_) dtypes.push_back(identity->dtype);
    const Exprs identities = IdentitiesOf(combination, dtypes, make);
    if (!DeepEqual(identities, identities_)) return false;
    std::vector<const tir::Var*> x, y;
    for (size_t i = 0; i < dtypes.size(); ++i) {
      x.push_back(workspace_.NewPrimVar(fmt::format("x{}", i), dtypes[i]));
      y.push_back(workspace_.NewPrimVar(fmt::format("y{}", i), dtypes[i]));
    }
    const Exprs results = Combine(combination, x, y, make);
    CombinationMatcher matcher;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!matcher.Match(results[i], updates_[i].value)) return false;
    }
    found.operands.clear();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!IsElement(matcher.ValueOf(x[i]), *updates_[i].store)) return false;
      found.operands.push_back(matcher.ValueOf(y[i]));
    }
    found.reducer = workspace_.New<tir::CommReducer>(workspace_.Copy(x), workspace_.Copy(y), workspace_.Copy(results),
                                                     workspace_.Copy(identities));
    return true;
  }

  // Returns whether the expression loads what the store overwrites.
  static bool IsElement(const PrimExpr* expr, const tir::BufferStore& store) {
    const auto* load = As<tir::BufferLoad>(expr);
    return load && load->buffer == store.buffer && !load->predicate && DeepEqual(load->indices, store.indices);
  }

  const tir::Block& block_;
  arith::Analyzer& analyzer_;
  Workspace& workspace_;
  std::string& problem_;
  std::vector<const tir::BufferStore*> inits_;
  std::vector<Update> updates_;
  Exprs identities_;
};

}  // namespace

std::optional<BlockReduction> FindBlockReduction(const tir::Block& block, arith::Analyzer& analyzer,
                                                 Workspace& workspace, std::string& problem) {
  return ReductionFinder(block, analyzer, workspace, problem).Find();
}

}  // namespace iropt
