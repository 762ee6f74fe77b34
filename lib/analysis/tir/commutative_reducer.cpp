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

enum class Combination : uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kTwoSums,
  kArgMax,
  kArgMaxFirst,
  kArgMaxFirstNan,
  kArgMin,
  kArgMinFirst,
  kArgMinFirstNan
};

// In the order in which they are tried.
constexpr Combination kOfOneValue[] = {Combination::kSum, Combination::kProduct, Combination::kMin, Combination::kMax};
constexpr Combination kOfTwoValues[] = {Combination::kTwoSums,        Combination::kArgMax, Combination::kArgMaxFirst,
                                        Combination::kArgMaxFirstNan, Combination::kArgMin, Combination::kArgMinFirst,
                                        Combination::kArgMinFirstNan};

bool IsNumber(const PrimExpr* e, double value) {
  const auto* number = As<tir::FloatImm>(e);
  return number && number->value == value;
}

// The greatest value of the dtype, or the greatest finite one.
bool IsGreatest(const PrimExpr* e) {
  const DataType dtype = e->dtype;
  if (dtype.is_floating()) {
    if (HasInfinity(dtype) && IsNumber(e, std::numeric_limits<double>::infinity())) return true;
    return GreatestFinite(dtype) && IsNumber(e, *GreatestFinite(dtype));
  }
  if (!dtype.is_int() && !dtype.is_uint()) return false;
  if (dtype.bits == 64) return arith::IsInt(e, dtype.is_int() ? std::numeric_limits<int64_t>::max() : -1);
  return arith::IsInt(e, (int64_t{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1);
}

bool IsLeast(const PrimExpr* e) {
  const DataType dtype = e->dtype;
  if (dtype.is_floating()) {
    if (HasInfinity(dtype) && IsNumber(e, -std::numeric_limits<double>::infinity())) return true;
    return GreatestFinite(dtype) && IsNumber(e, -*GreatestFinite(dtype));
  }
  if (dtype.is_uint()) return arith::IsInt(e, 0);
  if (!dtype.is_int()) return false;
  return arith::IsInt(e, dtype.bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (dtype.bits - 1)));
}

// Before any element, it has no position, -1, or after all others.
bool IsNoPosition(const PrimExpr* e) { return arith::IsInt(e, -1) || IsGreatest(e); }

// Returns whether the values are neutral: those of finite extremes are so for finite elements.
bool AreIdentities(Combination combination, const Exprs& values, const arith::PrimBuilder& make) {
  const auto is = [&](size_t i, int64_t number) { return DeepEqual(values[i], make.Const(number, values[i]->dtype)); };
  switch (combination) {
    case Combination::kSum: return is(0, 0);
    case Combination::kProduct: return is(0, 1);
    case Combination::kMin: return IsGreatest(values[0]);
    case Combination::kMax: return IsLeast(values[0]);
    case Combination::kTwoSums: return is(0, 0) && is(1, 0);
    case Combination::kArgMax:
    case Combination::kArgMaxFirst:
    case Combination::kArgMaxFirstNan: return IsNoPosition(values[0]) && IsLeast(values[1]);
    case Combination::kArgMin:
    case Combination::kArgMinFirst:
    case Combination::kArgMinFirstNan: return IsNoPosition(values[0]) && IsGreatest(values[1]);
  }
  return false;
}

using Vars = std::span<const tir::Var* const>;

// What wins between two values.
struct Choice {
  NodeKind order;          // that of the value that wins and the other one
  bool first = true;       // the least position of equal values wins
  bool finds_nan = false;  // the first NaN wins
};

// The position and value of x if it wins, or else those of y.
Exprs Choose(const Choice& choice, Vars x, Vars y, const arith::PrimBuilder& make) {
  const PrimExpr* wins = make.Binary(choice.order, x[1], y[1]);
  if (!choice.first) return {make.Select(wins, x[0], y[0]), make.Select(wins, x[1], y[1])};
  const PrimExpr* earlier = make.Binary(NodeKind::kLT, x[0], y[0]);
  const PrimExpr* same = make.Binary(NodeKind::kEQ, x[1], y[1]);
  const PrimExpr* is_first = make.Binary(NodeKind::kOr, wins, make.Binary(NodeKind::kAnd, same, earlier));
  if (choice.finds_nan) {
    const PrimExpr* is_nan = make.Binary(NodeKind::kNE, x[1], x[1]);
    const PrimExpr* other_is_nan = make.Binary(NodeKind::kNE, y[1], y[1]);
    is_first = make.Select(other_is_nan, make.Binary(NodeKind::kAnd, is_nan, earlier),
                           make.Binary(NodeKind::kOr, is_nan, is_first));
    wins = make.Binary(NodeKind::kOr, is_nan, wins);
  }
  return {make.Select(is_first, x[0], y[0]), make.Select(wins, x[1], y[1])};
}

Exprs Combine(Combination combination, Vars x, Vars y, const arith::PrimBuilder& make) {
  switch (combination) {
    case Combination::kSum: return {make.Add(x[0], y[0])};
    case Combination::kProduct: return {make.Mul(x[0], y[0])};
    case Combination::kMin: return {make.Min(x[0], y[0])};
    case Combination::kMax: return {make.Max(x[0], y[0])};
    case Combination::kTwoSums: return {make.Add(x[0], y[0]), make.Add(x[1], y[1])};
    case Combination::kArgMax: return Choose({NodeKind::kGE, /*first=*/false}, x, y, make);
    case Combination::kArgMaxFirst: return Choose({NodeKind::kGT}, x, y, make);
    case Combination::kArgMaxFirstNan: return Choose({NodeKind::kGT, true, /*finds_nan=*/true}, x, y, make);
    case Combination::kArgMin: return Choose({NodeKind::kLE, /*first=*/false}, x, y, make);
    case Combination::kArgMinFirst: return Choose({NodeKind::kLT}, x, y, make);
    case Combination::kArgMinFirstNan: return Choose({NodeKind::kLT, true, /*finds_nan=*/true}, x, y, make);
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
    if (!AreIdentities(combination, identities_, make)) return false;
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
                                                     workspace_.Copy(identities_));
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
