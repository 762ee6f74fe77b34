#include "any_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "iropt/arith/const_fold.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"

namespace iropt::generate {

namespace {

constexpr int kLanes = 4;

const DataType kScalars[] = {DataType::Int(32),   DataType::Int(64),   DataType::Int(8),   DataType::Int(16),
                             DataType::UInt(8),   DataType::UInt(32),  DataType::UInt(64), DataType::Float(32),
                             DataType::Float(64), DataType::Float(16), DataType::Bool(),   DataType::BFloat(16),
                             DataType::Int(32),   DataType::Float(32)};

bool IsSigned(DataType dtype) { return dtype.code == TypeCode::kInt; }

}  // namespace

DataType ExprMaker::ScalarType() { return choices_.Pick(kScalars); }

std::string_view ExprMaker::Name(std::string_view hint) {
  // Names repeat, so that the printer must make them different.
  const std::string name = choices_.OneIn(3) ? std::string(hint) : fmt::format("{}{}", hint, num_names_++ % 5);
  return workspace_.arena().CopyString(name);
}

const tir::Var* ExprMaker::NewVar(DataType dtype) {
  if (dtype.is_int() && choices_.OneIn(8))
    return workspace_.New<tir::SizeVar>(Name("n"), dtype, workspace_.NextVarId());
  return workspace_.NewPrimVar(Name("v"), dtype);
}

const PrimExpr* ExprMaker::Constant(DataType dtype) {
  const DataType element = dtype.with_lanes(1);
  const PrimExpr* scalar = nullptr;
  if (element.is_floating()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kValues[] = {0.0,        -0.0, 1.0,  -1.25,
                                         0.5,        2.0,  1e30, kInfinity,
                                         -kInfinity, 0.1,  3.0,  std::numeric_limits<double>::quiet_NaN()};
    // Begins of ranges are compared with numbers, of which NaN is not equal to itself.
    const double value = choices_.Pick(kValues);
    scalar = make_.Float(std::isnan(value) && !has_binders_ ? 0 : value, element);
  } else {
    static constexpr int64_t kValues[] = {0, 1, 2, 3, -1, 4, 16, 127, -128, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    int64_t value = choices_.Pick(kValues);
    if (!arith::FitsIn(value, element)) value = choices_.Below(2);
    scalar = make_.Int(value, element);
  }
  return dtype.is_scalar() ? scalar : make_.Keep(tir::Broadcast(dtype, scalar, make_.Lanes(dtype)));
}

const PrimExpr* ExprMaker::Leaf(DataType dtype) {
  std::vector<const tir::Var*> fitting;
  for (const tir::Var* var : scope_.vars) {
    if (var->dtype == dtype) fitting.push_back(var);
  }
  if (!fitting.empty() && !choices_.OneIn(3)) return choices_.Pick(fitting);
  return Constant(dtype);
}

const PrimExpr* ExprMaker::Call(OpId op, DataType dtype, const std::vector<const PrimExpr*>& args) {
  return make_.Keep(tir::Call(dtype, GetOp(op), make_.Operands(args)));
}

const PrimExpr* ExprMaker::Make(DataType dtype, int depth) {
  return dtype.is_scalar() ? Scalar(dtype, depth) : Vector(dtype, depth);
}

const PrimExpr* ExprMaker::IndexOf(DataType dtype, int depth) {
  const bool outer = std::exchange(has_binders_, false);
  const PrimExpr* index = Make(dtype, depth);
  has_binders_ = outer;
  return index;
}

const PrimExpr* ExprMaker::Binary(DataType dtype, int depth) {
  static constexpr NodeKind kKinds[] = {NodeKind::kAdd,      NodeKind::kSub, NodeKind::kMul,
                                        NodeKind::kDiv,      NodeKind::kMod, NodeKind::kFloorDiv,
                                        NodeKind::kFloorMod, NodeKind::kMin, NodeKind::kMax};
  const PrimExpr* a = Make(dtype, depth - 1);
  const PrimExpr* b = depth == 1 && choices_.OneIn(8) ? a : Make(dtype, depth - 1);
  return make_.Node(choices_.Pick(kKinds), a, b);
}

const PrimExpr* ExprMaker::Bits(DataType dtype, int depth) {
  static constexpr OpId kOps[] = {op::kTirBitwiseAnd, op::kTirBitwiseOr, op::kTirBitwiseXor, op::kTirShiftLeft,
                                  op::kTirShiftRight};
  if (choices_.OneIn(6)) return Call(op::kTirBitwiseNot, dtype, {Make(dtype, depth - 1)});
  return Call(choices_.Pick(kOps), dtype, {Make(dtype, depth - 1), Make(dtype, depth - 1)});
}

const PrimExpr* ExprMaker::Math(DataType dtype, int depth) {
  static constexpr OpId kUnary[] = {op::kTirExp,  op::kTirSqrt,  op::kTirTanh,      op::kTirFloor,
                                    op::kTirCeil, op::kTirRound, op::kTirNearbyint, op::kTirTrunc,
                                    op::kTirFabs, op::kTirErf,   op::kTirSigmoid};
  static constexpr OpId kBinary[] = {op::kTirPow, op::kTirAtan2, op::kTirFmod, op::kTirCopysign};
  if (choices_.OneIn(3)) return Call(choices_.Pick(kBinary), dtype, {Make(dtype, depth - 1), Make(dtype, depth - 1)});
  return Call(choices_.Pick(kUnary), dtype, {Make(dtype, depth - 1)});
}

const PrimExpr* ExprMaker::LetOf(DataType dtype, int depth) {
  const DataType bound = ScalarType();
  const PrimExpr* value = Make(bound, depth - 1);
  const tir::Var* var = NewVar(bound);
  scope_.vars.push_back(var);
  const PrimExpr* body = Make(dtype, depth - 1);
  std::erase(scope_.vars, var);
  return make_.Keep(tir::Let(var, value, body));
}

const tir::CommReducer* ExprMaker::Reducer(DataType dtype) {
  const tir::Var* x = workspace_.NewPrimVar(Name("x"), dtype);
  const tir::Var* y = workspace_.NewPrimVar(Name("y"), dtype);
  const PrimExpr* result = make_.Node(choices_.OneIn(2) ? NodeKind::kAdd : NodeKind::kMax, x, y);
  return workspace_.New<tir::CommReducer>(Copy(std::vector{x}), Copy(std::vector{y}), Copy(std::vector{result}),
                                          Copy(std::vector{Constant(dtype)}));
}

const PrimExpr* ExprMaker::ReduceOf(DataType dtype, int depth) {
  const tir::CommReducer* reducer = Reducer(dtype);
  const DataType index = IndexType();
  const tir::Var* var = workspace_.NewPrimVar(Name("k"), index);
  const auto* dom = workspace_.New<tir::Range>(make_.Int(0, index), make_.Int(8, index));
  const auto* axis = workspace_.New<tir::IterVar>(dom, var, tir::IterVarType::kCommReduce);
  scope_.vars.push_back(var);
  const PrimExpr* source = Make(dtype, depth - 1);
  const PrimExpr* condition = choices_.OneIn(2) ? make_.Bool(true) : Condition(depth - 1);
  std::erase(scope_.vars, var);
  std::vector<const PrimExpr*> init;
  if (choices_.OneIn(2)) init.push_back(Constant(dtype));
  return make_.Keep(
      tir::Reduce(dtype, reducer, Copy(std::vector{source}), Copy(init), Copy(std::vector{axis}), condition, 0));
}

std::vector<const PrimExpr*> ExprMaker::Indices(const tir::Buffer& buffer, int depth) {
  std::vector<const PrimExpr*> indices;
  for (size_t i = 0; i < buffer.shape.size(); ++i) indices.push_back(Index(depth - 1));
  return indices;
}

const PrimExpr* ExprMaker::Load(DataType dtype, int depth) {
  std::vector<const tir::Buffer*> fitting;
  for (const tir::Buffer* buffer : scope_.buffers) {
    const bool fits =
        dtype.is_scalar() ? buffer->dtype == dtype : !buffer->shape.empty() && buffer->dtype == dtype.with_lanes(1);
    if (fits) fitting.push_back(buffer);
  }
  if (fitting.empty()) return nullptr;
  const tir::Buffer* buffer = choices_.Pick(fitting);
  std::vector<const PrimExpr*> indices = Indices(*buffer, depth);
  const PrimExpr* predicate = nullptr;
  if (!dtype.is_scalar()) {
    indices.back() = IndexOf(DataType::Int(32, dtype.lanes), depth - 1);
    if (choices_.OneIn(4)) predicate = Make(DataType::Bool().with_lanes(dtype.lanes), depth - 1);
  }
  return make_.Keep(tir::BufferLoad(dtype, buffer, make_.Operands(indices), predicate));
}

const PrimExpr* ExprMaker::CallOfUnknown(DataType dtype, int depth) {
  std::vector<const PrimExpr*> args = {make_.Keep(tir::StringImm(choices_.OneIn(2) ? "f" : "a \"b\"\n"))};
  for (int i = choices_.Below(3); i > 0; --i) args.push_back(Make(ScalarType(), depth - 1));
  if (!scope_.pointers.empty()) args.push_back(choices_.Pick(scope_.pointers));
  return Call(choices_.OneIn(2) ? op::kTirCallExtern : op::kTirCallPureExtern, dtype, args);
}

const PrimExpr* ExprMaker::Truth(int depth) {
  static constexpr NodeKind kComparisons[] = {NodeKind::kEQ, NodeKind::kNE, NodeKind::kLT,
                                              NodeKind::kLE, NodeKind::kGT, NodeKind::kGE};
  switch (choices_.Below(5)) {
    case 0: return make_.Keep(tir::Not(Condition(depth - 1)));
    case 1:
      return make_.Node(choices_.OneIn(2) ? NodeKind::kAnd : NodeKind::kOr, Condition(depth - 1), Condition(depth - 1));
    case 2: return Call(op::kTirLikely, DataType::Bool(), {Condition(depth - 1)});
    case 3: {
      static constexpr int kBits[] = {16, 32, 64};
      return Call(op::kTirIsNan, DataType::Bool(), {Make(DataType::Float(choices_.Pick(kBits)), depth - 1)});
    }
    default: {
      const DataType operands = ScalarType();
      return make_.Node(choices_.Pick(kComparisons), Make(operands, depth - 1), Make(operands, depth - 1));
    }
  }
}

const PrimExpr* ExprMaker::Scalar(DataType dtype, int depth) {
  if (depth <= 0) return Leaf(dtype);
  switch (choices_.Below(14)) {
    case 0: return make_.Keep(tir::Cast(dtype, Make(ScalarType(), depth - 1)));
    case 1: return make_.Keep(tir::Select(Condition(depth - 1), Make(dtype, depth - 1), Make(dtype, depth - 1)));
    case 2: return has_binders_ ? LetOf(dtype, depth) : Leaf(dtype);
    case 3:
      return Call(op::kTirIfThenElse, dtype, {Condition(depth - 1), Make(dtype, depth - 1), Make(dtype, depth - 1)});
    case 4: return CallOfUnknown(dtype, depth);
    case 5: return has_binders_ && choices_.OneIn(4) ? ReduceOf(dtype, depth) : Leaf(dtype);
    case 6: {
      const std::vector<const PrimExpr*> vectors = {Make(dtype.with_lanes(kLanes), depth - 1)};
      const std::vector<const PrimExpr*> lanes = {make_.Int(choices_.Below(kLanes), DataType::Int(32))};
      return make_.Keep(tir::Shuffle(dtype, make_.Operands(vectors), make_.Operands(lanes)));
    }
    case 7: {
      // The same bits.
      const DataType other = dtype.is_floating() ? DataType::Int(dtype.bits) : DataType::UInt(dtype.bits);
      if (!dtype.is_bool()) return Call(op::kTirReinterpret, dtype, {Make(other, depth - 1)});
      break;
    }
    case 8:
    case 9:
      if (const PrimExpr* load = Load(dtype, depth)) return load;
      break;
    default: break;
  }
  if (dtype.is_bool()) return Truth(depth);
  if (dtype.is_floating() && choices_.OneIn(3)) return Math(dtype, depth);
  if (!dtype.is_floating() && choices_.OneIn(4)) return Bits(dtype, depth);
  return Binary(dtype, depth);
}

const PrimExpr* ExprMaker::Vector(DataType dtype, int depth) {
  const DataType element = dtype.with_lanes(1);
  const PrimExpr* lanes = make_.Lanes(dtype);
  if (IsSigned(element) && choices_.OneIn(2)) {
    const PrimExpr* stride = choices_.OneIn(3) ? Make(element, 0) : make_.Int(choices_.Below(5) - 1, element);
    return make_.Keep(tir::Ramp(dtype, Make(element, depth - 1), stride, lanes));
  }
  if (depth <= 0) return make_.Keep(tir::Broadcast(dtype, Make(element, depth - 1), lanes));
  switch (choices_.Below(6)) {
    case 0: return make_.Keep(tir::Cast(dtype, Make(ScalarType().with_lanes(dtype.lanes), depth - 1)));
    case 1: {
      const std::vector<const PrimExpr*> vectors = {Make(dtype, depth - 1), Make(dtype, depth - 1)};
      std::vector<const PrimExpr*> order;
      for (int i = 0; i < dtype.lanes; ++i)
        order.push_back(make_.Int(choices_.Below(2 * dtype.lanes), DataType::Int(32)));
      return make_.Keep(tir::Shuffle(dtype, make_.Operands(vectors), make_.Operands(order)));
    }
    case 2:
      if (const PrimExpr* load = Load(dtype, depth)) return load;
      break;
    case 3:
      if (element.is_bool()) {
        const DataType operands = ScalarType().with_lanes(dtype.lanes);
        return make_.Node(NodeKind::kLT, Make(operands, depth - 1), Make(operands, depth - 1));
      }
      return Binary(dtype, depth);
    default: break;
  }
  return make_.Keep(tir::Broadcast(dtype, Make(element, depth - 1), lanes));
}

const PrimExpr* ExprMaker::Effect(int depth) {
  switch (choices_.Below(6)) {
    case 0: return Call(op::kTirTvmStorageSync, DataType::Int(32), {make_.Keep(tir::StringImm("shared"))});
    case 1: {
      std::vector<const PrimExpr*> args = {make_.Keep(tir::StringImm("packed"))};
      for (int i = choices_.Below(3); i > 0; --i) args.push_back(Make(ScalarType(), depth - 1));
      return Call(op::kTirTvmCallPacked, choices_.OneIn(2) ? DataType::Int(32) : ScalarType(), args);
    }
    case 2: return Call(op::kTirUndef, ScalarType(), {});
    case 3: return Make(ScalarType(), depth);
    default: return CallOfUnknown(choices_.OneIn(3) ? DataType::Void() : ScalarType(), depth);
  }
}

const tir::Range* ExprMaker::Range(int depth) {
  const PrimExpr* min = Index(choices_.OneIn(2) ? 0 : depth);
  const DataType extent = min->dtype.bits == 32 && choices_.OneIn(4) ? DataType::Int(64) : min->dtype;
  return workspace_.New<tir::Range>(min, choices_.OneIn(3) ? make_.Int(1, extent) : IndexOf(extent, depth - 1));
}

const tir::BufferRegion* ExprMaker::Region(const tir::Buffer& buffer, int depth) {
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < buffer.shape.size(); ++i) ranges.push_back(Range(depth));
  return workspace_.New<tir::BufferRegion>(&buffer, Copy(ranges));
}

}  // namespace iropt::generate
