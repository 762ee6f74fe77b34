#include "iropt/eval/tir/scalar_eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "iropt/ir/narrow_element.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/named_functions.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "scalar_intrinsics.h"
#include "scalar_ops.h"
#include "vector_instructions.h"

namespace iropt {

void ScalarEnv::Bind(const tir::Var* var, Scalar value) {
  if (var->context_owned()) {
    symbols_[var] = value;
    return;
  }
  if (var->id >= locals_.size()) locals_.resize(var->id + size_t{1});
  locals_[var->id] = {true, value};
}

const Scalar* ScalarEnv::Find(const tir::Var* var) const {
  if (var->context_owned()) {
    const auto it = symbols_.find(var);
    return it == symbols_.end() ? nullptr : &it->second;
  }
  return var->id < locals_.size() && locals_[var->id].bound ? &locals_[var->id].value : nullptr;
}

void ScalarEnv::Unbind(const tir::Var* var) {
  if (var->context_owned()) {
    symbols_.erase(var);
  } else if (var->id < locals_.size()) {
    locals_[var->id].bound = false;
  }
}

Scalar LoadScalar(DataType dtype, const std::byte* place) {
  Scalar result = Scalar::Int(0, dtype);
  const bool known = DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    T element;
    std::memcpy(&element, place, sizeof(T));
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      result.real = eval::ToReal(element);
    } else {
      result.integer = static_cast<int64_t>(Element<T>::Load(element));
    }
  });
  if (known || !IsNarrow(dtype)) return result;
  const double number = LoadNarrow(*place, dtype);
  return dtype.is_floating() ? Scalar::Float(number, dtype) : Scalar::Int(static_cast<int64_t>(number), dtype);
}

void StoreScalar(const Scalar& value, std::byte* place) {
  const bool known = DispatchElement(value.dtype, [&]<class T>(std::type_identity<T>) {
    T element;
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      element = eval::FromReal<T>(value.real);
    } else {
      element = Element<T>::Store(static_cast<MathOf<T>>(value.integer));
    }
    std::memcpy(place, &element, sizeof(T));
  });
  if (!known && IsNarrow(value.dtype))
    *place = StoreNarrow(value.ToDouble(), value.dtype, {.mode = NarrowRounding::Mode::kNearest});
}

namespace {

// Keeps an integer within its width, and a float within its format.
Scalar Normalized(DataType dtype, int64_t value) {
  if (dtype.is_bool()) return Scalar::Int(value & 1, dtype);
  const int unused = 64 - dtype.bits;
  if (dtype.is_int()) return Scalar::Int(static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused, dtype);
  return Scalar::Int(static_cast<int64_t>(static_cast<uint64_t>(value) << unused >> unused), dtype);
}

Scalar Normalized(DataType dtype, double value) {
  Scalar result = Scalar::Float(value, dtype);
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) result.real = eval::ToReal(eval::FromReal<T>(value));
  });
  return result;
}

bool IsScalarType(DataType dtype) {
  // Integers of other widths, such as T.int4, wrap around at their own width.
  if (dtype.is_integer()) return dtype.bits >= 1 && dtype.bits <= 64;
  return IsElementType(dtype.with_lanes(1));
}

}  // namespace

bool CastScalar(const Scalar& value, DataType dtype, Scalar* result) {
  // Numbers that nothing computes with can be moved.
  if (value.dtype == dtype && IsNarrow(dtype) && !IsScalarType(dtype)) {
    *result = value;
    return true;
  }
  if (!IsScalarType(dtype) || !IsScalarType(value.dtype)) return false;
  if (dtype.is_bool()) {
    *result = Scalar::Int(value.dtype.is_floating() ? value.real != 0 : value.integer != 0, dtype);
  } else if (dtype.is_floating()) {
    if (value.dtype.is_floating()) {
      *result = Normalized(dtype, value.real);
    } else if (dtype.bits == 64) {
      *result = Scalar::Float(value.ToDouble(), dtype);
    } else {
      *result = Normalized(dtype, value.dtype.is_uint() ? WidenForRounding(static_cast<uint64_t>(value.integer))
                                                        : WidenForRounding(value.integer));
    }
  } else if (value.dtype.is_floating()) {
    // Results out of range are undefined, so wrapping must not change the value.
    const double whole = std::trunc(value.real);
    const double upper = std::ldexp(1.0, dtype.is_int() ? dtype.bits - 1 : dtype.bits);
    if (!(whole < upper && whole >= (dtype.is_int() ? -upper : 0.0))) return false;
    *result = Scalar::Int(
        dtype.is_int() ? static_cast<int64_t>(whole) : static_cast<int64_t>(static_cast<uint64_t>(whole)), dtype);
  } else {
    *result = Normalized(dtype, value.integer);
  }
  return true;
}

bool ConvertArgument(const Scalar& value, DataType dtype, Scalar* result) {
  if (!CastScalar(value, dtype, result)) return false;
  const bool is_integer = !dtype.is_floating() && !dtype.is_bool() && !value.dtype.is_floating();
  return !is_integer || dtype.bits == 64 || result->integer == value.integer;
}

bool ScalarEvaluator::Fail(std::string message, ErrorCode code) {
  if (!failed_) error_ = {code, std::move(message)};
  failed_ = true;
  return false;
}

bool ScalarEvaluator::Load(const tir::BufferLoad&, int, Scalar*) { return Fail("buffers cannot be read here"); }

bool ScalarEvaluator::CallFunction(const tir::Call&, const GlobalVar& callee, Scalar*) {
  return Fail(fmt::format("the function '{}' cannot be called here", callee.name));
}

bool ScalarEvaluator::CallBuiltin(const tir::Call&, std::string_view name, int, Scalar*) {
  return Fail(fmt::format("cannot evaluate the intrinsic {}", name));
}

bool ScalarEvaluator::Eval(const PrimExpr* expr, Scalar* result, int lane) {
  return WithStack([&] { return Step() && Dispatch(expr, lane, result); });
}

bool ScalarEvaluator::EvalInt(const PrimExpr* expr, int64_t* result, int lane) {
  Scalar value;
  if (!Eval(expr, &value, lane)) return false;
  if (value.dtype.is_floating()) return Fail("expected an integer");
  *result = value.integer;
  return true;
}

bool ScalarEvaluator::EvalBool(const PrimExpr* expr, bool* result, int lane) {
  int64_t value = 0;
  if (!EvalInt(expr, &value, lane)) return false;
  *result = value != 0;
  return true;
}

namespace {

bool ReduceStep(ScalarEvaluator& eval, const tir::Reduce& reduce, std::vector<Scalar>* sums) {
  bool active = false;
  if (!eval.EvalBool(reduce.condition, &active)) return false;
  if (!active) return true;
  const tir::CommReducer& combiner = *reduce.combiner;
  for (size_t i = 0; i < sums->size(); ++i) {
    Scalar value;
    if (!eval.Eval(reduce.source[i], &value)) return false;
    eval.env().Bind(combiner.lhs[i], (*sums)[i]);
    eval.env().Bind(combiner.rhs[i], value);
  }
  for (size_t i = 0; i < sums->size(); ++i) {
    if (!eval.Eval(combiner.result[i], &(*sums)[i])) return false;
  }
  return true;
}

// Over the axes from number `axis` on.
bool ReduceOver(ScalarEvaluator& eval, const tir::Reduce& reduce, size_t axis, std::vector<Scalar>* sums) {
  if (axis == reduce.axis.size()) return ReduceStep(eval, reduce, sums);
  const tir::IterVar& loop = *reduce.axis[axis];
  int64_t min = 0;
  int64_t extent = 0;
  if (!loop.dom) return eval.Fail("an axis of a reduction has no range");
  if (!eval.EvalInt(loop.dom->min, &min) || !eval.EvalInt(loop.dom->extent, &extent)) return false;
  for (int64_t i = 0; i < extent; ++i) {
    eval.env().Bind(loop.var, Scalar::Int(WrapAdd(min, i), loop.var->dtype));
    if (!WithStack([&] { return ReduceOver(eval, reduce, axis + 1, sums); })) return false;
  }
  eval.env().Unbind(loop.var);
  return true;
}

bool EvalReduction(ScalarEvaluator& eval, const tir::Reduce& reduce, Scalar* result) {
  const tir::CommReducer& combiner = *reduce.combiner;
  const size_t width = combiner.result.size();
  const List<const PrimExpr*> starts = reduce.init.empty() ? combiner.identity_element : reduce.init;
  if (starts.size() != width || reduce.source.size() != width || combiner.lhs.size() != width ||
      combiner.rhs.size() != width || static_cast<size_t>(reduce.value_index) >= width) {
    return eval.Fail("a reduction has a different number of values than its combiner");
  }
  std::vector<Scalar> sums(width);
  for (size_t i = 0; i < width; ++i) {
    if (!eval.Eval(starts[i], &sums[i])) return false;
  }
  if (!ReduceOver(eval, reduce, 0, &sums)) return false;
  return *result = sums[static_cast<size_t>(reduce.value_index)], true;
}

}  // namespace

bool ScalarEvaluator::Dispatch(const PrimExpr* expr, int lane, Scalar* result) {
  switch (expr->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: return EvalVar(To<tir::Var>(expr), lane, result);
    case NodeKind::kIntImm: return *result = Scalar::Int(To<tir::IntImm>(expr)->value, expr->dtype), true;
    case NodeKind::kFloatImm: return *result = Normalized(expr->dtype, To<tir::FloatImm>(expr)->value), true;
    case NodeKind::kCast: return EvalCast(*To<tir::Cast>(expr), lane, result);
    case NodeKind::kAdd:
    case NodeKind::kSub:
    case NodeKind::kMul:
    case NodeKind::kDiv:
    case NodeKind::kMod:
    case NodeKind::kFloorDiv:
    case NodeKind::kFloorMod:
    case NodeKind::kMin:
    case NodeKind::kMax: return EvalBinary(*To<tir::BinaryExpr>(expr), lane, result);
    case NodeKind::kEQ:
    case NodeKind::kNE:
    case NodeKind::kLT:
    case NodeKind::kLE:
    case NodeKind::kGT:
    case NodeKind::kGE: return EvalComparison(*To<tir::BinaryExpr>(expr), lane, result);
    case NodeKind::kAnd:
    case NodeKind::kOr: return EvalLogic(*To<tir::BinaryExpr>(expr), lane, result);
    case NodeKind::kNot: {
      bool value = false;
      return EvalBool(To<tir::Not>(expr)->a, &value, lane) && (*result = Scalar::Int(!value, DataType::Bool()), true);
    }
    case NodeKind::kSelect: {
      const auto* select = To<tir::Select>(expr);
      return EvalChoice(select->condition, select->true_value, select->false_value, lane, result);
    }
    case NodeKind::kLet: return EvalLet(*To<tir::Let>(expr), lane, result);
    case NodeKind::kPrimCall: return EvalCall(*To<tir::Call>(expr), lane, result);
    case NodeKind::kBufferLoad: return Load(*To<tir::BufferLoad>(expr), lane, result);
    case NodeKind::kRamp: return EvalRamp(*To<tir::Ramp>(expr), lane, result);
    case NodeKind::kBroadcast: {
      const PrimExpr* value = To<tir::Broadcast>(expr)->value;
      return Eval(value, result, lane % std::max<int>(value->dtype.lanes, 1));
    }
    case NodeKind::kShuffle: return EvalShuffle(*To<tir::Shuffle>(expr), lane, result);
    case NodeKind::kReduce: return EvalReduction(*this, *To<tir::Reduce>(expr), result);
    default: return Fail(fmt::format("cannot evaluate {}", NodeKindName(expr->kind)));
  }
}

bool ScalarEvaluator::EvalVar(const tir::Var* var, int lane, Scalar* result) {
  const Scalar* value = env().Find(var);
  if (var->dtype.lanes > 1) {
    const auto* it = variables_.vectors.Find(var);
    value = it && static_cast<size_t>(lane) < it->size() ? &(*it)[static_cast<size_t>(lane)] : nullptr;
  }
  if (!value) return Fail(fmt::format("variable '{}' has no value", var->name));
  *result = *value;
  return true;
}

namespace {

const eval::BinaryOp* ArithmeticOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAdd: return &eval::kAdd;
    case NodeKind::kSub: return &eval::kSubtract;
    case NodeKind::kMul: return &eval::kMultiply;
    case NodeKind::kDiv: return &eval::kDivide;
    case NodeKind::kMod: return &eval::kMod;
    case NodeKind::kFloorDiv: return &eval::kFloorDivide;
    case NodeKind::kFloorMod: return &eval::kFloorMod;
    case NodeKind::kMin: return &eval::kMinimum;
    default: return &eval::kMaximum;
  }
}

const eval::CompareOp* ComparisonOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kEQ: return &eval::kEqual;
    case NodeKind::kNE: return &eval::kNotEqual;
    case NodeKind::kLT: return &eval::kLess;
    case NodeKind::kLE: return &eval::kLessEqual;
    case NodeKind::kGT: return &eval::kGreater;
    default: return &eval::kGreaterEqual;
  }
}

}  // namespace

bool ApplyScalar(const eval::UnaryOp& op, const Scalar& x, Scalar* result) {
  if (x.dtype.is_floating()) return op.real && (*result = Normalized(x.dtype, op.real(x.real)), true);
  if (x.dtype.is_bool()) return op.boolean && (*result = Scalar::Int(op.boolean(x.integer != 0), x.dtype), true);
  if (x.dtype.is_int()) return op.sint && (*result = Normalized(x.dtype, op.sint(x.integer)), true);
  return op.uint &&
         (*result = Normalized(x.dtype, static_cast<int64_t>(op.uint(static_cast<uint64_t>(x.integer)))), true);
}

bool ApplyScalar(const eval::BinaryOp& op, const Scalar& a, const Scalar& b, Scalar* result) {
  if (a.dtype.is_floating() != b.dtype.is_floating()) return false;
  if (a.dtype.is_floating()) return op.real && (*result = Normalized(a.dtype, op.real(a.real, b.real)), true);
  if (a.dtype.is_bool() && op.boolean)
    return *result = Scalar::Int(op.boolean(a.integer != 0, b.integer != 0), a.dtype), true;
  if (a.dtype.is_int()) {
    int64_t value = 0;
    return op.sint && op.sint(a.integer, b.integer, a.dtype.bits, &value) &&
           (*result = Normalized(a.dtype, value), true);
  }
  uint64_t value = 0;
  return op.uint && op.uint(static_cast<uint64_t>(a.integer), static_cast<uint64_t>(b.integer), a.dtype.bits, &value) &&
         (*result = Normalized(a.dtype, static_cast<int64_t>(value)), true);
}

namespace {

// Returns whether the result of signed integers of 32 or 64 bits does not fit their dtype.
bool Overflows(NodeKind kind, const Scalar& a, const Scalar& b) {
  if (!a.dtype.is_int() || a.dtype.bits < 32) return false;
  int64_t value = 0;
  switch (kind) {
    case NodeKind::kAdd:
      if (__builtin_add_overflow(a.integer, b.integer, &value)) return true;
      break;
    case NodeKind::kSub:
      if (__builtin_sub_overflow(a.integer, b.integer, &value)) return true;
      break;
    case NodeKind::kMul:
      if (__builtin_mul_overflow(a.integer, b.integer, &value)) return true;
      break;
    default: return false;
  }
  return a.dtype.bits == 32 && value != static_cast<int32_t>(value);
}

}  // namespace

bool ScalarEvaluator::EvalBinary(const tir::BinaryExpr& expr, int lane, Scalar* result) {
  Scalar a;
  Scalar b;
  if (!Eval(expr.a, &a, lane) || !Eval(expr.b, &b, lane)) return false;
  if (!ApplyScalar(*ArithmeticOf(expr.kind), a, b, result)) {
    return Fail(fmt::format("{} of {} is undefined for these operands", NodeKindName(expr.kind), a.dtype.ToString()));
  }
  if (overflows_ && Overflows(expr.kind, a, b)) *overflows_ = true;
  return true;
}

bool ScalarEvaluator::EvalComparison(const tir::BinaryExpr& expr, int lane, Scalar* result) {
  Scalar a;
  Scalar b;
  if (!Eval(expr.a, &a, lane) || !Eval(expr.b, &b, lane)) return false;
  const eval::CompareOp& op = *ComparisonOf(expr.kind);
  bool value;
  if (a.dtype.is_floating() || b.dtype.is_floating()) {
    value = op.real(a.ToDouble(), b.ToDouble());
  } else if (a.dtype.is_int()) {
    value = op.sint(a.integer, b.integer);
  } else {
    value = op.uint(static_cast<uint64_t>(a.integer), static_cast<uint64_t>(b.integer));
  }
  *result = Scalar::Int(value, DataType::Bool());
  return true;
}

bool ScalarEvaluator::EvalLogic(const tir::BinaryExpr& expr, int lane, Scalar* result) {
  bool value = false;
  if (!EvalBool(expr.a, &value, lane)) return false;
  // Short-circuit evaluation by the first operand.
  if (value == (expr.kind == NodeKind::kAnd) && !EvalBool(expr.b, &value, lane)) return false;
  *result = Scalar::Int(value, DataType::Bool());
  return true;
}

bool ScalarEvaluator::EvalCast(const tir::Cast& expr, int lane, Scalar* result) {
  Scalar value;
  if (!Eval(expr.value, &value, lane)) return false;
  if (CastScalar(value, expr.dtype.with_lanes(1), result)) return true;
  return Fail(fmt::format("the conversion of {} to {} is undefined for this value", value.dtype.ToString(),
                          expr.dtype.ToString()));
}

bool ScalarEvaluator::EvalChoice(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane,
                                 Scalar* result) {
  bool value = false;
  if (!EvalBool(condition, &value, lane)) return false;
  NoteBranch(condition, value);
  return Eval(value ? yes : no, result, lane);
}

bool ScalarEvaluator::BindLet(const tir::Var* var, const PrimExpr* value) {
  const int lanes = value->dtype.lanes;
  if (lanes < 1) return Fail("a vector of unknown length is bound to a variable");
  std::vector<Scalar> values(static_cast<size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    if (!Eval(value, &values[static_cast<size_t>(lane)], lane)) return false;
  }
  if (lanes == 1) {
    env().Bind(var, values[0]);
  } else {
    variables_.vectors[var] = std::move(values);
  }
  return true;
}

void ScalarEvaluator::UnbindLet(const tir::Var* var) {
  env().Unbind(var);
  if (var->dtype.lanes > 1) variables_.vectors.erase(var);
}

bool ScalarEvaluator::EvalLet(const tir::Let& expr, int lane, Scalar* result) {
  if (!BindLet(expr.var, expr.value)) return false;
  const bool done = Eval(expr.body, result, lane);
  UnbindLet(expr.var);
  return done;
}

// base, base + stride, ...; where these are vectors, one after the other.
bool ScalarEvaluator::EvalRamp(const tir::Ramp& expr, int lane, Scalar* result) {
  const int width = std::max<int>(expr.base->dtype.lanes, 1);
  Scalar base;
  Scalar stride;
  if (!Eval(expr.base, &base, lane % width) || !Eval(expr.stride, &stride, lane % width)) return false;
  if (base.dtype.is_floating() || stride.dtype.is_floating()) return Fail("a ramp of floats is not supported");
  *result = Normalized(base.dtype, WrapAdd(base.integer, WrapMul(stride.integer, int64_t{lane / width})));
  return true;
}

bool ScalarEvaluator::EvalShuffle(const tir::Shuffle& expr, int lane, Scalar* result) {
  int64_t index = 0;
  if (static_cast<uint32_t>(lane) >= expr.indices.size() || !EvalInt(expr.indices[static_cast<size_t>(lane)], &index)) {
    return Fail("a shuffle has no such lane");
  }
  for (const PrimExpr* vector : expr.vectors) {
    const int lanes = vector->dtype.lanes;
    if (index >= 0 && index < lanes) return Eval(vector, result, static_cast<int>(index));
    index -= lanes;
  }
  return Fail("the index of a shuffle is out of range");
}

namespace {

bool EvalIfThenElse(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result) {
  return eval.EvalChoice(call.args[0], call.args[1], call.args[2], lane, result);
}

bool EvalOperand(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result) {
  return eval.Eval(call.args[0], result, lane);
}

bool EvalAssume(ScalarEvaluator& eval, const tir::Call& call, int, Scalar* result) {
  bool holds = false;
  if (!eval.EvalBool(call.args[0], &holds)) return false;
  *result = Scalar::Int(1, DataType::Bool());
  return holds || eval.Fail("an assumption of the function does not hold");
}

bool EvalVectorHigh(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result) {
  return eval.Eval(call.args[0], result, lane + call.args[0]->dtype.lanes / 2);
}

bool EvalVectorCombine(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result) {
  const int first = call.args[0]->dtype.lanes;
  return lane < first ? eval.Eval(call.args[0], result, lane) : eval.Eval(call.args[1], result, lane - first);
}

bool EvalLaneMask(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result) {
  int64_t base = 0;
  int64_t limit = 0;
  if (!eval.EvalInt(call.args[0], &base) || !eval.EvalInt(call.args[1], &limit)) return false;
  *result = Scalar::Int(WrapAdd(base, int64_t{lane}) < limit, DataType::Bool());
  return true;
}

// The products of four lanes, added to a sum.
bool EvalDotProduct(ScalarEvaluator& eval, const tir::Call& call, int, Scalar* result) {
  int64_t sum = 0;
  if (!eval.EvalInt(call.args[2], &sum)) return false;
  for (int lane = 0; lane < 4; ++lane) {
    int64_t a = 0;
    int64_t b = 0;
    if (!eval.EvalInt(call.args[0], &a, lane) || !eval.EvalInt(call.args[1], &b, lane)) return false;
    sum = WrapAdd(sum, WrapMul(a, b));
  }
  *result = Normalized(call.dtype, sum);
  return true;
}

// Reinterprets the bits, possibly with another number of lanes.
bool EvalReinterpret(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result) {
  if (call.args[0]->dtype.lanes == call.dtype.lanes) return eval.EvalIntrinsic(call, lane, result);
  const DataType from = call.args[0]->dtype.with_lanes(1);
  const DataType to = call.dtype.with_lanes(1);
  const int lanes = call.args[0]->dtype.lanes;
  const bool fits = IsElementType(from) && IsElementType(to) && lanes >= 1 && lane < call.dtype.lanes &&
                    from.bytes() * lanes == to.bytes() * call.dtype.lanes;
  if (!fits) return eval.Fail("a vector is reinterpreted as one of a different size");
  std::vector<std::byte> bytes(static_cast<size_t>(from.bytes() * lanes));
  for (int i = 0; i < lanes; ++i) {
    Scalar element;
    if (!eval.Eval(call.args[0], &element, i)) return false;
    StoreScalar(element, &bytes[static_cast<size_t>(i * from.bytes())]);
  }
  return *result = LoadScalar(to, &bytes[static_cast<size_t>(lane * to.bytes())]), true;
}

// Intrinsics that choose what they evaluate, and those that take vectors apart and put them together.
struct LaneIntrinsic {
  OpId id;
  size_t arity;
  bool (*run)(ScalarEvaluator& eval, const tir::Call& call, int lane, Scalar* result);
};

const LaneIntrinsic* FindLaneIntrinsic(const OpInfo& op) {
  static constexpr LaneIntrinsic kRows[] = {
      {op::kTirAssume, 1, EvalAssume},
      {op::kTirAttributedCall, 2, EvalOperand},
      {op::kTirDp4a, 3, EvalDotProduct},
      {op::kTirGetActiveLaneMask, 2, EvalLaneMask},
      {op::kTirIfThenElse, 3, EvalIfThenElse},
      {op::kTirIgnoreLoopPartition, 1, EvalOperand},
      {op::kTirLikely, 1, EvalOperand},
      {op::kTirReinterpret, 1, EvalReinterpret},
      {op::kTirTvmThreadInvariant, 1, EvalOperand},
      {op::kTirVectorcombine, 2, EvalVectorCombine},
      {op::kTirVectorhigh, 1, EvalVectorHigh},
      {op::kTirVectorlow, 1, EvalOperand},
  };
  static constexpr auto kTable = RowsById(kRows);
  return RowOf(kTable, op);
}

}  // namespace

bool ScalarEvaluator::IsEvaluated(const OpInfo& op) { return FindLaneIntrinsic(op) || FindScalarIntrinsic(op); }

bool ScalarEvaluator::EvalCall(const tir::Call& call, int lane, Scalar* result) {
  if (const auto* callee = As<GlobalVar>(call.op)) return CallFunction(call, *callee, result);
  const Op& op = *To<Op>(call.op);
  const LaneIntrinsic* intrinsic = FindLaneIntrinsic(*op.info);
  if (intrinsic && call.args.size() == intrinsic->arity) return intrinsic->run(*this, call, lane, result);
  const NamedInstruction named = FindVectorInstruction(call);
  if (named.instruction != VectorInstruction::kNone) return EvalInstruction(*this, call, named, lane, result);
  return EvalIntrinsic(call, lane, result);
}

bool ScalarEvaluator::EvalIntrinsic(const tir::Call& call, int lane, Scalar* result) {
  const auto* op = To<Op>(call.op);
  const NamedIntrinsic named = FindNamedIntrinsic(call);
  const std::span<const PrimExpr* const> operands =
      named.op ? std::span(&call.args[named.first_operand], named.num_operands()) : std::span(call.args);
  const ScalarIntrinsic* intrinsic = FindScalarIntrinsic(named.op ? *named.op : *op->info);
  if (!intrinsic || operands.size() != intrinsic->arity) return CallBuiltin(call, op->name, lane, result);
  Scalar args[kMaxIntrinsicArity];
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!Eval(operands[i], &args[i], lane)) return false;
  }
  if (intrinsic->Apply(args, call.dtype.with_lanes(1), result)) return true;
  return Fail(fmt::format("{} of {} is undefined for these operands", op->name, call.dtype.ToString()));
}

}  // namespace iropt
