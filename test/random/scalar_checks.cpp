#include "scalar_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "any_scalar.h"
#include "choices.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/hash.h"
#include "iropt/text/script/printer.h"
#include "scalar_reference.h"

namespace iropt::generate {

namespace {

constexpr uint64_t kSeed = 31;
constexpr int kAssignments = 12;

int64_t ToBound(Exact value) {
  return static_cast<int64_t>(std::clamp<Exact>(value, arith::IntBound::kNegInf, arith::IntBound::kPosInf));
}

const PrimExpr* ConstantOf(Exact value, DataType dtype, const arith::PrimBuilder& make) {
  return make.Int(static_cast<int64_t>(static_cast<uint64_t>(value)), dtype);
}

// Builds the expression again with folding, with the values of the variables in place of them if there are values.
class Folder {
 public:
  Folder(const arith::PrimBuilder& make, const Assignment* values) : make_(make), values_(values) {}

  const PrimExpr* Fold(const PrimExpr* e) const {
    if (const auto* binary = As<tir::BinaryExpr>(e)) return make_.Binary(e->kind, Fold(binary->a), Fold(binary->b));
    switch (e->kind) {
      case NodeKind::kPrimVar: return FoldVar(static_cast<const tir::Var*>(e));
      case NodeKind::kCast: return make_.Cast(e->dtype, Fold(static_cast<const tir::Cast*>(e)->value));
      case NodeKind::kNot: return make_.Not(Fold(static_cast<const tir::Not*>(e)->a));
      case NodeKind::kSelect: {
        const auto* select = static_cast<const tir::Select*>(e);
        return make_.Select(Fold(select->condition), Fold(select->true_value), Fold(select->false_value));
      }
      case NodeKind::kPrimCall: return FoldCall(*static_cast<const tir::Call*>(e));
      case NodeKind::kRamp: {
        const auto* ramp = static_cast<const tir::Ramp*>(e);
        return make_.Ramp(Fold(ramp->base), Fold(ramp->stride), ramp->lanes);
      }
      case NodeKind::kBroadcast: {
        const auto* broadcast = static_cast<const tir::Broadcast*>(e);
        return make_.Broadcast(Fold(broadcast->value), broadcast->lanes);
      }
      default: return e;
    }
  }

 private:
  const PrimExpr* FoldVar(const tir::Var* var) const {
    return values_ ? ConstantOf(*values_->Find(var), var->dtype, make_) : var;
  }
  const PrimExpr* FoldCall(const tir::Call& call) const {
    static constexpr std::pair<OpId, arith::BitOp> kFolded[] = {{op::kTirShiftLeft, arith::BitOp::kShiftLeft},
                                                                {op::kTirShiftRight, arith::BitOp::kShiftRight},
                                                                {op::kTirBitwiseAnd, arith::BitOp::kAnd},
                                                                {op::kTirBitwiseOr, arith::BitOp::kOr},
                                                                {op::kTirBitwiseXor, arith::BitOp::kXor}};
    for (const auto& [id, bits] : kFolded) {
      if (IsOp(call.op, id)) return make_.Bitwise(bits, Fold(call.args[0]), Fold(call.args[1]));
    }
    std::vector<const PrimExpr*> args;
    for (const PrimExpr* arg : call.args) args.push_back(Fold(arg));
    return make_.Keep(tir::Call(call.dtype, call.op, make_.Operands(args)));
  }

  const arith::PrimBuilder& make_;
  const Assignment* values_;
};

class ScalarCheck {
 public:
  explicit ScalarCheck(uint64_t index)
      : choices_(HashCombine(kSeed, index)), maker_(choices_, workspace_), make_(workspace_) {}

  std::string Run() {
    const int depth = 1 + choices_.Below(4);
    const int kind = choices_.Below(10);
    if (kind == 0) {
      CheckVector(maker_.Vector(maker_.IntType(), 1 + choices_.Below(2)));
    } else if (kind < 4) {
      CheckCondition(maker_.Condition(depth));
    } else {
      CheckInt(maker_.Int(maker_.IntType(), depth));
    }
    return failure_;
  }

 private:
  // ---- Results for one assignment

  void Report(const PrimExpr* e, const Assignment& at, const std::string& text) {
    if (failure_.empty()) failure_ = fmt::format("{}\n  with {}\n  {}", ScalarToString(e), at.ToString(), text);
  }

  // Compares another form of the expression with its value.
  void Compare(const char* what, const PrimExpr* e, Exact value, const PrimExpr* other, const Assignment& at, int lane,
               Overflow overflow = Overflow::kUnbounded) {
    if (other->dtype != e->dtype) return Report(e, at, fmt::format("{} has dtype {}", what, other->dtype.ToString()));
    const auto found = ValueOf(other, at, overflow, lane);
    if (found == value || (found && *found == kTooBig)) return;
    Report(e, at,
           fmt::format("lane {} is {}; {}: {} is {}", lane, ToString(value), what, ScalarToString(other),
                       found ? ToString(*found) : "undefined"));
  }

  void CompareBounds(const PrimExpr* e, Exact value, arith::IntBound bound, arith::ModularSet set,
                     const Assignment& at) {
    const bool within = value >= bound.min && (value <= bound.max || bound.max == arith::IntBound::kPosInf);
    const bool congruent = set.coeff == 0 ? value == set.base : (value - set.base) % set.coeff == 0;
    if (within && congruent) return;
    Report(e, at,
           fmt::format("is {}, not within [{}, {}] or {} modulo {}", ToString(value), bound.min, bound.max, set.base,
                       set.coeff));
  }

  void Interpret(const PrimExpr* e, Exact value, const Assignment& at, int lane) {
    ScalarEvaluator evaluator;
    for (const auto& [var, number] : at.entries())
      evaluator.env().Bind(var, Scalar::Int(static_cast<int64_t>(static_cast<uint64_t>(number)), var->dtype));
    Scalar result;
    const bool done = evaluator.Eval(e, &result, lane);
    const bool is_unsigned = result.dtype.is_uint();
    const Exact found = is_unsigned ? Exact{static_cast<uint64_t>(result.integer)} : Exact{result.integer};
    if (!done || found != value)
      Report(e, at,
             fmt::format("is {}, interpreted {}", ToString(value), done ? ToString(found) : evaluator.error().message));
  }

  // ---- Expressions

  struct Form {
    const char* what;
    const PrimExpr* expr;
  };
  std::vector<Form> FormsOf(const PrimExpr* e, arith::Analyzer& analyzer) {
    Form forms[] = {{"simplified", nullptr}, {"by rules", nullptr}, {"canonical", nullptr}};
    forms[0].expr = analyzer.Simplify(e);
    forms[1].expr = analyzer.RewriteSimplify(e);
    forms[2].expr = analyzer.CanonicalSimplify(e);
    return {forms[0], forms[1], forms[2]};
  }

  // Calls f for assignments of values for which the expression is defined, with its value.
  template <class F>
  void ForValues(const PrimExpr* e, int lanes, F&& f) {
    for (int i = 0; i < kAssignments * lanes && failure_.empty(); ++i) {
      const Assignment at = maker_.AnyAssignment();
      if (const auto value = ValueOf(e, at, Overflow::kExact, i % lanes)) f(at, *value, i % lanes);
    }
  }

  void CompareForms(const PrimExpr* e, const std::vector<Form>& forms, const Assignment& at, Exact value, int lane) {
    for (const auto& [what, expr] : forms) Compare(what, e, value, expr, at, lane);
    for (const arith::PrimBuilder& make : {make_, make_.Exact()}) {
      Compare("folded", e, value, Folder(make, nullptr).Fold(e), at, lane, Overflow::kWrapping);
      Compare("folded with values", e, value, Folder(make, &at).Fold(e), at, lane, Overflow::kWrapping);
    }
    Interpret(e, value, at, lane);
  }

  // Tells the ranges of the variables in one of the ways that passes do.
  void Tell(arith::Analyzer& analyzer, arith::VarDomains& domains) {
    for (const auto& [var, min, max] : maker_.variables()) {
      if (var->dtype.is_bool()) continue;
      const PrimExpr* least = ConstantOf(min, var->dtype, make_);
      const Exact extent = max - min + 1;
      const bool is_range = arith::IsIndexType(var->dtype) && extent <= GreatestOf(var->dtype);
      if (is_range && choices_.OneIn(2)) {
        analyzer.Bind(var, least, ConstantOf(extent, var->dtype, make_));
      } else {
        analyzer.bounds().SetBound(var, {ToBound(min), ToBound(max)});
      }
      domains.insert_or_assign(var, arith::IntervalSet::Interval(least, ConstantOf(max, var->dtype, make_)));
    }
  }

  void CheckInt(const PrimExpr* e) {
    arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
    arith::VarDomains domains;
    Tell(analyzer, domains);
    const std::vector<Form> forms = FormsOf(e, analyzer);
    const arith::IntBound bound = analyzer.Bound(e);
    const arith::ModularSet set = analyzer.bounds().Modular(e);
    const arith::IntervalSet interval = arith::EvalSet(e, domains, analyzer);
    const auto limit = static_cast<int64_t>(maker_.Number(INT64_MIN, INT64_MAX));
    const bool at_least = analyzer.CanProveGreaterEqual(e, limit);
    const bool below = analyzer.CanProveLess(e, limit);
    ForValues(e, 1, [&](const Assignment& at, Exact value, int) {
      CompareForms(e, forms, at, value, 0);
      CompareBounds(e, value, bound, set, at);
      CompareSet(e, value, interval, at);
      if ((at_least && value < limit) || (below && value >= limit))
        Report(e, at, fmt::format("is {}, not {} {}", ToString(value), at_least ? ">=" : "<", limit));
    });
    CheckUnderConstraint(e);
  }

  void CompareSet(const PrimExpr* e, Exact value, arith::IntervalSet set, const Assignment& at) {
    // An end that overflows is one of values for which the expression does.
    const auto end = [&](const PrimExpr* expr) {
      return (expr ? ValueOf(expr, at, Overflow::kExact) : std::nullopt).value_or(value);
    };
    const Exact min = end(set.min());
    const Exact max = end(set.max());
    if (set.is_nothing() || min > value || max < value)
      Report(e, at, fmt::format("is {}, not in the set from {} to {}", ToString(value), ToString(min), ToString(max)));
  }

  void CheckVector(const PrimExpr* e) {
    arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
    arith::VarDomains domains;
    Tell(analyzer, domains);
    const std::vector<Form> forms = FormsOf(e, analyzer);
    const arith::IntBound bound = analyzer.Bound(e);
    const arith::IntervalSet interval = arith::EvalSet(e, domains, analyzer);
    ForValues(e, AnyScalar::kLanes, [&](const Assignment& at, Exact value, int lane) {
      // Lanes are computed together.
      for (int i = 0; i < AnyScalar::kLanes; ++i) {
        if (!ValueOf(e, at, Overflow::kExact, i)) return;
      }
      CompareForms(e, forms, at, value, lane);
      CompareBounds(e, value, bound, {}, at);
      CompareSet(e, value, interval, at);
    });
  }

  void CheckCondition(const PrimExpr* e) {
    arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
    arith::VarDomains domains;
    Tell(analyzer, domains);
    const std::vector<Form> forms = FormsOf(e, analyzer);
    const bool proven = analyzer.CanProve(e);
    const bool refuted = analyzer.CanProve(make_.Not(e));
    ForValues(e, 1, [&](const Assignment& at, Exact value, int) {
      CompareForms(e, forms, at, value, 0);
      if ((proven && value == 0) || (refuted && value != 0))
        Report(e, at, fmt::format("is {}, but {}", ToString(value), proven ? "proven" : "refuted"));
    });
    CheckUnderConstraint(e);
  }

  // Where the constraints hold, the simplified expression has the same value.
  void CheckUnderConstraint(const PrimExpr* e) {
    if (!failure_.empty()) return;
    const PrimExpr* first = maker_.Condition(choices_.Below(2));
    const PrimExpr* second = maker_.Condition(choices_.Below(2));
    arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
    analyzer.set_extensions({.prove_transitively = choices_.OneIn(2),
                             .and_of_ors = choices_.OneIn(2),
                             .constrain_branches = choices_.OneIn(2)});
    arith::VarDomains domains;
    Tell(analyzer, domains);
    const arith::Analyzer::Constraint outer(analyzer, first);
    const arith::Analyzer::Constraint inner(analyzer, second);
    const PrimExpr* simple = analyzer.Simplify(e);
    const arith::IntBound bound = analyzer.Bound(e);
    const arith::ModularSet set = analyzer.bounds().Modular(e);
    const PrimExpr* both = make_.Node(NodeKind::kAnd, first, second);
    ForValues(e, 1, [&](const Assignment& at, Exact value, int) {
      if (ValueOf(both, at, Overflow::kExact).value_or(0) == 0) return;
      const std::string what = fmt::format("where {}", ScalarToString(both));
      Compare(what.c_str(), e, value, simple, at, 0);
      CompareBounds(e, value, bound, set, at);
    });
  }

  Workspace workspace_;
  Choices choices_;
  AnyScalar maker_;
  arith::PrimBuilder make_;
  std::string failure_;
};

}  // namespace

std::string CheckScalar(uint64_t index) { return ScalarCheck(index).Run(); }

}  // namespace iropt::generate
