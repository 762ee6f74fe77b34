#include "iropt/arith/analyzer.h"

#include <cstdlib>
#include <limits>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/support/stack.h"
#include "known_orders.h"
#include "polynomial.h"
#include "simplifier.h"

namespace iropt::arith {
namespace {

// The maximum nesting of proofs. Rules ask for proofs about parts of the matched expression, which ask in turn; without
// a limit the work could grow exponentially.
constexpr int kMaxNestedProofs = 4;
thread_local int nested_proofs = 0;

class ProofScope {
 public:
  ProofScope() { ++nested_proofs; }
  ~ProofScope() { --nested_proofs; }
  ProofScope(const ProofScope&) = delete;
  ProofScope& operator=(const ProofScope&) = delete;
  static bool available() { return nested_proofs < kMaxNestedProofs; }
};

// Calls f for each part of a conjunction.
template <class F>
void ForEachConjunct(const PrimExpr* e, const F& f) {
  if (const auto* both = As<tir::And>(e)) {
    WithStack([&] {
      ForEachConjunct(both->a, f);
      ForEachConjunct(both->b, f);
    });
  } else {
    f(e);
  }
}

// x and the interval in which the comparison of x with a constant holds.
std::optional<std::pair<const PrimExpr*, IntBound>> BoundFromComparison(const PrimExpr* e) {
  const auto* binary = As<tir::BinaryExpr>(e);
  if (!binary || e->kind < NodeKind::kEQ || e->kind > NodeKind::kGE || e->kind == NodeKind::kNE) return std::nullopt;
  NodeKind kind = e->kind;
  const PrimExpr* x = binary->a;
  const int64_t* c = AsInt(binary->b);
  if (!c) {
    c = AsInt(binary->a);
    x = binary->b;
    switch (kind) {
      case NodeKind::kLT: kind = NodeKind::kGT; break;
      case NodeKind::kLE: kind = NodeKind::kGE; break;
      case NodeKind::kGT: kind = NodeKind::kLT; break;
      case NodeKind::kGE: kind = NodeKind::kLE; break;
      default: break;
    }
  }
  if (!c || AsInt(x) || *c <= IntBound::kNegInf + 1 || *c == IntBound::kPosInf) return std::nullopt;
  switch (kind) {
    case NodeKind::kEQ: return std::pair{x, IntBound{*c, *c}};
    case NodeKind::kLT: return std::pair{x, IntBound{IntBound::kNegInf, *c - 1}};
    case NodeKind::kLE: return std::pair{x, IntBound{IntBound::kNegInf, *c}};
    case NodeKind::kGT: return std::pair{x, IntBound{*c + 1, IntBound::kPosInf}};
    default: return std::pair{x, IntBound{*c, IntBound::kPosInf}};
  }
}

// var % coeff == base, for either way of rounding
std::optional<std::pair<const tir::Var*, ModularSet>> ModularFromEquality(const PrimExpr* e) {
  const auto* equal = As<tir::EQ>(e);
  const auto* mod = equal ? As<tir::BinaryExpr>(equal->a) : nullptr;
  if (!mod || (mod->kind != NodeKind::kFloorMod && mod->kind != NodeKind::kMod)) return std::nullopt;
  const auto* var = As<tir::Var>(mod->a);
  const int64_t* coeff = AsInt(mod->b);
  const int64_t* base = AsInt(equal->b);
  if (!var || !coeff || !base || *coeff == 0 || *coeff == std::numeric_limits<int64_t>::min()) return std::nullopt;
  const int64_t modulus = std::abs(*coeff);
  return std::pair{var, ModularSet{modulus, FloorModInt(*base, modulus)}};
}

bool IsOrder(NodeKind kind) { return kind >= NodeKind::kEQ && kind <= NodeKind::kGE; }

// Returns whether the comparison of a number in these bounds with 0 always holds.
bool HoldsWithin(NodeKind kind, IntBound bound) {
  switch (kind) {
    case NodeKind::kEQ: return bound.min == 0 && bound.max == 0;
    case NodeKind::kNE: return bound.min > 0 || bound.max < 0;
    case NodeKind::kLT: return bound.max < 0;
    case NodeKind::kLE: return bound.max <= 0;
    case NodeKind::kGT: return bound.min > 0;
    case NodeKind::kGE: return bound.min >= 0;
    default: return false;
  }
}

}  // namespace

int ProofDepth() { return nested_proofs; }

int& ActiveSimplifiers() {
  thread_local int active = 0;
  return active;
}

Analyzer::Analyzer(PrimBuilder make, SymVars sym_vars)
    : make_(make.Exact()),
      bounds_(sym_vars == SymVars::kNonNegative),
      orders_(std::make_unique<KnownOrders>()),
      var_orders_(std::make_unique<KnownOrders>()) {}
Analyzer::~Analyzer() = default;

const PrimExpr* Analyzer::CanonicalSimplify(const PrimExpr* e) {
  CanonicalSimplifier simplifier(*this);
  return simplifier.Visit(e);
}

const PrimExpr* Analyzer::RewriteSimplify(const PrimExpr* e) {
  // A second pass, because the last rule that applied may have enabled another further down.
  for (int round = 0; round < 2; ++round) {
    RuleSimplifier simplifier(*this);
    const PrimExpr* next = simplifier.Visit(e);
    if (next == e) break;
    e = next;
  }
  return e;
}

const PrimExpr* Analyzer::Simplify(const PrimExpr* e, int steps) {
  if (e->kind == NodeKind::kIntImm) return e;
  // Most indices are variables.
  if (tir::Var::ClassOf(e->kind) && !e->dtype.is_bool() && !ValueOf(static_cast<const tir::Var*>(e))) return e;
  // Canonical first: its rules see structure that the other rewriter may destroy.
  e = CanonicalSimplify(e);
  for (int i = 0; i < steps && e->kind != NodeKind::kIntImm; ++i)
    e = i % 2 == 0 ? RewriteSimplify(e) : CanonicalSimplify(e);
  return e;
}

bool Analyzer::CanProve(const PrimExpr* condition) {
  if (const int64_t* value = AsInt(condition)) return *value != 0;
  if (!ProofScope::available()) return false;
  const ProofScope scope;
  if (const int64_t* value = AsInt(Simplify(condition))) return *value != 0;
  return CanProveOrder(condition);
}

// Expands the difference, which proves orders that the rules miss because factors and terms are in another order.
bool Analyzer::CanProveOrder(const PrimExpr* condition) {
  const auto* order = IsOrder(condition->kind) ? As<tir::BinaryExpr>(condition) : nullptr;
  if (!order || order->a->dtype != order->b->dtype || !IsIndexType(order->a->dtype)) return false;
  const std::optional<Polynomial> difference = Polynomial::Difference(order->a, order->b);
  if (!difference) return false;
  if (const auto value = difference->AsConstant()) return HoldsWithin(condition->kind, {*value, *value});
  return HoldsWithin(condition->kind, bounds_.Bound(difference->ToExpr(order->a->dtype, make_)));
}

bool Analyzer::CanProveEqual(const PrimExpr* a, const PrimExpr* b) {
  if (a == b) return true;
  const int64_t* va = AsInt(a);
  const int64_t* vb = AsInt(b);
  if (va && vb) return *va == *vb;
  if (!a->dtype.is_integer() || !b->dtype.is_integer()) return DeepEqual(a, b);
  if (a->dtype.lanes != b->dtype.lanes) return false;
  if (a->dtype == b->dtype && IsIndexType(a->dtype)) {
    const std::optional<Polynomial> expanded = Polynomial::Difference(a, b);
    if (const auto value = expanded ? expanded->AsConstant() : std::nullopt) return *value == 0;
  }
  const PrimExpr* difference = make_.Sub(a, b);
  return CanProve(make_.Binary(NodeKind::kEQ, difference, make_.Const(0, difference->dtype)));
}

bool Analyzer::CanProveNotEqual(const PrimExpr* a, const PrimExpr* b) {
  if (a == b || a->dtype.lanes != b->dtype.lanes) return false;
  return CanProve(make_.Binary(NodeKind::kNE, a, b));
}

bool Analyzer::CanProveGreaterEqual(const PrimExpr* e, int64_t bound) {
  if (const int64_t* value = AsInt(e)) return *value >= bound;
  if (bounds_.Bound(e).min >= bound) return true;
  if (!ProofScope::available()) return false;
  const ProofScope scope;
  return bounds_.Bound(RewriteSimplify(e)).min >= bound;
}

bool Analyzer::CanProveLess(const PrimExpr* e, int64_t bound) {
  if (const int64_t* value = AsInt(e)) return *value < bound;
  if (bounds_.Bound(e).max < bound) return true;
  if (!ProofScope::available()) return false;
  const ProofScope scope;
  return bounds_.Bound(RewriteSimplify(e)).max < bound;
}

void Analyzer::Bind(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
  if (IsInt(extent, 1)) return Bind(var, Simplify(min));
  DropOrders(var);
  const int64_t* first = AsInt(min);
  const int64_t* count = AsInt(extent);
  const auto last = first && count ? CheckedAdd(*first, *count - 1) : std::nullopt;
  if (last && *count > 0 && *first > IntBound::kNegInf && *last < IntBound::kPosInf) {
    bounds_.SetBound(var, {*first, *last});
    return ForgetRewrites();
  }
  const PrimExpr* end = make_.Add(min, extent);
  const IntBound lower = Bound(Simplify(min));
  const IntBound upper = Bound(Simplify(make_.Sub(end, make_.Const(1, extent->dtype))));
  bounds_.SetBound(var, {lower.min, upper.max});
  // Constant ends are bounds already.
  if (!AsInt(min)) AddOrder(var, make_.Binary(NodeKind::kGE, var, min));
  if (!AsInt(end)) AddOrder(var, make_.Binary(NodeKind::kLT, var, end));
  ForgetRewrites();
}

void Analyzer::Bind(const tir::Var* var, const PrimExpr* value) {
  bounds_.SetBound(var, Bound(value));
  bounds_.SetModular(var, bounds_.Modular(value));
  values_[var] = value;
  ForgetRewrites();
}

void Analyzer::Unbind(const tir::Var* var) {
  bounds_.Forget(var);
  values_.erase(var);
  DropOrders(var);
  ForgetRewrites();
}

void Analyzer::AddOrder(const tir::Var* var, const PrimExpr* condition) {
  const size_t before = var_orders_->size();
  var_orders_->Add(condition);
  const size_t added = var_orders_->size() - before;
  if (added == 0) return;
  if (!vars_with_facts_.insert(var)) {
    var_facts_.back().count += added;
  } else {
    var_facts_.push_back({var, added});
  }
}

// Variables are usually unbound in the reverse order of their bindings.
void Analyzer::DropOrders(const tir::Var* var) {
  if (!vars_with_facts_.erase(var)) return;
  size_t end = var_orders_->size();
  size_t i = var_facts_.size() - 1;
  for (; var_facts_[i].var != var; --i) end -= var_facts_[i].count;
  var_orders_->Erase(end - var_facts_[i].count, end);
  var_facts_.erase(var_facts_.begin() + static_cast<ptrdiff_t>(i));
}

Order Analyzer::CompareByFacts(const PrimExpr* a, const PrimExpr* b) const {
  const bool chains = extensions_.prove_transitively;
  if (orders_->size() == 0 && var_orders_->size() == 0) return Order::kUnknown;
  if (!chains) return orders_->Compare(a, b, false) & var_orders_->Compare(a, b, false);
  KnownOrders all;
  all.Append(*var_orders_);
  all.Append(*orders_);
  return all.Compare(a, b, true);
}

// n * c + d >= 0 with a positive c gives n >= -d / c. Where d is positive n >= -d is used, as in TVM, which leaves the
// factor out.
void Analyzer::MarkNonNegative(const PrimExpr* value) {
  const PrimExpr* size = value;
  std::optional<int64_t> offset = 0;
  while (value->kind == NodeKind::kAdd || value->kind == NodeKind::kSub) {
    const auto* sum = static_cast<const tir::BinaryExpr*>(value);
    const int64_t* constant = AsInt(sum->b);
    if (!constant) break;
    offset = value->kind == NodeKind::kAdd ? CheckedAdd(*offset, *constant) : CheckedSub(*offset, *constant);
    if (!offset) return;
    value = sum->a;
  }
  int64_t factor = 1;
  const auto* product = As<tir::Mul>(value);
  if (product && AsInt(product->b) && *AsInt(product->b) > 0) {
    factor = *AsInt(product->b);
    value = product->a;
  }
  if (AsInt(value) || !IsIndexType(value->dtype) || *offset == std::numeric_limits<int64_t>::min()) return;
  const auto* var = As<tir::Var>(value);
  if (!var) {
    bounds_.AddFact(size, {0, IntBound::kPosInf});
    return ForgetRewrites();
  }
  const int64_t least = *offset >= 0 ? -*offset : -FloorDivInt(*offset, factor);
  bounds_.SetBound(var, {least, IntBound::kPosInf});
  ForgetRewrites();
}

const PrimExpr* Analyzer::ValueOf(const tir::Var* var) const { return values_.Lookup(var); }

// The first one of a condition counts.
void Analyzer::AddLiteral(const PrimExpr* condition, bool holds) {
  if (!literals_.Find(condition)) literals_.Add(condition, holds);
}

int Analyzer::MatchConstraint(const PrimExpr* condition) const {
  const bool* holds = literals_.Find(condition);
  return holds ? *holds : -1;
}

Analyzer::Constraint::Constraint(Analyzer& analyzer, const PrimExpr* condition, bool within_expression)
    : analyzer_(analyzer),
      num_facts_(analyzer.bounds_.num_facts()),
      num_literals_(analyzer.literals_.size()),
      num_orders_(analyzer.orders_->size()),
      epoch_(analyzer.epoch_) {
  const PrimExpr* written = condition;
  condition = analyzer.RewriteSimplify(condition);
  ForEachConjunct(condition, [&](const PrimExpr* part) {
    if (AsInt(part) || (!within_expression && !IsPure(part))) return;
    // Before the part is known, by which its negation would be false.
    const PrimExpr* negated = analyzer.RewriteSimplify(analyzer.make_.Not(part));
    analyzer.AddLiteral(part, true);
    if (!AsInt(negated)) analyzer.AddLiteral(negated, false);
    AddFacts(part);
  });
  // The bounds of the expressions as they are written, too: what is simplified here may have the same form.
  if (written != condition) {
    ForEachConjunct(written, [&](const PrimExpr* part) {
      if (within_expression || IsPure(part)) AddFacts(part);
    });
  }
  analyzer.orders_->Add(condition);
  analyzer.ForgetRewrites();
}

void Analyzer::Constraint::AddFacts(const PrimExpr* condition) {
  BoundAnalyzer& bounds = analyzer_.bounds_;
  if (const auto fact = BoundFromComparison(condition)) bounds.AddFact(fact->first, fact->second);
  if (const auto modular = ModularFromEquality(condition)) {
    const ModularSet before = bounds.Modular(modular->first);
    modular_.push_back({modular->first, before});
    bounds.SetModular(modular->first, before.Intersect(modular->second));
  }
  analyzer_.ForgetRewrites();
}

Analyzer::Constraint::~Constraint() {
  analyzer_.bounds_.DropFacts(num_facts_);
  analyzer_.literals_.Resize(num_literals_);
  analyzer_.orders_->Resize(num_orders_);
  for (auto it = modular_.rbegin(); it != modular_.rend(); ++it) analyzer_.bounds_.SetModular(it->first, it->second);
  analyzer_.epoch_ = epoch_;
}

const PrimExpr* Simplify(const PrimExpr* e) {
  if (e->kind == NodeKind::kIntImm || tir::Var::ClassOf(e->kind)) return e;
  Analyzer analyzer;
  return analyzer.Simplify(e);
}

}  // namespace iropt::arith
