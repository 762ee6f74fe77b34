// The analyzer on random expressions of narrow and unsigned dtypes, which wrap around, and of vectors, against values.
#include <fmt/format.h>

#include <random>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/text/script/printer.h"

namespace iropt::arith::test {
namespace {

constexpr NodeKind kArithmetic[] = {NodeKind::kAdd,      NodeKind::kSub, NodeKind::kMul,
                                    NodeKind::kMin,      NodeKind::kMax, NodeKind::kDiv,
                                    NodeKind::kFloorDiv, NodeKind::kMod, NodeKind::kFloorMod};
// The value of a lane as its dtype holds it; nothing if it divides by zero, or if an index overflows.
std::optional<int64_t> EvalLane(const PrimExpr* e, const Env& env, int64_t lane) {
  const auto of = [&](const PrimExpr* operand) { return EvalLane(operand, env, lane); };
  const DataType element = e->dtype.with_lanes(1);
  if (const int64_t* value = AsInt(e)) return *value;
  if (const auto* var = As<tir::Var>(e)) return env.at(var);
  if (const auto* copies = As<tir::Broadcast>(e)) return of(copies->value);
  if (const auto* cast = As<tir::Cast>(e)) {
    const auto value = of(cast->value);
    if (!value || (IsIndexType(element) && !FitsIn(*value, element))) return std::nullopt;
    return element.is_bool() ? *value != 0 : WrapInteger(*value, element);
  }
  if (const auto* ramp = As<tir::Ramp>(e)) {
    const auto base = of(ramp->base);
    const auto stride = of(ramp->stride);
    return base && stride ? std::optional(*base + *stride * lane) : std::nullopt;
  }
  if (const auto* negation = As<tir::Not>(e)) {
    const auto value = of(negation->a);
    return value ? std::optional<int64_t>(*value == 0) : std::nullopt;
  }
  if (const auto* select = As<tir::Select>(e)) {
    const auto condition = of(select->condition);
    return condition ? of(*condition ? select->true_value : select->false_value) : std::nullopt;
  }
  const auto* binary = To<tir::BinaryExpr>(e);
  const auto a = of(binary->a);
  const auto b = of(binary->b);
  if (!a || !b) return std::nullopt;
  if (e->kind == NodeKind::kAnd) return *a && *b;
  if (e->kind == NodeKind::kOr) return *a || *b;
  const auto value = FoldIntegers(e->kind, *a, *b);
  if (!value || element.is_bool()) return value;
  if (IsIndexType(element)) return FitsIn(*value, element) ? value : std::nullopt;
  return WrapInteger(*value, element);
}

class DTypeProperties {
 protected:
  size_t Pick(size_t n) { return random_() % n; }
  DataType PickDType() { return dtypes_[Pick(dtypes_.size())]; }

  void AddVariables() {
    for (const DataType dtype : dtypes_) {
      for (const char* name : {"x", "y"})
        vars_.push_back(workspace_.NewPrimVar(fmt::format("{}_{}", name, dtype.ToString()), dtype));
    }
  }

  const PrimExpr* Constant(DataType dtype) {
    static constexpr int64_t kValues[] = {0, 1, 2, 3, 4, 8, 16, 100, 255, -1, -3};
    const int64_t value = kValues[Pick(std::size(kValues))];
    return make_.Int(FitsIn(value, dtype) ? value : 2, dtype);
  }
  const PrimExpr* Leaf(DataType dtype) {
    if (Pick(3) == 0) return Constant(dtype);
    const auto index = static_cast<size_t>(std::ranges::find(dtypes_, dtype) - dtypes_.begin());
    return vars_[2 * index + Pick(2)];
  }
  const PrimExpr* Int(DataType dtype, int depth) {
    if (depth == 0) return Leaf(dtype);
    switch (Pick(8)) {
      case 0: return Leaf(dtype);
      case 1: return make_.Keep(tir::Cast(dtype, Int(PickDType(), depth - 1)));
      case 2: return make_.Keep(tir::Cast(dtype, Condition(depth - 1)));
      case 3: return make_.Keep(tir::Select(Condition(depth - 1), Int(dtype, depth - 1), Int(dtype, depth - 1)));
      default: {
        const PrimExpr* right = Pick(2) ? Constant(dtype) : Int(dtype, depth - 1);
        return make_.Node(kArithmetic[Pick(std::size(kArithmetic))], Int(dtype, depth - 1), right);
      }
    }
  }
  const PrimExpr* Condition(int depth) {
    if (depth > 0 && Pick(3) == 0) {
      if (Pick(3) == 0) return make_.Keep(tir::Not(Condition(depth - 1)));
      return make_.Node(Pick(2) ? NodeKind::kAnd : NodeKind::kOr, Condition(depth - 1), Condition(depth - 1));
    }
    const DataType dtype = PickDType();
    const int below = std::max(depth - 1, 0);
    return make_.Node(kOrders[Pick(std::size(kOrders))], Int(dtype, below), Int(dtype, below));
  }

  // Four lanes of int32.
  const PrimExpr* Vector(int depth) {
    const DataType scalar = DataType::Int(32);
    const DataType dtype = scalar.with_lanes(kLanes);
    const PrimExpr* lanes = make_.Int(kLanes, scalar);
    if (depth == 0 || Pick(4) == 0) {
      const PrimExpr* base = Pick(2) ? make_.Mul(Leaf(scalar), make_.Int(int64_t{1} << Pick(4), scalar)) : Leaf(scalar);
      if (Pick(3) == 0) return make_.Keep(tir::Broadcast(dtype, base, lanes));
      return make_.Keep(tir::Ramp(dtype, base, make_.Int(static_cast<int64_t>(Pick(7)) - 2, scalar), lanes));
    }
    const PrimExpr* right = Pick(2) ? make_.Keep(tir::Broadcast(dtype, Constant(scalar), lanes)) : Vector(depth - 1);
    return make_.Node(kArithmetic[Pick(std::size(kArithmetic))], Vector(depth - 1), right);
  }
  const PrimExpr* VectorCondition(int depth) {
    if (depth > 0 && Pick(2) == 0)
      return make_.Node(Pick(2) ? NodeKind::kAnd : NodeKind::kOr, VectorCondition(depth - 1),
                        VectorCondition(depth - 1));
    return make_.Node(kOrders[Pick(std::size(kOrders))], Vector(1), Vector(depth));
  }

  // Extremes of narrow dtypes, and small numbers of all.
  int64_t Value(DataType dtype) {
    const IntBound all = IntBound::Everything(dtype);
    if (dtype.bits <= 16 && Pick(4) == 0) return Pick(2) ? all.min : all.max;
    const int64_t value = static_cast<int64_t>(Pick(41)) - (dtype.is_uint() ? 0 : 20);
    return std::clamp(value, all.min, all.max);
  }
  Env RandomValues() {
    Env env;
    for (const tir::Var* var : vars_) env[var] = Value(var->dtype);
    return env;
  }

  void Check(const PrimExpr* e, int lanes) {
    Analyzer analyzer(make_, Analyzer::SymVars::kAny);
    const PrimExpr* simple = analyzer.Simplify(e);
    const IntBound bound = analyzer.Bound(e);
    const ModularSet set = lanes == 1 ? analyzer.bounds().Modular(e) : ModularSet();
    if (simple->dtype != e->dtype)
      FAIL_CHECK(ScalarToString(e) << " became " << ScalarToString(simple) << " of dtype " << simple->dtype.ToString());
    changed_ += !DeepEqual(simple, e);
    for (int i = 0; i < 12 * lanes; ++i) {
      const Env env = RandomValues();
      const auto value = EvalLane(e, env, i % lanes);
      if (!value) continue;
      const auto found = EvalLane(simple, env, i % lanes);
      const bool member = set.coeff == 0 ? *value == set.base : (*value - set.base) % set.coeff == 0;
      if (found == value && *value >= bound.min && *value <= bound.max && member) continue;
      std::string at;
      for (const auto& [var, number] : env) at += fmt::format(" {}={}", var->name, number);
      FAIL_CHECK(ScalarToString(e) << "\n  with" << at << "\n  is " << *value << "; it became "
                                   << ScalarToString(simple) << " = " << (found ? std::to_string(*found) : "undefined")
                                   << ", within [" << bound.min << ", " << bound.max << "], " << set.base << " modulo "
                                   << set.coeff);
      return;
    }
  }

  static constexpr int kLanes = 4;
  IRContext context_;
  IRContext::Scope scope_{context_};
  Workspace workspace_;
  PrimBuilder make_{PrimBuilder(workspace_).Exact()};
  std::mt19937 random_{17};
  std::vector<DataType> dtypes_;
  std::vector<const tir::Var*> vars_;
  int changed_ = 0;
};

TEST_CASE_METHOD(DTypeProperties, "random expressions of narrow and unsigned dtypes", "[arith]") {
  dtypes_ = {DataType::Int(32), DataType::Int(64),  DataType::Int(8),
             DataType::UInt(8), DataType::UInt(16), DataType::UInt(32)};
  AddVariables();
  for (int i = 0; i < 30000; ++i) Check(i % 4 ? Int(PickDType(), 1 + i % 3) : Condition(1 + i % 3), 1);
  CHECK(changed_ > 5000);
}

TEST_CASE_METHOD(DTypeProperties, "random vectors, lane by lane", "[arith]") {
  dtypes_ = {DataType::Int(32)};
  AddVariables();
  for (int i = 0; i < 20000; ++i) Check(i % 4 ? Vector(1 + i % 3) : VectorCondition(i % 3), kLanes);
  CHECK(changed_ > 5000);
}

}  // namespace
}  // namespace iropt::arith::test
