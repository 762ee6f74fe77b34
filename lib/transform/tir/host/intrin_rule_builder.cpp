#include "transform/tir/host/intrin_rule_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/fast_math.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt {

using arith::BitOp;

namespace {

// Numbers of GLSL.std.450, the extended instructions of SPIR-V.
struct GlslInstruction {
  OpId op;
  int number;
};
constexpr GlslInstruction kGlslInstructions[] = {
    {op::kTirCeil, 9},  {op::kTirCos, 14}, {op::kTirExp, 27},  {op::kTirExp2, 29},     {op::kTirFabs, 4},
    {op::kTirFloor, 8}, {op::kTirLog, 28}, {op::kTirLog2, 30}, {op::kTirNearbyint, 2}, {op::kTirPow, 26},
    {op::kTirRound, 2}, {op::kTirSin, 13}, {op::kTirSqrt, 31}, {op::kTirTanh, 21},     {op::kTirTrunc, 3},
};
constexpr int kGlslFindUMsb = 75;

const int64_t* ConstantOf(const PrimExpr* e) {
  const auto* broadcast = As<tir::Broadcast>(e);
  return arith::AsInt(broadcast ? broadcast->value : e);
}

}  // namespace

// ---- Calls

std::string_view IntrinRuleBuilder::Name(std::string_view round) const {
  return op_->id == op::kTirRound ? round : std::string_view(op_->info->name).substr(4);
}

const PrimExpr* IntrinRuleBuilder::CallWith(DataType dtype, OpId callee, std::initializer_list<const PrimExpr*> first,
                                            std::span<const PrimExpr* const> rest) const {
  std::vector<const PrimExpr*> args = first;
  args.insert(args.end(), rest.begin(), rest.end());
  return build_.Call(dtype, GetOp(callee), args);
}

const PrimExpr* IntrinRuleBuilder::PureExtern(std::string_view name) const {
  if (name.empty()) return nullptr;
  return CallWith(call_.dtype, op::kTirCallPureExtern, {build_.String(name)}, call_.args.span());
}

const PrimExpr* IntrinRuleBuilder::Direct() { return PureExtern(Name("rint")); }
const PrimExpr* IntrinRuleBuilder::Wgsl() { return PureExtern(Name("round")); }
const PrimExpr* IntrinRuleBuilder::Abs() { return PureExtern("abs"); }

const PrimExpr* IntrinRuleBuilder::CLibrary() {
  if (call_.dtype == DataType::Float(32)) return PureExtern(fmt::format("{}f", Name()));
  return call_.dtype == DataType::Float(64) ? PureExtern(Name()) : nullptr;
}

// Empty for dtypes that CUDA has no function for.
std::string IntrinRuleBuilder::CudaName(DataType dtype) const {
  const bool is_float = dtype.code == TypeCode::kFloat;
  std::string name(Name());
  if ((is_float || dtype.code == TypeCode::kBFloat) && dtype.bits == 16) {
    if (op_->id == op::kTirFabs) return "__habs";
    return op_->id == op::kTirRound ? "hrint" : "h" + name;
  }
  if (is_float) return dtype.bits == 64 ? name : dtype.bits == 32 ? name + "f" : "";
  if (!dtype.is_integer()) return "";
  if (dtype.bits == 32) return "__" + name;
  return dtype.bits == 64 ? "__" + name + "ll" : "";
}

const PrimExpr* IntrinRuleBuilder::CudaMath() {
  // The result of counting zeros is of another dtype than what is counted.
  return PureExtern(CudaName(op_->id == op::kTirClz ? x()->dtype : call_.dtype));
}

const PrimExpr* IntrinRuleBuilder::CudaFastMath() {
  const bool is_float = call_.dtype.code == TypeCode::kFloat && call_.dtype.bits == 32;
  return PureExtern(is_float ? fmt::format("__{}f", Name()) : CudaName(call_.dtype));
}

const PrimExpr* IntrinRuleBuilder::CudaPopcount() {
  if (!call_.dtype.is_uint()) return nullptr;
  return call_.dtype.bits == 32 ? PureExtern("__popc") : call_.dtype.bits == 64 ? PureExtern("__popcll") : nullptr;
}

const PrimExpr* IntrinRuleBuilder::LibDevice() {
  if (call_.dtype.bits != 32 && call_.dtype.bits != 64)
    return Fail(fmt::format("{} of {} is not in libdevice: expected float32 or float64", op_->info->script,
                            call_.dtype.ToString()));
  return PureExtern(fmt::format("__nv_{}{}", Name(), call_.dtype.bits == 32 ? "f" : ""));
}

const PrimExpr* IntrinRuleBuilder::Llvm() {
  // The name, and how many operands there are whose dtypes choose the function.
  std::string name = fmt::format("llvm.{}", Name());
  int64_t num_signature = 1;
  switch (op_->id) {
    case op::kTirFma: name = "llvm.fmuladd", num_signature = 3; break;
    case op::kTirPopcount: name = "llvm.ctpop"; break;
    case op::kTirPow: num_signature = 2; break;
    case op::kTirPrefetch: num_signature = 4; break;
    default: break;
  }
  const OpId callee = op_->id == op::kTirPrefetch ? op::kTirCallLlvmIntrin : op::kTirCallLlvmPureIntrin;
  return CallWith(call_.dtype, callee, {build_.String(name), make_.Int(num_signature, DataType::UInt(32))},
                  call_.args.span());
}

const PrimExpr* IntrinRuleBuilder::Glsl() {
  const auto* found = std::ranges::find(kGlslInstructions, op_->id, &GlslInstruction::op);
  if (found == std::end(kGlslInstructions)) return nullptr;
  return CallWith(call_.dtype, op::kTirCallSpirvPureGlsl450, {make_.Int(found->number, DataType::UInt(32))},
                  call_.args.span());
}

// ---- Arithmetic

const PrimExpr* IntrinRuleBuilder::LeadingZerosByLlvm() {
  const PrimExpr* zeros =
      build_.Call(x()->dtype, op::kTirCallLlvmIntrin,
                  {build_.String("llvm.ctlz"), make_.Int(2, DataType::UInt(32)), x(), make_.Int(1, DataType::Int(1))});
  return make_.Cast(call_.dtype, zeros);
}

// From the highest bit that is set, which the instruction finds in 32 bits.
const PrimExpr* IntrinRuleBuilder::LeadingZerosByGlsl() {
  const int bits = x()->dtype.bits;
  if (bits != 32 && bits != 64)
    return Fail(fmt::format("T.clz of {} is not in SPIR-V: expected 32 or 64 bits", x()->dtype.ToString()));
  const auto highest = [&](const PrimExpr* e) {
    return build_.Call(call_.dtype, op::kTirCallSpirvPureGlsl450, {make_.Int(kGlslFindUMsb, DataType::UInt(32)), e});
  };
  const PrimExpr* bit = nullptr;
  if (bits == 32) {
    bit = highest(x());
  } else {
    const DataType half = DataType::Int(32);
    const PrimExpr* high =
        make_.Keep(tir::Cast(half, make_.Bitwise(BitOp::kShiftRight, x(), IntConst(32, x()->dtype))));
    const PrimExpr* low = make_.Keep(tir::Cast(half, x()));
    const PrimExpr* is_low = make_.Binary(NodeKind::kEQ, high, IntConst(0, half));
    const PrimExpr* in_low = highest(low);
    bit = build_.IfThenElse(is_low, in_low, make_.Add(highest(high), IntConst(32, call_.dtype)));
  }
  return make_.Sub(IntConst(bits - 1, DataType::Int(32)), bit);
}

const PrimExpr* IntrinRuleBuilder::FastErf() {
  const DataType dtype = x()->dtype;
  if (dtype.code != TypeCode::kFloat || (dtype.bits != 16 && dtype.bits != 32))
    return Fail(
        fmt::format("T.erf of {} cannot be lowered for this target: expected float16 or float32", dtype.ToString()));
  return arith::FastErf(x(), make_);
}

const PrimExpr* IntrinRuleBuilder::Tanh() {
  const PrimExpr* one = Const(1);
  const PrimExpr* falling = Unary(op::kTirExp, make_.Mul(Const(-2), x()));
  const PrimExpr* rising = Unary(op::kTirExp, make_.Mul(Const(2), x()));
  const PrimExpr* positive = make_.TruncDiv(make_.Sub(one, falling), make_.Add(one, falling));
  const PrimExpr* negative = make_.TruncDiv(make_.Sub(rising, one), make_.Add(rising, one));
  return Select(make_.Binary(NodeKind::kGE, x(), Const(0)), positive, negative);
}

const PrimExpr* IntrinRuleBuilder::Exp10() { return Unary(op::kTirExp, make_.Mul(x(), Const(2.302585093))); }

const PrimExpr* IntrinRuleBuilder::Tan() { return make_.TruncDiv(Unary(op::kTirSin, x()), Unary(op::kTirCos, x())); }

const PrimExpr* IntrinRuleBuilder::Hyperbolic(NodeKind kind) const {
  const PrimExpr* falling = Unary(op::kTirExp, make_.Mul(Const(-1), x()));
  return make_.TruncDiv(make_.Binary(kind, Unary(op::kTirExp, x()), falling), Const(2));
}

const PrimExpr* IntrinRuleBuilder::Rsqrt() { return make_.TruncDiv(Const(1), Unary(op::kTirSqrt, x())); }

const PrimExpr* IntrinRuleBuilder::Sigmoid() {
  const PrimExpr* one = Const(1);
  return make_.TruncDiv(one, make_.Add(one, Unary(op::kTirExp, Negate(x()))));
}

const PrimExpr* IntrinRuleBuilder::MultiplyShift() {
  const PrimExpr* y = call_.args[1];
  const PrimExpr* s = call_.args[3];
  const int64_t* multiplier = ConstantOf(y);
  const int64_t* shift = ConstantOf(s);
  if (!multiplier || (*multiplier == int64_t{1} << 30 && !shift)) return nullptr;
  const PrimExpr* zero = IntConst(0, s->dtype);
  if (*multiplier != int64_t{1} << 30) {
    const PrimExpr* is_left = make_.Binary(NodeKind::kGT, s, zero);
    const PrimExpr* left = Select(is_left, s, zero);
    const PrimExpr* right = Select(is_left, zero, Negate(s));
    return MultiplyShift(y, call_.args[2], left, right, make_.Binary(NodeKind::kNE, left, zero));
  }
  // The multiplier is 0.5: only shift.
  const PrimExpr* left = make_.Sub(s, IntConst(1, s->dtype));
  if (*shift - 1 > 0) return make_.Bitwise(BitOp::kShiftLeft, x(), left);
  const PrimExpr* right = Negate(left);
  const PrimExpr* one = IntConst(1, DataType::Int(32).with_lanes(x()->dtype.lanes));
  const PrimExpr* half = make_.Bitwise(BitOp::kShiftLeft, one, make_.Sub(right, IntConst(1, right->dtype)));
  return make_.Bitwise(BitOp::kShiftRight, make_.Add(x(), half), right);
}

const PrimExpr* IntrinRuleBuilder::MultiplyShiftPerAxis() {
  return MultiplyShift(call_.args[1], call_.args[4], call_.args[2], call_.args[3], call_.args[5]);
}

const PrimExpr* IntrinRuleBuilder::MultiplyShift(const PrimExpr* y, const PrimExpr* q, const PrimExpr* left,
                                                 const PrimExpr* right, const PrimExpr* has_left) const {
  const DataType wide = DataType::Int(64).with_lanes(x()->dtype.lanes);
  const PrimExpr* value = make_.Cast(wide, x());
  value = Select(has_left, make_.Bitwise(BitOp::kShiftLeft, value, left), value);
  value = make_.Mul(value, make_.Cast(wide, y));
  const PrimExpr* shift = make_.Add(right, q);
  const PrimExpr* half =
      make_.Bitwise(BitOp::kShiftLeft, IntConst(1, wide), make_.Sub(shift, IntConst(1, shift->dtype)));
  value = make_.Bitwise(BitOp::kShiftRight, make_.Add(value, half), shift);
  return make_.Cast(DataType::Int(32).with_lanes(x()->dtype.lanes), value);
}

// ---- Threads

// OpenCL has only the extension of Intel, over all threads of a subgroup.
const PrimExpr* IntrinRuleBuilder::IntelShuffle() {
  if (!arith::ProveEqual(call_.args[3], call_.args[4]))
    return Fail("a shuffle of OpenCL is over a whole subgroup: expected a width that is the size of the warp");
  return CallWith(call_.dtype, op::kTirCallPureExtern, {build_.String("intel_sub_group_shuffle")},
                  call_.args.span().subspan(1, 2));
}

// Reads from the lane whose number, times the 4 bytes of a register, is the address.
const PrimExpr* IntrinRuleBuilder::AmdShuffle() {
  const PrimExpr* value = call_.args[1];
  if (value->dtype.bits != 32)
    return Fail(fmt::format("{} of {} cannot be lowered for ROCm: expected 32 bits", op_->info->script,
                            value->dtype.ToString()));
  const DataType int32 = DataType::Int(32);
  const auto call = [&](std::string_view name, const PrimExpr* a, const PrimExpr* b) {
    return build_.Call(int32, op::kTirCallPureExtern, {build_.String(name), a, b});
  };
  const PrimExpr* all = IntConst(-1, int32);
  const PrimExpr* self = call("llvm.amdgcn.mbcnt.hi", all, call("llvm.amdgcn.mbcnt.lo", all, IntConst(0, int32)));
  const PrimExpr* distance = call_.args[2];
  const PrimExpr* width = call_.args[3];
  const PrimExpr* in_group = make_.Sub(width, IntConst(1, width->dtype));
  const PrimExpr* not_in_group = build_.Call(in_group->dtype, op::kTirBitwiseNot, {in_group});
  const PrimExpr* begin = make_.Bitwise(BitOp::kAnd, self, not_in_group);
  const PrimExpr* lane = nullptr;
  if (op_->id == op::kTirTvmWarpShuffle) {
    lane = make_.Add(distance, begin);
  } else if (op_->id == op::kTirTvmWarpShuffleUp) {
    lane = make_.Sub(self, distance);
    lane = Select(make_.Binary(NodeKind::kLT, lane, begin), self, lane);
  } else {
    const PrimExpr* end = make_.Add(make_.Bitwise(BitOp::kAnd, self, in_group), distance);
    lane = Select(make_.Binary(NodeKind::kGE, end, width), self, make_.Add(self, distance));
  }
  const auto reinterpret = [&](DataType dtype, const PrimExpr* e) {
    return e->dtype == dtype ? e : build_.Call(dtype, op::kTirReinterpret, {e});
  };
  const PrimExpr* address = make_.Bitwise(BitOp::kShiftLeft, lane, IntConst(2, lane->dtype));
  return reinterpret(value->dtype, call("llvm.amdgcn.ds.bpermute", address, reinterpret(int32, value)));
}

const PrimExpr* IntrinRuleBuilder::NoActiveMask() { return IntConst(0, DataType::Int(32)); }

// ---- Operands

const PrimExpr* IntrinRuleBuilder::Const(double value) const {
  const DataType dtype = x()->dtype;
  if (dtype.is_integer()) return IntConst(static_cast<int64_t>(value), dtype);
  return make_.Cast(dtype, make_.Float(value, dtype.with_lanes(1)));
}

const PrimExpr* IntrinRuleBuilder::Negate(const PrimExpr* e) const {
  if (const int64_t* value = arith::AsInt(e)) return make_.Int(-*value, e->dtype);
  if (const auto* value = As<tir::FloatImm>(e)) return make_.Float(-value->value, e->dtype);
  return make_.Sub(e->dtype.is_integer() ? IntConst(0, e->dtype) : Const(0), e);
}

const PrimExpr* IntrinRuleBuilder::Unary(OpId op, const PrimExpr* e) const {
  const DataType dtype = e->dtype;
  if (dtype.code != TypeCode::kBFloat) return build_.Call(dtype, op, {e});
  const DataType wide = DataType::Float(32, dtype.lanes);
  return make_.Keep(tir::Cast(dtype, build_.Call(wide, op, {make_.Keep(tir::Cast(wide, e))})));
}

}  // namespace iropt
