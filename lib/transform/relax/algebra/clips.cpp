#include "clips.h"

#include <cmath>
#include <optional>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/unary.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

struct Bounds {
  double least;
  double greatest;
  // Returns whether all values of the other are within these.
  bool Contain(const Bounds& other) const { return least <= other.least && other.greatest <= greatest; }
};

// Of an integer dtype; nothing for others.
std::optional<Bounds> RangeOf(DataType dtype) {
  if (!dtype.is_integer() || dtype.is_bool()) return std::nullopt;
  if (dtype.is_uint()) return Bounds{0, std::ldexp(1.0, dtype.bits) - 1};
  return Bounds{-std::ldexp(1.0, dtype.bits - 1), std::ldexp(1.0, dtype.bits - 1) - 1};
}

std::optional<double> LimitOf(const Expr* operand) {
  const auto* scalar = As<PrimValue>(operand);
  if (!scalar) return std::nullopt;
  if (const int64_t* integer = arith::AsInt(scalar->value)) return static_cast<double>(*integer);
  const auto* real = As<tir::FloatImm>(scalar->value);
  return real ? std::optional(real->value) : std::nullopt;
}

// The values that a clip lets through.
std::optional<Bounds> BoundsOf(const Call& clip) {
  const auto least = LimitOf(clip.args[1]);
  const auto greatest = LimitOf(clip.args[2]);
  if (!least || !greatest || !(*least <= *greatest)) return std::nullopt;
  return Bounds{*least, *greatest};
}

DataType DTypeOfValue(const Expr* value) {
  const TensorType* tensor = TensorTypeOf(value);
  return tensor ? tensor->dtype : DataType::Void();
}

// clip(clip(x, a, b), c, d) and relu(clip(x, a, b)): what the second one makes of the limits of the first one.
void AddClipsTwice(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern inner = IsCall(GetOp(op::kClip), {x, Wildcard(), Wildcard()}).UsedOnce();
  const Pattern outer = IsCall(GetOp(op::kClip), {inner, Wildcard(), Wildcard()});
  const Pattern relu = IsCall(GetOp(op::kNnRelu), {inner});
  const auto merged = [=](const Match& match, BlockBuilder& builder, const Expr* low, const Expr* high) -> const Expr* {
    const Call& clip = *match.CallAt(inner);
    const auto bounds = BoundsOf(clip);
    if (!bounds) return nullptr;
    const auto clamped = [&](const Expr* limit, double value) {
      if (value < *LimitOf(low)) return low;
      return high != nullptr && value > *LimitOf(high) ? high : limit;
    };
    return OpBuilder(builder).Make(
        op::kClip, {match[x], clamped(clip.args[1], bounds->least), clamped(clip.args[2], bounds->greatest)});
  };
  rules.Add({"clip of a clip", outer, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Call& clip = *match.CallAt(outer);
               return BoundsOf(clip) ? merged(match, builder, clip.args[1], clip.args[2]) : nullptr;
             }});
  rules.Add({"relu of a clip", relu, [=](const Match& match, BlockBuilder& builder) {
               const PrimExpr* zero = IRContext::Current().Int(0);
               return merged(match, builder, builder.workspace().New<PrimValue>(zero, PrimType::Get(zero)), nullptr);
             }});
}

}  // namespace

void AddClipRules(RuleSet& rules) {
  AddClipsTwice(rules);
  const Pattern x = Wildcard();
  const Pattern clip = IsCall(GetOp(op::kClip), {x, Wildcard(), Wildcard()});
  // clip(x, a, b) = x, if a and b are beyond the ends of the dtype
  rules.Add({"clip to the range of the dtype", clip, [=](const Match& match, BlockBuilder&) -> const Expr* {
               const auto range = RangeOf(DTypeOfValue(match[x]));
               const auto bounds = BoundsOf(*match.CallAt(clip));
               const bool same = TypeEqual(match[x]->type, match[clip]->type);
               return same && range && bounds && bounds->Contain(*range) ? match[x] : nullptr;
             }});
  // astype(astype(clip(x, a, b), t), u) = astype(clip(x, a, b), u), if t has all integers from a to b; floats are
  // truncated once, if u has these integers, too
  const Pattern narrow = IsCall(GetOp(op::kAstype), {clip});
  const Pattern wide = IsCall(GetOp(op::kAstype), {narrow});
  rules.Add({"cast of a clip that fits", wide, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Expr* clipped = match[clip];
               const auto own = RangeOf(DTypeOfValue(clipped));
               const auto range = RangeOf(DTypeOfValue(match[narrow]));
               const auto last = RangeOf(DTypeOfValue(match[wide]));
               const auto bounds = BoundsOf(*match.CallAt(clip));
               if (!range || !bounds || !range->Contain(*bounds)) return nullptr;
               if (!own && (!last || !last->Contain(*bounds))) return nullptr;
               if (TypeEqual(clipped->type, match[wide]->type)) return clipped;
               return OpBuilder(builder).Make(op::kAstype, {clipped}, match.CallAt(wide)->attrs);
             }});
}

}  // namespace iropt
