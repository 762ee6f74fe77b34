#include "expr_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/named_functions.h"
#include "iropt/support/stack.h"

namespace iropt::codegen {

llvm::Value* ExprEmitter::Emit(const PrimExpr* expr, int lane) {
  if (!expr->dtype.is_void() && !ValueTypes::IsSupported(expr->dtype))
    return frame_.Unsupported(fmt::format("dtype {} is not supported", expr->dtype.ToString()),
                              frame_.b().getInt32Ty());
  return WithStack([&] { return lane == kAll && expr->dtype.lanes > 1 ? EmitVector(expr) : EmitNode(expr, lane); });
}

llvm::Value* ExprEmitter::EmitInt(const PrimExpr* expr, int lane) {
  llvm::Value* value = Emit(expr, lane);
  if (!expr->dtype.is_integer()) return frame_.Unsupported("expected an integer", frame_.b().getInt64Ty());
  return frame_.ToInt64(value, expr->dtype.is_int());
}

llvm::Value* ExprEmitter::EmitBool(const PrimExpr* expr, int lane) {
  llvm::Value* value = Emit(expr, lane);
  if (expr->dtype.is_bool()) return value;
  if (!expr->dtype.is_integer()) return frame_.Unsupported("expected a condition", frame_.b().getInt1Ty());
  return arithmetic_.Cast(value, expr->dtype.with_lanes(1), DataType::Bool());
}

// ---- Vectors

// Returns whether a vector operation is equivalent to scalar operations on its lanes.
llvm::Value* ExprEmitter::EmitVector(const PrimExpr* expr) {
  if (llvm::Value* value = EmitVectorNode(expr)) return value;
  llvm::Value* value = llvm::PoisonValue::get(frame_.types().Register(expr->dtype));
  for (int lane = 0; lane < expr->dtype.lanes; ++lane)
    value = frame_.b().CreateInsertElement(value, EmitNode(expr, lane), static_cast<uint64_t>(lane));
  return value;
}

// Returns null if it must be computed lane by lane.
llvm::Value* ExprEmitter::EmitVectorNode(const PrimExpr* expr) {
  switch (expr->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar:
    case NodeKind::kCast:
    case NodeKind::kNot:
    case NodeKind::kBufferLoad:
    case NodeKind::kRamp: return EmitNode(expr, kAll);
    case NodeKind::kBroadcast: {
      const auto* broadcast = To<tir::Broadcast>(expr);
      if (broadcast->value->dtype.lanes != 1) return nullptr;
      return frame_.b().CreateVectorSplat(static_cast<unsigned>(expr->dtype.lanes), Emit(broadcast->value));
    }
    case NodeKind::kSelect: {
      const auto* select = To<tir::Select>(expr);
      const bool joint = select->condition->dtype.lanes == 1;
      return joint || (IsSafe(select->true_value) && IsSafe(select->false_value)) ? EmitNode(expr, kAll) : nullptr;
    }
    case NodeKind::kLet: return EmitNode(expr, kAll);
    case NodeKind::kPrimCall: {
      const auto* call = To<tir::Call>(expr);
      const auto* op = As<Op>(call->op);
      if (!op) return nullptr;
      if (op->id == op::kTirLikely || op->id == op::kTirTvmThreadInvariant) return Emit(call->args[0]);
      if (op->id == op::kTirIfThenElse) return call->args[0]->dtype.lanes == 1 ? EmitNode(expr, kAll) : nullptr;
      const bool is_whole = op->id == op::kTirReinterpret
                                ? call->args[0]->dtype.lanes != call->dtype.lanes
                                : FindVectorInstruction(*call).instruction != VectorInstruction::kNone;
      if (is_whole) return EmitNode(expr, kAll);
      if (op->id == op::kTirReinterpret || !Arithmetic::IsIntrinsic(op->id, call->args.size())) return nullptr;
      const bool same =
          std::ranges::all_of(call->args, [&](const PrimExpr* arg) { return arg->dtype.lanes == expr->dtype.lanes; });
      return same ? EmitNode(expr, kAll) : nullptr;
    }
    case NodeKind::kAnd:
    case NodeKind::kOr: return IsSafe(To<tir::BinaryExpr>(expr)->b) ? EmitNode(expr, kAll) : nullptr;
    default: return tir::BinaryExpr::ClassOf(expr->kind) ? EmitNode(expr, kAll) : nullptr;
  }
}

// ---- Nodes

llvm::Value* ExprEmitter::EmitNode(const PrimExpr* expr, int lane) {
  switch (expr->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: return EmitVar(static_cast<const tir::Var*>(expr), lane);
    case NodeKind::kIntImm:
      if (expr->dtype.is_handle())
        return frame_.b().CreateIntToPtr(frame_.Int64(To<tir::IntImm>(expr)->value), frame_.b().getPtrTy());
      return llvm::ConstantInt::get(
          frame_.types().Register(expr->dtype),
          llvm::APInt(64, static_cast<uint64_t>(To<tir::IntImm>(expr)->value)).trunc(expr->dtype.bits));
    case NodeKind::kFloatImm:
      return frame_.types().RoundTo(llvm::ConstantFP::get(frame_.b().getDoubleTy(), To<tir::FloatImm>(expr)->value),
                                    expr->dtype);
    case NodeKind::kPrimStringImm: return frame_.GlobalString(To<tir::StringImm>(expr)->value);
    case NodeKind::kCast: {
      const auto* cast = To<tir::Cast>(expr);
      return arithmetic_.Cast(Emit(cast->value, lane), cast->value->dtype, cast->dtype);
    }
    case NodeKind::kEQ:
    case NodeKind::kNE:
    case NodeKind::kLT:
    case NodeKind::kLE:
    case NodeKind::kGT:
    case NodeKind::kGE: {
      const auto* binary = static_cast<const tir::BinaryExpr*>(expr);
      llvm::Value* a = Emit(binary->a, lane);
      return arithmetic_.Compare(expr->kind, binary->a->dtype, a, binary->b->dtype, Emit(binary->b, lane));
    }
    case NodeKind::kAnd:
    case NodeKind::kOr: return EmitLogic(*static_cast<const tir::BinaryExpr*>(expr), lane);
    case NodeKind::kNot: return frame_.b().CreateNot(EmitBool(To<tir::Not>(expr)->a, lane));
    case NodeKind::kSelect: {
      const auto* select = To<tir::Select>(expr);
      return EmitChoice(select->condition, select->true_value, select->false_value, lane);
    }
    case NodeKind::kLet: return EmitLet(*To<tir::Let>(expr), lane);
    case NodeKind::kPrimCall: return calls_.EmitCall(*To<tir::Call>(expr), lane);
    case NodeKind::kBufferLoad: return buffers_.EmitLoad(*To<tir::BufferLoad>(expr), lane);
    case NodeKind::kRamp: return EmitRamp(*To<tir::Ramp>(expr), lane);
    case NodeKind::kBroadcast: {
      const PrimExpr* value = To<tir::Broadcast>(expr)->value;
      return value->dtype.lanes == 1 ? Emit(value) : Emit(value, lane % value->dtype.lanes);
    }
    case NodeKind::kShuffle: return EmitShuffle(*To<tir::Shuffle>(expr), lane);
    case NodeKind::kReduce: return EmitReduce(*To<tir::Reduce>(expr));
    default:
      if (tir::BinaryExpr::ClassOf(expr->kind)) return EmitBinary(*static_cast<const tir::BinaryExpr*>(expr), lane);
      return frame_.Unsupported(fmt::format("cannot compile {}", NodeKindName(expr->kind)),
                                frame_.types().Register(expr->dtype));
  }
}

llvm::Value* ExprEmitter::EmitVar(const tir::Var* var, int lane) {
  const TypedValue* value = scope_.Find(var);
  if (!value || !value->value) {
    return frame_.Unsupported(
        fmt::format("variable '{}' has no value", var->name),
        lane == kAll ? frame_.types().Register(var->dtype) : frame_.types().Register(var->dtype.with_lanes(1)));
  }
  if (lane == kAll || var->dtype.lanes == 1) return value->value;
  return frame_.b().CreateExtractElement(value->value, static_cast<uint64_t>(lane));
}

llvm::Value* ExprEmitter::EmitBinary(const tir::BinaryExpr& expr, int lane) {
  llvm::Value* a = Emit(expr.a, lane);
  llvm::Value* b = Emit(expr.b, lane);
  if (a->getType() != b->getType() || expr.a->dtype.is_handle())
    return frame_.Unsupported("the operands of an operation have different dtypes", a->getType());
  OperandFacts facts;
  if (expr.dtype.is_integer() && !expr.dtype.is_bool()) {
    facts.nonnegative = ranges_.Of(expr.a).min >= 0 && ranges_.Of(expr.b).min >= 0;
    facts.fits = ranges_.Fits(expr);
    // Such as min(n, 1) where a loop over n runs.
    const IntRange range = ranges_.Of(&expr);
    if ((expr.kind == NodeKind::kMin || expr.kind == NodeKind::kMax) && range.min == range.max)
      return llvm::ConstantInt::getSigned(a->getType(), range.min);
  }
  facts.in_any_order = &expr == in_any_order;
  return arithmetic_.Binary(expr.kind, expr.a->dtype, a, b, facts);
}

// Short-circuits: the second operand is computed only if the first one does not determine the result.
llvm::Value* ExprEmitter::EmitLogic(const tir::BinaryExpr& expr, int lane) {
  const bool is_and = expr.kind == NodeKind::kAnd;
  llvm::Value* a = EmitBool(expr.a, lane);
  const auto second = [&] {
    const IndexRanges::Assumption assumption(ranges_, expr.a, is_and);
    return EmitBool(expr.b, lane);
  };
  if (IsSafe(expr.b)) {
    llvm::Value* b = second();
    return is_and ? frame_.b().CreateAnd(a, b) : frame_.b().CreateOr(a, b);
  }
  const auto known = [&]() -> llvm::Value* { return frame_.b().getInt1(!is_and); };
  return is_and ? frame_.Choose(a, second, known) : frame_.Choose(a, known, second);
}

llvm::Value* ExprEmitter::EmitChoice(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane) {
  llvm::Value* chosen = EmitBool(condition, lane);
  const auto branch = [&](const PrimExpr* value, bool holds) {
    const IndexRanges::Assumption assumption(ranges_, condition, holds);
    return Emit(value, lane);
  };
  if (yes->dtype != no->dtype)
    return frame_.Unsupported("the two values of a choice have different dtypes", frame_.types().Register(yes->dtype));
  // A select instruction is faster than a branch. The operands are then evaluated speculatively, so they must not rely
  // on the condition.
  if (IsSafe(yes) && IsSafe(no)) {
    llvm::Value* a = Emit(yes, lane);
    return frame_.b().CreateSelect(chosen, a, Emit(no, lane));
  }
  return frame_.Choose(
      chosen, [&] { return branch(yes, true); }, [&] { return branch(no, false); });
}

llvm::Value* ExprEmitter::EmitLet(const tir::Let& let, int lane) {
  scope_.Bind(let.var, EmitTyped(let.value));
  ranges_.BindValue(let.var, let.value);
  return Emit(let.body, lane);
}

// The lanes base, base + stride, ...; if base is a vector, the lanes are concatenated.
llvm::Value* ExprEmitter::EmitRamp(const tir::Ramp& ramp, int lane) {
  const int width = ramp.base->dtype.lanes;
  if (lane != kAll) {
    llvm::Value* base = Emit(ramp.base, width == 1 ? kAll : lane % width);
    llvm::Value* stride = Emit(ramp.stride, ramp.stride->dtype.lanes == 1 ? kAll : lane % width);
    llvm::Value* step = llvm::ConstantInt::get(stride->getType(), static_cast<uint64_t>(lane / width));
    return frame_.b().CreateAdd(base, frame_.b().CreateMul(stride, step));
  }
  llvm::Value* value = llvm::PoisonValue::get(frame_.types().Register(ramp.dtype));
  for (int i = 0; i < ramp.dtype.lanes; ++i)
    value = frame_.b().CreateInsertElement(value, EmitRamp(ramp, i), static_cast<uint64_t>(i));
  return value;
}

llvm::Value* ExprEmitter::EmitShuffle(const tir::Shuffle& shuffle, int lane) {
  const auto at = static_cast<size_t>(std::max(lane, 0));
  const auto* index = at < shuffle.indices.size() ? As<tir::IntImm>(shuffle.indices[at]) : nullptr;
  if (at < shuffle.indices.size() && !index) return EmitLaneAt(shuffle.vectors, EmitInt(shuffle.indices[at]));
  int64_t rest = index ? index->value : -1;
  for (const PrimExpr* vector : shuffle.vectors) {
    const int lanes = vector->dtype.lanes;
    if (rest >= 0 && rest < lanes) return Emit(vector, lanes == 1 ? kAll : static_cast<int>(rest));
    rest -= lanes;
  }
  return frame_.Unsupported("a lane index of a shuffle is out of range",
                            frame_.types().Register(shuffle.dtype.with_lanes(1)));
}

llvm::Value* ExprEmitter::EmitLaneAt(List<const PrimExpr*> vectors, llvm::Value* index) {
  int lanes = 0;
  for (const PrimExpr* vector : vectors) lanes += vector->dtype.lanes;
  llvm::Value* all = llvm::PoisonValue::get(frame_.types().Register(vectors[0]->dtype.with_lanes(lanes)));
  int next = 0;
  for (const PrimExpr* vector : vectors) {
    for (int lane = 0; lane < vector->dtype.lanes; ++lane, ++next) {
      llvm::Value* element = Emit(vector, vector->dtype.lanes == 1 ? kAll : lane);
      all = lanes == 1 ? element : frame_.b().CreateInsertElement(all, element, static_cast<uint64_t>(next));
    }
  }
  frame_.FailIf(frame_.b().CreateICmpUGE(index, frame_.Int64(lanes)), "the index of a shuffle is out of range");
  return lanes == 1 ? all : frame_.b().CreateExtractElement(all, index);
}

// ---- Reductions

llvm::Value* ExprEmitter::EmitReduce(const tir::Reduce& reduce) {
  const tir::CommReducer& combiner = *reduce.combiner;
  const size_t width = combiner.result.size();
  const List<const PrimExpr*> starts = reduce.init.empty() ? combiner.identity_element : reduce.init;
  const bool fits = starts.size() == width && reduce.source.size() == width && combiner.lhs.size() == width &&
                    combiner.rhs.size() == width && static_cast<size_t>(reduce.value_index) < width;
  if (!fits) {
    return frame_.Unsupported("the number of values of a reduction differs from that of its combiner",
                              frame_.types().Register(reduce.dtype));
  }
  llvm::SmallVector<llvm::Value*, 2> sums;
  for (const PrimExpr* start : starts) {
    llvm::Value* value = Emit(start);
    sums.push_back(frame_.StackSlot(value->getType()));
    frame_.b().CreateStore(value, sums.back());
  }
  ReduceOver(reduce, 0, sums);
  return frame_.b().CreateLoad(frame_.types().Register(reduce.dtype), sums[static_cast<size_t>(reduce.value_index)]);
}

void ExprEmitter::Combine(const tir::CommReducer& combiner, std::span<const PrimExpr* const> values,
                          llvm::ArrayRef<llvm::Value*> sums) {
  llvm::SmallVector<llvm::Value*, 2> added;
  for (const PrimExpr* value : values) added.push_back(Emit(value));
  for (size_t i = 0; i < sums.size(); ++i) {
    scope_.Bind(combiner.lhs[i], frame_.b().CreateLoad(added[i]->getType(), sums[i]));
    scope_.Bind(combiner.rhs[i], added[i]);
  }
  // All results are computed from the previous accumulators.
  llvm::SmallVector<llvm::Value*, 2> results;
  for (const PrimExpr* result : combiner.result) results.push_back(Emit(result));
  for (size_t i = 0; i < sums.size(); ++i) frame_.b().CreateStore(results[i], sums[i]);
}

void ExprEmitter::ReduceOver(const tir::Reduce& reduce, size_t axis, llvm::ArrayRef<llvm::Value*> sums) {
  if (axis < reduce.axis.size()) {
    const tir::IterVar& loop = *reduce.axis[axis];
    if (!loop.dom) return frame_.state().Unsupported("a reduction axis has no range");
    llvm::Value* min = EmitInt(loop.dom->min);
    frame_.Loop(EmitInt(loop.dom->extent), LoopHint::kNone, [&](llvm::Value* i) {
      scope_.Bind(loop.var,
                  frame_.b().CreateTrunc(frame_.b().CreateAdd(min, i), frame_.types().Register(loop.var->dtype)));
      WithStack([&] { ReduceOver(reduce, axis + 1, sums); });
    });
    return;
  }
  frame_.If(EmitBool(reduce.condition), [&] { Combine(*reduce.combiner, reduce.source, sums); });
}

// ---- Speculation

bool ExprEmitter::IsSafe(const PrimExpr* expr) {
  return WithStack([&]() -> bool {
    switch (expr->kind) {
      case NodeKind::kPrimVar:
      case NodeKind::kSizeVar:
      case NodeKind::kIntImm:
      case NodeKind::kFloatImm: return true;
      case NodeKind::kCast: return IsSafe(To<tir::Cast>(expr)->value);
      case NodeKind::kNot: return IsSafe(To<tir::Not>(expr)->a);
      case NodeKind::kBroadcast: return IsSafe(To<tir::Broadcast>(expr)->value);
      case NodeKind::kRamp: return IsSafe(To<tir::Ramp>(expr)->base) && IsSafe(To<tir::Ramp>(expr)->stride);
      case NodeKind::kSelect: {
        const auto* select = To<tir::Select>(expr);
        return IsSafe(select->condition) && IsSafe(select->true_value) && IsSafe(select->false_value);
      }
      case NodeKind::kBufferLoad: {
        const auto* load = To<tir::BufferLoad>(expr);
        const View* view = scope_.Find(load->buffer);
        if (!view || !view->is_inside || !view->is_declared || load->predicate) return false;
        for (size_t i = 0; i < load->indices.size(); ++i) {
          if (!IsSafe(load->indices[i]) || !ranges_.IsInBounds(load->indices[i], load->buffer->shape[i])) return false;
        }
        return load->indices.size() == view->shape.size();
      }
      case NodeKind::kPrimCall: return IsSafeCall(*To<tir::Call>(expr));
      default: break;
    }
    if (!tir::BinaryExpr::ClassOf(expr->kind)) return false;
    const auto* binary = static_cast<const tir::BinaryExpr*>(expr);
    const bool divides =
        expr->kind >= NodeKind::kDiv && expr->kind <= NodeKind::kFloorMod && !expr->dtype.is_floating();
    if (divides && ranges_.Of(binary->b).min < 1) return false;
    return IsSafe(binary->a) && IsSafe(binary->b);
  });
}

bool ExprEmitter::IsSafeCall(const tir::Call& call) {
  const auto* op = As<Op>(call.op);
  if (!op || !std::ranges::all_of(call.args, [&](const PrimExpr* arg) { return IsSafe(arg); })) return false;
  if (op->id == op::kTirLikely || op->id == op::kTirIfThenElse) return true;
  if (!Arithmetic::IsIntrinsic(op->id, call.args.size())) return false;
  switch (op->id) {
    case op::kTirPow: return call.dtype.is_floating();
    case op::kTirQMultiplyShift:
    case op::kTirQMultiplyShiftPerAxis: return !frame_.state().checks;
    case op::kTirShiftLeft:
    case op::kTirShiftRight:
      return ranges_.Of(call.args[1]).IsWithin({0, call.dtype.bits - 1}) || !frame_.state().checks;
    default: return true;
  }
}

}  // namespace iropt::codegen
