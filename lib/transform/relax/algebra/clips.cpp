#include "clips.h"

#include <cmath>
#include <optional>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
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

DataType DTypeOf(const Expr* value) {
  const TensorType* tensor = TensorTypeOf(value);
  return tensor ? tensor->dtype : DataType::Void();
}

}  // namespace

void AddClipRules(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern clip = IsCall(GetOp(op::kClip), {x, Wildcard(), Wildcard()});
  // clip(x, a, b) = x, if a and b are beyond the ends of the dtype
  rules.Add({"clip to the range of the dtype", clip, [=](const Match& match, BlockBuilder&) -> const Expr* {
               const auto range = RangeOf(DTypeOf(match[x]));
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
               const auto own = RangeOf(DTypeOf(clipped));
               const auto range = RangeOf(DTypeOf(match[narrow]));
               const auto last = RangeOf(DTypeOf(match[wide]));
               const auto bounds = BoundsOf(*match.CallAt(clip));
               if (!range || !bounds || !range->Contain(*bounds)) return nullptr;
               if (!own && (!last || !last->Contain(*bounds))) return nullptr;
               if (TypeEqual(clipped->type, match[wide]->type)) return clipped;
               return OpBuilder(builder).Make(op::kAstype, {clipped}, match.CallAt(wide)->attrs);
             }});
}

}  // namespace iropt
