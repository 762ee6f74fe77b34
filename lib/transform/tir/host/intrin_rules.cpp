#include "transform/tir/host/intrin_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

namespace iropt {

namespace {

using arith::BitOp;

// An intrinsic of LLVM. The dtypes of the first `num_signature` operands choose the function.
struct LlvmIntrinsic {
  OpId op;
  std::string_view name;
  int num_signature;
};

constexpr LlvmIntrinsic kLlvmIntrinsics[] = {
    {OpId::kTirCeil, "llvm.ceil", 1},
    {OpId::kTirCos, "llvm.cos", 1},
    {OpId::kTirExp, "llvm.exp", 1},
    {OpId::kTirExp2, "llvm.exp2", 1},
    {OpId::kTirFabs, "llvm.fabs", 1},
    {OpId::kTirFloor, "llvm.floor", 1},
    {OpId::kTirFma, "llvm.fmuladd", 3},
    {OpId::kTirLog, "llvm.log", 1},
    {OpId::kTirLog10, "llvm.log10", 1},
    {OpId::kTirLog2, "llvm.log2", 1},
    {OpId::kTirNearbyint, "llvm.nearbyint", 1},
    {OpId::kTirPopcount, "llvm.ctpop", 1},
    {OpId::kTirPow, "llvm.pow", 2},
    {OpId::kTirPrefetch, "llvm.prefetch", 4},
    {OpId::kTirRound, "llvm.round", 1},
    {OpId::kTirSin, "llvm.sin", 1},
    {OpId::kTirSqrt, "llvm.sqrt", 1},
    {OpId::kTirTrunc, "llvm.trunc", 1},
};

// Functions of the C library: expf for float32, exp for float64.
constexpr OpId kLibraryFunctions[] = {
    OpId::kTirAcos,  OpId::kTirAcosh, OpId::kTirAsin,      OpId::kTirAsinh,     OpId::kTirAtan, OpId::kTirAtan2,
    OpId::kTirAtanh, OpId::kTirCeil,  OpId::kTirCopysign,  OpId::kTirCos,       OpId::kTirCosh, OpId::kTirErf,
    OpId::kTirExp,   OpId::kTirFloor, OpId::kTirHypot,     OpId::kTirLdexp,     OpId::kTirLog,  OpId::kTirLog10,
    OpId::kTirLog1p, OpId::kTirLog2,  OpId::kTirNearbyint, OpId::kTirNextafter, OpId::kTirPow,  OpId::kTirRound,
    OpId::kTirSin,   OpId::kTirSinh,  OpId::kTirSqrt,      OpId::kTirTan,       OpId::kTirTanh,
};

class RuleBuilder {
 public:
  RuleBuilder(const tir::Call& call, const HostBuilder& build) : call_(call), build_(build), make_(build.make()) {}

  const PrimExpr* Llvm(OpId callee, std::string_view name, int num_signature) const {
    std::vector<const PrimExpr*> args = {build_.String(name), make_.Int(num_signature, DataType::UInt(32))};
    args.insert(args.end(), call_.args.begin(), call_.args.end());
    return build_.Call(call_.dtype, GetOp(callee), args);
  }
  // The operand is the first one of the call.
  const PrimExpr* LeadingZeros() const {
    const PrimExpr* zeros = build_.Call(
        x()->dtype, OpId::kTirCallLlvmIntrin,
        {build_.String("llvm.ctlz"), make_.Int(2, DataType::UInt(32)), x(), make_.Int(1, DataType::Int(1))});
    return make_.Cast(call_.dtype, zeros);
  }
  const PrimExpr* Library(const Op& op) const {
    const bool is_float = call_.dtype == DataType::Float(32);
    if (!is_float && call_.dtype != DataType::Float(64)) return nullptr;
    std::string name(std::string_view(op.info->name).substr(4));  // without "tir."
    if (is_float) name += 'f';
    std::vector<const PrimExpr*> args = {build_.String(name)};
    args.insert(args.end(), call_.args.begin(), call_.args.end());
    return build_.Call(call_.dtype, GetOp(OpId::kTirCallPureExtern), args);
  }

  // Without overflow of exp for large operands.
  const PrimExpr* Tanh() const {
    const PrimExpr* one = Const(1);
    const PrimExpr* falling = Unary(OpId::kTirExp, make_.Mul(Const(-2), x()));
    const PrimExpr* rising = Unary(OpId::kTirExp, make_.Mul(Const(2), x()));
    const PrimExpr* positive = make_.TruncDiv(make_.Sub(one, falling), make_.Add(one, falling));
    const PrimExpr* negative = make_.TruncDiv(make_.Sub(rising, one), make_.Add(rising, one));
    return Select(make_.Binary(NodeKind::kGE, x(), Const(0)), positive, negative);
  }
  const PrimExpr* Exp10() const { return Unary(OpId::kTirExp, make_.Mul(x(), Const(2.302585093))); }
  const PrimExpr* Tan() const { return make_.TruncDiv(Unary(OpId::kTirSin, x()), Unary(OpId::kTirCos, x())); }
  // (exp(x) + exp(-x)) / 2, or their difference.
  const PrimExpr* Hyperbolic(NodeKind kind) const {
    const PrimExpr* falling = Unary(OpId::kTirExp, make_.Mul(Const(-1), x()));
    return make_.TruncDiv(make_.Binary(kind, Unary(OpId::kTirExp, x()), falling), Const(2));
  }
  const PrimExpr* Rsqrt() const { return make_.TruncDiv(Const(1), Unary(OpId::kTirSqrt, x())); }
  const PrimExpr* Sigmoid() const {
    const PrimExpr* one = Const(1);
    return make_.TruncDiv(one, make_.Add(one, Unary(OpId::kTirExp, Negate(x()))));
  }

  // Operands: x, multiplier y, number q of its fractional bits, shift s.
  const PrimExpr* MultiplyShift() const {
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
  // Operands: x, y, left shift, right shift, q, whether there is a left shift, whether there is a right one.
  const PrimExpr* MultiplyShiftPerAxis() const {
    return MultiplyShift(call_.args[1], call_.args[4], call_.args[2], call_.args[3], call_.args[5]);
  }

 private:
  const PrimExpr* x() const { return call_.args[0]; }
  // Of the dtype of the operand.
  const PrimExpr* Const(double value) const {
    const DataType dtype = x()->dtype;
    if (dtype.is_integer()) return IntConst(static_cast<int64_t>(value), dtype);
    return make_.Cast(dtype, make_.Float(value, dtype.with_lanes(1)));
  }
  const PrimExpr* IntConst(int64_t value, DataType dtype) const { return make_.Const(value, dtype); }
  static const int64_t* ConstantOf(const PrimExpr* e) {
    const auto* broadcast = As<tir::Broadcast>(e);
    return arith::AsInt(broadcast ? broadcast->value : e);
  }
  const PrimExpr* Negate(const PrimExpr* e) const {
    if (const int64_t* value = arith::AsInt(e)) return make_.Int(-*value, e->dtype);
    if (const auto* value = As<tir::FloatImm>(e)) return make_.Float(-value->value, e->dtype);
    return make_.Sub(e->dtype.is_integer() ? IntConst(0, e->dtype) : Const(0), e);
  }
  const PrimExpr* Select(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) const {
    return make_.Keep(tir::Select(condition, a, b));
  }
  // bfloat16 is computed in float32.
  const PrimExpr* Unary(OpId op, const PrimExpr* e) const {
    const DataType dtype = e->dtype;
    if (dtype.code != TypeCode::kBFloat) return build_.Call(dtype, op, {e});
    const DataType wide = DataType::Float(32, dtype.lanes);
    return make_.Keep(tir::Cast(dtype, build_.Call(wide, op, {make_.Keep(tir::Cast(wide, e))})));
  }
  // x * y * 2^(left - right - q) with rounding, in 64 bits.
  const PrimExpr* MultiplyShift(const PrimExpr* y, const PrimExpr* q, const PrimExpr* left, const PrimExpr* right,
                                const PrimExpr* has_left) const {
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

  const tir::Call& call_;
  const HostBuilder& build_;
  const arith::PrimBuilder& make_;
};

const PrimExpr* LowerForLlvm(const Op& op, const RuleBuilder& rule) {
  switch (op.id) {
    case OpId::kTirTanh: return rule.Tanh();
    case OpId::kTirExp10: return rule.Exp10();
    case OpId::kTirTan: return rule.Tan();
    case OpId::kTirCosh: return rule.Hyperbolic(NodeKind::kAdd);
    case OpId::kTirSinh: return rule.Hyperbolic(NodeKind::kSub);
    case OpId::kTirClz: return rule.LeadingZeros();
    default: break;
  }
  const auto* found = std::ranges::find(kLlvmIntrinsics, op.id, &LlvmIntrinsic::op);
  if (found == std::end(kLlvmIntrinsics)) return nullptr;
  const OpId callee = op.id == OpId::kTirPrefetch ? OpId::kTirCallLlvmIntrin : OpId::kTirCallLlvmPureIntrin;
  return rule.Llvm(callee, found->name, found->num_signature);
}

// For all targets.
const PrimExpr* LowerForAll(const Op& op, const RuleBuilder& rule) {
  switch (op.id) {
    case OpId::kTirRsqrt: return rule.Rsqrt();
    case OpId::kTirSigmoid: return rule.Sigmoid();
    case OpId::kTirQMultiplyShift: return rule.MultiplyShift();
    case OpId::kTirQMultiplyShiftPerAxis: return rule.MultiplyShiftPerAxis();
    default: break;
  }
  const bool in_library = std::ranges::find(kLibraryFunctions, op.id) != std::end(kLibraryFunctions);
  return in_library ? rule.Library(op) : nullptr;
}

}  // namespace

std::optional<IntrinRules> IntrinRules::Of(std::string_view target_kind) {
  static constexpr std::array<std::string_view, 10> kOther = {"aocl",   "cuda", "hexagon", "metal",  "nvptx",
                                                              "opencl", "rocm", "sdaccel", "vulkan", "webgpu"};
  if (std::ranges::find(kOther, target_kind) != kOther.end()) return std::nullopt;
  return IntrinRules(target_kind == "llvm");
}

const PrimExpr* IntrinRules::Lower(const tir::Call& call, const HostBuilder& build) const {
  const auto* op = As<Op>(call.op);
  if (!op || call.args.empty()) return nullptr;
  const RuleBuilder rule(call, build);
  const PrimExpr* lowered = is_llvm_ ? LowerForLlvm(*op, rule) : nullptr;
  return lowered ? lowered : LowerForAll(*op, rule);
}

const PrimExpr* IntrinRules::MultiplyAdd(DataType dtype, const PrimExpr* a, const PrimExpr* b, const PrimExpr* c,
                                         const HostBuilder& build) const {
  if (!is_llvm_ || dtype.code != TypeCode::kFloat) return nullptr;
  const auto* call = As<tir::Call>(build.Call(dtype, OpId::kTirFma, {a, b, c}));
  return Lower(*call, build);
}

}  // namespace iropt
