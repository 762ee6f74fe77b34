// The expressions of PrimFuncs as terms.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "iropt/arith/side_effect.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/unary.h"
#include "iropt/support/stack.h"
#include "semantics/proof/loop_encoder.h"

namespace iropt::proof {

namespace {

// The Relax operator that computes the same as an expression of the kind, also for NaN; nothing if Relax has none.
OpId OperatorOf(NodeKind kind, DataType dtype) {
  switch (kind) {
    case NodeKind::kAdd: return op::kAdd;
    case NodeKind::kSub: return op::kSubtract;
    case NodeKind::kMul: return op::kMultiply;
    case NodeKind::kDiv: return dtype.is_floating() ? op::kDivide : OpId{};
    case NodeKind::kEQ: return op::kEqual;
    case NodeKind::kNE: return op::kNotEqual;
    case NodeKind::kLT: return op::kLess;
    case NodeKind::kLE: return op::kLessEqual;
    case NodeKind::kGT: return op::kGreater;
    case NodeKind::kGE: return op::kGreaterEqual;
    default: return {};
  }
}

bool IsQuotient(NodeKind kind) { return kind >= NodeKind::kDiv && kind <= NodeKind::kFloorMod; }

}  // namespace

const Term* LoopEncoder::Named(std::string text, std::vector<const Term*> args, DataType dtype) {
  return terms_.Make(
      {.kind = TermKind::kApply, .dtype = dtype, .op = op::kAbs, .args = std::move(args), .text = std::move(text)});
}

void LoopEncoder::MayFail(std::string text, const Term* term, const Dims& indices) {
  Term failure{.kind = TermKind::kResult, .args = conditions_, .indices = indices, .text = std::move(text)};
  if (term) failure.args.push_back(term);
  // What is assumed in loops is not to be left out here.
  const PrimExpr* where = guard_ ? indices_.And(runs_, indices_.Simplify(guard_)) : runs_;
  if (where) failure.indices.push_back(where);
  failures_.Add(terms_.Make(std::move(failure)));
}

// ---- Indices

const PrimExpr* LoopEncoder::Fitting(const PrimExpr* value, DataType dtype) {
  if (value == nullptr || (dtype.is_int() && dtype.bits >= 64) || dtype.is_bool()) return value;
  if (dtype.is_int() && dtype.bits == 32 && !may_overflow_) return value;
  if (dtype.bits >= 64) return indices_.BoundOf(value).min >= 0 ? value : nullptr;
  const int64_t most = dtype.is_uint() ? (int64_t{1} << dtype.bits) - 1 : (int64_t{1} << (dtype.bits - 1)) - 1;
  const int64_t least = dtype.is_uint() ? 0 : -most - 1;
  const arith::IntBound bound = indices_.BoundOf(value);
  return bound.min >= least && bound.max <= most ? value : nullptr;
}

const PrimExpr* LoopEncoder::IndexOfBinary(const tir::BinaryExpr& binary) {
  const PrimExpr* a = Index(binary.a);
  const PrimExpr* b = a ? Index(binary.b) : nullptr;
  if (b == nullptr) return nullptr;
  const arith::PrimBuilder& make = indices_.make();
  if (IsQuotient(binary.kind) && indices_.Decide(make.Binary(NodeKind::kNE, b, indices_.Int(0))) != true)
    return nullptr;
  const bool is_floor = binary.kind == NodeKind::kFloorDiv || binary.kind == NodeKind::kFloorMod;
  if (is_floor && !arith::AsInt(b)) {
    const auto [quotient, remainder] = indices_.Divide(a, b);
    return Fitting(binary.kind == NodeKind::kFloorDiv ? quotient : remainder, ScalarType(binary.dtype));
  }
  const PrimExpr* result = make.Binary(binary.kind, a, b);
  const bool is_one_of_both = binary.kind == NodeKind::kMin || binary.kind == NodeKind::kMax;
  return result->dtype.is_bool() || is_one_of_both ? result : Fitting(result, ScalarType(binary.dtype));
}

const PrimExpr* LoopEncoder::Index(const PrimExpr* expr) {
  if (!expr->dtype.is_integer() || (expr->dtype.lanes != 1 && expr->dtype.lanes != lane_.num_lanes)) return nullptr;
  const arith::PrimBuilder& make = indices_.make();
  switch (expr->kind) {
    case NodeKind::kIntImm: {
      const int64_t value = To<tir::IntImm>(expr)->value;
      if (expr->dtype.is_uint() && value < 0) return nullptr;
      return expr->dtype.is_bool() ? make.Bool(value != 0) : make.Int(value);
    }
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: {
      const PrimExpr* const* value = ints_.Find(To<tir::Var>(expr));
      return value ? *value : nullptr;
    }
    case NodeKind::kCast: {
      const PrimExpr* value = Index(To<tir::Cast>(expr)->value);
      if (value == nullptr || expr->dtype.is_bool() != value->dtype.is_bool()) return nullptr;
      return Fitting(value, ScalarType(expr->dtype));
    }
    case NodeKind::kNot: {
      const PrimExpr* value = Index(To<tir::Not>(expr)->a);
      return value ? make.Not(value) : nullptr;
    }
    case NodeKind::kSelect: {
      const auto* select = To<tir::Select>(expr);
      const PrimExpr* condition = Index(select->condition);
      const PrimExpr* a = condition ? Index(select->true_value) : nullptr;
      const PrimExpr* b = a ? Index(select->false_value) : nullptr;
      return b ? make.Select(condition, a, b) : nullptr;
    }
    case NodeKind::kRamp: {
      const auto* ramp = To<tir::Ramp>(expr);
      if (ramp->base->dtype.lanes != 1) return nullptr;
      const PrimExpr* base = Index(ramp->base);
      const PrimExpr* stride = base ? Index(ramp->stride) : nullptr;
      if (stride == nullptr || lane_.index == nullptr) return nullptr;
      return Fitting(make.Add(base, make.Mul(stride, lane_.index)), ScalarType(expr->dtype));
    }
    case NodeKind::kBroadcast: {
      const PrimExpr* value = To<tir::Broadcast>(expr)->value;
      return value->dtype.lanes == 1 ? Index(value) : nullptr;
    }
    case NodeKind::kPrimCall: {
      const auto* call = To<tir::Call>(expr);
      return IsOp(call->op, op::kTirLikely) ? Index(call->args[0]) : nullptr;
    }
    default: break;
  }
  const auto* binary = As<tir::BinaryExpr>(expr);
  return binary ? WithStack([&] { return IndexOfBinary(*binary); }) : nullptr;
}

std::optional<Dims> LoopEncoder::Places(const tir::Buffer& buffer, List<const PrimExpr*> indices,
                                        const LoopMemory& memory) {
  const arith::PrimBuilder& make = indices_.make();
  Dims at;
  Dims shape;
  for (const PrimExpr* index : indices) at.push_back(Index(index));
  for (const PrimExpr* dim : buffer.shape) shape.push_back(Index(dim));
  if (std::ranges::find(at, nullptr) != at.end() || std::ranges::find(shape, nullptr) != shape.end() ||
      at.size() != shape.size())
    return std::nullopt;
  const bool has_offset = buffer.elem_offset && !arith::IsInt(buffer.elem_offset, 0);
  const bool is_same = indices_.AreEqual(shape, memory.dims);
  if (!is_same || !buffer.strides.empty() || has_offset) {
    const PrimExpr* place = has_offset ? Index(buffer.elem_offset) : indices_.Int(0);
    const PrimExpr* stride = indices_.Int(1);
    for (size_t i = at.size(); place && i-- > 0;) {
      if (!buffer.strides.empty()) stride = Index(buffer.strides[static_cast<uint32_t>(i)]);
      place = stride ? make.Add(place, make.Mul(at[i], stride)) : nullptr;
      if (stride && buffer.strides.empty()) stride = make.Mul(stride, shape[i]);
    }
    if (place == nullptr) return std::nullopt;
    place = indices_.Simplify(place);
    if (memory.dims.empty() && !indices_.IsEqual(place, indices_.Int(0))) return std::nullopt;
    at.assign(memory.dims.size(), indices_.Int(0));
    for (size_t i = memory.dims.size(); i-- > 0;) {
      if (i == 0) {
        at[i] = place;
      } else {
        std::tie(place, at[i]) = indices_.Divide(place, memory.dims[i]);
      }
    }
  }
  for (const PrimExpr*& index : at) index = indices_.Simplify(index);
  return at;
}

void LoopEncoder::CheckBounds(const Dims& at, const Dims& dims, std::string_view what) {
  for (size_t i = 0; i < at.size(); ++i) {
    if (indices_.IsWithin(at[i], dims[i], guard_)) continue;
    MayFail(fmt::format("a {} may be out of bounds", what), nullptr, {at[i], dims[i]});
  }
}

void LoopEncoder::CheckView(const tir::Buffer& buffer, List<const PrimExpr*> indices, const LoopMemory& memory,
                            std::string_view what) {
  Dims shape;
  for (const PrimExpr* dim : buffer.shape) shape.push_back(Index(dim));
  if (std::ranges::find(shape, nullptr) != shape.end()) {
    Fail("a size is not known");
    return;
  }
  const auto product = [&](const Dims& dims) {
    const PrimExpr* size = indices_.Int(1);
    for (const PrimExpr* dim : dims) size = indices_.make().Mul(size, dim);
    return size;
  };
  const bool has_offset = buffer.elem_offset && !arith::IsInt(buffer.elem_offset, 0);
  const bool is_whole = buffer.strides.empty() && !has_offset && indices_.IsEqual(product(shape), product(memory.dims));
  // With the other ones within bounds, the first index of a view of all elements is if the place in memory is.
  for (uint32_t i = is_whole ? 1 : 0; i < indices.size(); ++i) {
    const PrimExpr* index = Index(indices[i]);
    if (index) index = indices_.Simplify(index);
    if (index && indices_.IsWithin(index, shape[i], guard_)) continue;
    Dims bounds{indices_.Dimension(shape[i])};
    if (index) bounds.insert(bounds.begin(), index);
    MayFail(fmt::format("a {} may be out of bounds", what), index ? nullptr : Encode(indices[i]), bounds);
  }
}

// ---- Elements

const Term* LoopEncoder::Load(const tir::Buffer& buffer, List<const PrimExpr*> indices) {
  const LoopMemory* memory = memories_.Find(buffer.data);
  if (memory == nullptr || memory->base->dtype != buffer.dtype)
    return Fail("it reads memory that is declared with another dtype, or not at all");
  const std::optional<Dims> at = Places(buffer, indices, *memory);
  if (!at) return LoadComputed(buffer, indices, *memory);
  CheckBounds(*at, memory->dims, "load");
  CheckView(buffer, indices, *memory, "load");
  std::string reason;
  const Term* element = memories_.ElementAt(*memory, *at, reason);
  return element ? element : Fail(std::move(reason));
}

LoopEncoder::Linear LoopEncoder::Sum(const PrimExpr* expr) {
  if (const PrimExpr* index = Index(expr)) return {index, nullptr};
  const DataType wide = DataType::Int(64);
  const bool is_exact = expr->dtype.is_int() && (expr->dtype.bits == 64 || (expr->dtype.bits == 32 && !may_overflow_));
  const auto* cast = As<tir::Cast>(expr);
  if (cast && is_exact && cast->value->dtype.is_int() && cast->value->dtype.bits >= 32) return Sum(cast->value);
  const auto* binary = As<tir::BinaryExpr>(expr);
  if (binary && is_exact && (expr->kind == NodeKind::kAdd || expr->kind == NodeKind::kSub)) {
    const Linear a = Sum(binary->a);
    const Linear b = Sum(binary->b);
    return {indices_.make().Binary(expr->kind, a.index, b.index),
            a.rest && b.rest
                ? terms_.Apply(expr->kind == NodeKind::kAdd ? op::kAdd : op::kSubtract, nullptr, {a.rest, b.rest}, wide)
            : b.rest && expr->kind == NodeKind::kSub ? Times(b.rest, indices_.Int(-1))
            : a.rest                                 ? a.rest
                                                     : b.rest};
  }
  if (binary && is_exact && expr->kind == NodeKind::kMul) {
    const Linear a = Sum(binary->a);
    const Linear b = Sum(binary->b);
    const Linear& number = a.rest ? b : a;
    const Linear& other = a.rest ? a : b;
    if (number.rest == nullptr)
      return {indices_.make().Mul(other.index, number.index), other.rest ? Times(other.rest, number.index) : nullptr};
  }
  return {indices_.Int(0), terms_.Cast(Encode(expr), wide)};
}

const Term* LoopEncoder::Times(const Term* term, const PrimExpr* factor) {
  return terms_.Apply(op::kMultiply, nullptr, {term, terms_.Index(factor)}, DataType::Int(64));
}

// By the place of the element in memory, which other shapes of the buffer leave as it is.
const Term* LoopEncoder::LoadComputed(const tir::Buffer& buffer, List<const PrimExpr*> indices,
                                      const LoopMemory& memory) {
  const bool has_offset = buffer.elem_offset && !arith::IsInt(buffer.elem_offset, 0);
  if (memory.base->kind != TermKind::kParam || !memory.writes.empty() || !buffer.strides.empty() || has_offset)
    return Fail("the index of an element that is written before is computed from elements");
  const PrimExpr* stride = indices_.Int(1);
  Linear place{indices_.Int(0), nullptr};
  for (uint32_t i = static_cast<uint32_t>(indices.size()); i-- > 0;) {
    const Linear part = Sum(indices[i]);
    place.index = indices_.make().Add(place.index, indices_.make().Mul(part.index, stride));
    const Term* rest = part.rest ? Times(part.rest, stride) : nullptr;
    if (rest && place.rest) rest = terms_.Apply(op::kAdd, nullptr, {place.rest, rest}, DataType::Int(64));
    if (rest) place.rest = rest;
    const PrimExpr* extent = Index(buffer.shape[i]);
    if (extent == nullptr || !obstacle_.empty()) return Fail("a size is not known");
    stride = indices_.make().Mul(stride, extent);
  }
  const Term* at = place.rest
                       ? terms_.Apply(op::kAdd, nullptr, {place.rest, terms_.Index(place.index)}, DataType::Int(64))
                       : terms_.Index(place.index);
  const Term* element = Named(fmt::format("element of parameter {}", memory.base->number), {at}, memory.base->dtype);
  MayFail("a load may be out of bounds", element, {});
  CheckView(buffer, indices, memory, "load");
  return element;
}

const Term* LoopEncoder::Encode(const PrimExpr* expr) {
  if (!obstacle_.empty()) return Fail({});
  if (expr->dtype.lanes != 1 && expr->dtype.lanes != lane_.num_lanes)
    return Fail("it has vectors with other lanes than those of the store");
  const DataType dtype = ScalarType(expr->dtype);
  if (const PrimExpr* index = Index(expr)) {
    if (!index->dtype.is_bool())
      return dtype == DataType::Int(64) ? terms_.Index(index) : terms_.Cast(terms_.Index(index), dtype);
    return terms_.Select(index, terms_.Number(dtype, int64_t{1}), terms_.Number(dtype, int64_t{0}));
  }
  return WithStack([&]() -> const Term* {
    switch (expr->kind) {
      case NodeKind::kFloatImm: {
        const Term* number = terms_.Number(dtype, To<tir::FloatImm>(expr)->value);
        return number ? number : Fail("a number of an unknown dtype");
      }
      case NodeKind::kPrimVar:
      case NodeKind::kSizeVar: {
        const Term* const* value = values_.Find(To<tir::Var>(expr));
        return value ? *value : Fail("a variable has no known value");
      }
      case NodeKind::kBufferLoad: {
        const auto* load = To<tir::BufferLoad>(expr);
        return load->predicate ? Fail("a load has a predicate") : Load(*load->buffer, load->indices);
      }
      case NodeKind::kCast: return EncodeCast(*To<tir::Cast>(expr));
      case NodeKind::kNot: return terms_.Apply(op::kLogicalNot, nullptr, {Encode(To<tir::Not>(expr)->a)}, dtype);
      case NodeKind::kBroadcast: {
        const PrimExpr* value = To<tir::Broadcast>(expr)->value;
        return value->dtype.lanes == 1 ? Encode(value) : Fail("it repeats a vector");
      }
      case NodeKind::kSelect: {
        const auto* select = To<tir::Select>(expr);
        return EncodeChoice(select->condition, select->true_value, select->false_value, dtype);
      }
      case NodeKind::kLet: {
        const auto* let = To<tir::Let>(expr);
        if (const PrimExpr* index = Index(let->value)) {
          ints_[let->var] = index;
        } else {
          values_[let->var] = Encode(let->value);
        }
        return Encode(let->body);
      }
      case NodeKind::kPrimCall: return EncodeCall(*To<tir::Call>(expr));
      default: break;
    }
    const auto* binary = As<tir::BinaryExpr>(expr);
    return binary ? EncodeBinary(*binary) : Fail(fmt::format("it has {}", NodeKindName(expr->kind)));
  });
}

const Term* LoopEncoder::EncodeWhere(const PrimExpr* condition, const Term* value, bool holds, const PrimExpr* expr) {
  if (const PrimExpr* index = Index(condition)) {
    const PrimExpr* outside = guard_;
    guard_ = indices_.And(outside, holds ? index : indices_.make().Not(index));
    const Term* result = Encode(expr);
    guard_ = outside;
    return result;
  }
  conditions_.push_back(holds ? value : terms_.Apply(op::kLogicalNot, nullptr, {value}, DataType::Bool()));
  const Term* result = Encode(expr);
  conditions_.pop_back();
  return result;
}

// The second operand is only computed where the first one does not decide.
const Term* LoopEncoder::EncodeLogic(const tir::BinaryExpr& binary) {
  const bool is_and = binary.kind == NodeKind::kAnd;
  const Term* a = Encode(binary.a);
  const Term* b = EncodeWhere(binary.a, a, is_and, binary.b);
  return terms_.Apply(is_and ? op::kLogicalAnd : op::kLogicalOr, nullptr, {a, b}, ScalarType(binary.dtype));
}

const Term* LoopEncoder::EncodeBinary(const tir::BinaryExpr& binary) {
  if (binary.kind == NodeKind::kAnd || binary.kind == NodeKind::kOr) return EncodeLogic(binary);
  const Term* a = Encode(binary.a);
  const Term* b = Encode(binary.b);
  const DataType dtype = ScalarType(binary.dtype);
  if (const OpId op = OperatorOf(binary.kind, dtype); op != OpId{}) return terms_.Apply(op, nullptr, {a, b}, dtype);
  const Term* value = Named(fmt::format("T.{}", NodeKindName(binary.kind)), {a, b}, dtype);
  const bool is_nonzero = b->kind == TermKind::kNumber && b->number != 0;
  if (IsQuotient(binary.kind) && dtype.is_integer() && !is_nonzero) MayFail("a divisor may be 0", value, {});
  return value;
}

const Term* LoopEncoder::EncodeChoice(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b, DataType dtype) {
  if (const PrimExpr* index = Index(condition)) {
    if (const auto holds = indices_.Decide(index)) return Encode(*holds ? a : b);
    const Term* x = EncodeWhere(condition, nullptr, true, a);
    const Term* y = EncodeWhere(condition, nullptr, false, b);
    return obstacle_.empty() ? terms_.Select(index, x, y) : x;
  }
  const Term* chooses = Encode(condition);
  const Term* x = EncodeWhere(condition, chooses, true, a);
  const Term* y = EncodeWhere(condition, chooses, false, b);
  return terms_.Apply(op::kWhere, nullptr, {chooses, x, y}, dtype);
}

const Term* LoopEncoder::EncodeCast(const tir::Cast& cast) {
  const DataType dtype = ScalarType(cast.dtype);
  const PrimExpr* index = Index(cast.value);
  const Term* value = index && !index->dtype.is_bool() ? terms_.Index(index) : Encode(cast.value);
  if (!value->dtype.is_floating() || dtype.is_floating()) return terms_.Cast(value, dtype);
  const Term* result = Named("T.Cast", {value}, dtype);
  MayFail("a number may be beyond the range of an integer", result, {});
  return result;
}

const Term* LoopEncoder::EncodeCall(const tir::Call& call) {
  const auto* op = As<Op>(call.op);
  if (op == nullptr) return Fail("it calls a function");
  if (op->id == op::kTirIfThenElse)
    return EncodeChoice(call.args[0], call.args[1], call.args[2], ScalarType(call.dtype));
  if (arith::SideEffect(&call) > CallEffect::kReadState) return Fail(fmt::format("it calls {}", op->info->script));
  // Other lanes than its own may be in the result of one that is not computed for each lane.
  const auto is_of_lanes = [&](const PrimExpr* arg) {
    return !arg->dtype.is_handle() && arg->dtype.lanes == call.dtype.lanes;
  };
  if (call.dtype.is_handle() || EffectOf(op) > CallEffect::kPure || op->id == op::kTirBufferOffset ||
      !std::ranges::all_of(call.args, is_of_lanes))
    return Fail(fmt::format("it calls {}", op->info->script));
  std::vector<const Term*> args;
  for (const PrimExpr* arg : call.args) args.push_back(Encode(arg));
  const DataType dtype = ScalarType(call.dtype);
  const Term* value = Named(std::string(op->info->script), std::move(args), dtype);
  if (op->id == op::kTirShiftLeft || op->id == op::kTirShiftRight) {
    const PrimExpr* amount = Index(call.args[1]);
    if (amount == nullptr || !indices_.IsWithin(amount, indices_.Int(dtype.bits), guard_))
      MayFail("a shift may be too far", value, {});
  }
  if (op->id == op::kTirPow && dtype.is_integer()) MayFail("an exponent may be negative", value, {});
  return value;
}

}  // namespace iropt::proof
