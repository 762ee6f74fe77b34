#include "any_scalar.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::generate {

namespace {

// Those of indices more often.
const DataType kIntTypes[] = {DataType::Int(32),  DataType::Int(64),  DataType::Int(32),  DataType::Int(64),
                              DataType::Int(8),   DataType::Int(16),  DataType::UInt(8),  DataType::UInt(16),
                              DataType::UInt(32), DataType::UInt(64), DataType::UInt(64), DataType::Int(32)};

constexpr NodeKind kIntKinds[] = {NodeKind::kAdd,      NodeKind::kSub,      NodeKind::kMul, NodeKind::kAdd,
                                  NodeKind::kSub,      NodeKind::kMul,      NodeKind::kDiv, NodeKind::kMod,
                                  NodeKind::kFloorDiv, NodeKind::kFloorMod, NodeKind::kMin, NodeKind::kMax,
                                  NodeKind::kFloorDiv, NodeKind::kFloorMod};
constexpr NodeKind kComparisons[] = {NodeKind::kEQ, NodeKind::kNE, NodeKind::kLT,
                                     NodeKind::kLE, NodeKind::kGT, NodeKind::kGE};

bool Divides(NodeKind kind) { return kind >= NodeKind::kDiv && kind <= NodeKind::kFloorMod; }

}  // namespace

AnyScalar::AnyScalar(Choices& choices, Workspace& workspace)
    : choices_(choices), workspace_(workspace), make_(workspace) {}

DataType AnyScalar::IntType() { return choices_.Pick(kIntTypes); }

Exact AnyScalar::Number(Exact min, Exact max) {
  const auto offset = [&] { return Exact{choices_.Below(4)}; };
  Exact value = 0;
  switch (choices_.Below(8)) {
    case 0: value = min + offset(); break;
    case 1: value = max - offset(); break;
    case 2:
    case 3:
    case 4: value = choices_.Below(24) - 6; break;
    case 5: value = (Exact{1} << choices_.Below(64)) + choices_.Below(3) - 1; break;
    case 6: value = -(Exact{1} << choices_.Below(64)) + choices_.Below(3) - 1; break;
    default:
      for (int i = 0; i < 5; ++i) value = value * (1 << 16) + choices_.Below(1 << 16);
      value = min + value % (max - min + 1);
  }
  return std::clamp(value, min, max);
}

const tir::Var* AnyScalar::VarOf(DataType dtype) {
  constexpr int kMostOfOneType = 2;
  std::vector<const tir::Var*> known;
  for (const Variable& variable : variables_) {
    if (variable.var->dtype == dtype) known.push_back(variable.var);
  }
  if (static_cast<int>(known.size()) == kMostOfOneType || (!known.empty() && choices_.OneIn(2)))
    return choices_.Pick(known);
  const tir::Var* var =
      workspace_.NewPrimVar(fmt::format("{}{}", dtype.is_bool() ? 'b' : 'v', variables_.size()), dtype);
  const Exact least = LeastOf(dtype);
  const Exact greatest = GreatestOf(dtype);
  Variable variable{var, least, greatest};
  if (!dtype.is_bool() && !choices_.OneIn(4)) {
    variable.min = Number(least, greatest);
    variable.max = choices_.OneIn(3) ? Number(variable.min, greatest)
                                     : std::min<Exact>(greatest, variable.min + choices_.Below(20));
  }
  variables_.push_back(variable);
  return var;
}

Assignment AnyScalar::AnyAssignment() {
  Assignment values;
  for (const auto& [var, min, max] : variables_) values.Set(var, Number(min, max));
  return values;
}

const PrimExpr* AnyScalar::Constant(DataType dtype) {
  return make_.Int(static_cast<int64_t>(Number(LeastOf(dtype), GreatestOf(dtype))), dtype);
}

const PrimExpr* AnyScalar::Leaf(DataType dtype) { return choices_.OneIn(3) ? Constant(dtype) : VarOf(dtype); }

const PrimExpr* AnyScalar::Call(DataType dtype, OpId id, std::initializer_list<const PrimExpr*> args) {
  return make_.Keep(tir::Call(dtype, GetOp(id), make_.Operands({args.begin(), args.size()})));
}

const PrimExpr* AnyScalar::Arithmetic(DataType dtype, int depth) {
  const NodeKind kind = choices_.Pick(kIntKinds);
  const PrimExpr* a = Int(dtype, depth - 1);
  const bool is_constant = choices_.Below(4) < (Divides(kind) ? 3 : 2);
  return make_.Node(kind, a, is_constant ? Constant(dtype) : Int(dtype, depth - 1));
}

const PrimExpr* AnyScalar::Bits(DataType dtype, int depth) {
  static constexpr OpId kOps[] = {op::kTirShiftLeft, op::kTirShiftRight, op::kTirBitwiseAnd, op::kTirBitwiseOr,
                                  op::kTirBitwiseXor};
  if (choices_.OneIn(8)) return Call(dtype, op::kTirBitwiseNot, {Int(dtype, depth - 1)});
  const OpId id = choices_.Pick(kOps);
  const PrimExpr* a = Int(dtype, depth - 1);
  const bool shifts = id == op::kTirShiftLeft || id == op::kTirShiftRight;
  if (shifts && !choices_.OneIn(5)) return Call(dtype, id, {a, make_.Int(choices_.Below(dtype.bits), dtype)});
  return Call(dtype, id, {a, choices_.OneIn(2) ? Constant(dtype) : Int(dtype, depth - 1)});
}

const PrimExpr* AnyScalar::Conversion(DataType dtype, int depth) {
  if (choices_.OneIn(6)) return make_.Keep(tir::Cast(dtype, Condition(depth - 1)));
  const PrimExpr* value = Int(IntType(), depth - 1);
  if (choices_.OneIn(8)) value = make_.Keep(tir::Cast(DataType::Float(choices_.OneIn(2) ? 32 : 64), value));
  return make_.Keep(tir::Cast(dtype, value));
}

const PrimExpr* AnyScalar::Int(DataType dtype, int depth) {
  if (depth <= 0) return Leaf(dtype);
  switch (choices_.Below(12)) {
    case 0: return Leaf(dtype);
    case 1:
    case 2: return Conversion(dtype, depth);
    case 3: return make_.Keep(tir::Select(Condition(depth - 1), Int(dtype, depth - 1), Int(dtype, depth - 1)));
    case 4:
      return Call(dtype, op::kTirIfThenElse, {Condition(depth - 1), Int(dtype, depth - 1), Int(dtype, depth - 1)});
    case 5: return Bits(dtype, depth);
    default: return Arithmetic(dtype, depth);
  }
}

const PrimExpr* AnyScalar::Condition(int depth) {
  if (depth <= 0 && choices_.OneIn(4)) return VarOf(DataType::Bool());
  if (depth > 0 && choices_.OneIn(3)) {
    if (choices_.OneIn(4)) return make_.Keep(tir::Not(Condition(depth - 1)));
    return make_.Node(choices_.OneIn(2) ? NodeKind::kAnd : NodeKind::kOr, Condition(depth - 1), Condition(depth - 1));
  }
  if (depth > 0 && choices_.OneIn(12)) return make_.Keep(tir::Cast(DataType::Bool(), Int(IntType(), depth - 1)));
  const DataType dtype = IntType();
  const PrimExpr* a = Int(dtype, depth - 1);
  return make_.Node(choices_.Pick(kComparisons), a, choices_.OneIn(3) ? Constant(dtype) : Int(dtype, depth - 1));
}

const PrimExpr* AnyScalar::Vector(DataType element, int depth) {
  const DataType dtype = element.with_lanes(kLanes);
  const PrimExpr* lanes = make_.Lanes(dtype);
  if (depth <= 0 || choices_.OneIn(4)) {
    const PrimExpr* base = Int(element, choices_.Below(2));
    if (choices_.OneIn(3)) return make_.Keep(tir::Broadcast(dtype, base, lanes));
    const PrimExpr* stride = make_.Int(static_cast<int64_t>(Number(LeastOf(element), GreatestOf(element))), element);
    return make_.Keep(tir::Ramp(dtype, base, stride, lanes));
  }
  if (choices_.OneIn(6)) return make_.Keep(tir::Cast(dtype, Vector(IntType(), depth - 1)));
  const PrimExpr* right =
      choices_.OneIn(2) ? make_.Keep(tir::Broadcast(dtype, Constant(element), lanes)) : Vector(element, depth - 1);
  return make_.Node(choices_.Pick(kIntKinds), Vector(element, depth - 1), right);
}

}  // namespace iropt::generate
