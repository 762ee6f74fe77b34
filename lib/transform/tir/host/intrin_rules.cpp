#include "transform/tir/host/intrin_rules.h"

#include <algorithm>
#include <span>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "transform/tir/host/intrin_rule_builder.h"

namespace iropt {

namespace {

// ---- Functions that compilers know under one scheme of names
constexpr OpId kLlvm[] = {
    op::kTirCeil, op::kTirCos,      op::kTirExp,   op::kTirExp2, op::kTirFabs,      op::kTirFloor,
    op::kTirFma,  op::kTirLog,      op::kTirLog10, op::kTirLog2, op::kTirNearbyint, op::kTirPopcount,
    op::kTirPow,  op::kTirPrefetch, op::kTirRound, op::kTirSin,  op::kTirSqrt,      op::kTirTrunc,
};
constexpr OpId kCLibrary[] = {
    op::kTirAcos,  op::kTirAcosh, op::kTirAsin,      op::kTirAsinh,     op::kTirAtan, op::kTirAtan2,
    op::kTirAtanh, op::kTirCeil,  op::kTirCopysign,  op::kTirCos,       op::kTirCosh, op::kTirErf,
    op::kTirExp,   op::kTirFloor, op::kTirHypot,     op::kTirLdexp,     op::kTirLog,  op::kTirLog10,
    op::kTirLog1p, op::kTirLog2,  op::kTirNearbyint, op::kTirNextafter, op::kTirPow,  op::kTirRound,
    op::kTirSin,   op::kTirSinh,  op::kTirSqrt,      op::kTirTan,       op::kTirTanh,
};
constexpr OpId kCuda[] = {
    op::kTirAtan,  op::kTirCeil,      op::kTirClz,  op::kTirCos,   op::kTirCosh,  op::kTirErf, op::kTirExp,
    op::kTirExp10, op::kTirExp2,      op::kTirFabs, op::kTirFloor, op::kTirFmod,  op::kTirLog, op::kTirLog10,
    op::kTirLog2,  op::kTirNearbyint, op::kTirPow,  op::kTirRound, op::kTirRsqrt, op::kTirSin, op::kTirSinh,
    op::kTirSqrt,  op::kTirTan,       op::kTirTanh, op::kTirTrunc,
};
constexpr OpId kCudaFast[] = {
    op::kTirCos,  op::kTirExp, op::kTirExp10, op::kTirLog,  op::kTirLog10,
    op::kTirLog2, op::kTirPow, op::kTirSin,   op::kTirTanh,
};
constexpr OpId kLibDevice[] = {
    op::kTirAtan,  op::kTirCeil, op::kTirCos,       op::kTirCosh,  op::kTirErf,   op::kTirExp,
    op::kTirExp10, op::kTirExp2, op::kTirFabs,      op::kTirFloor, op::kTirFma,   op::kTirLog,
    op::kTirLog10, op::kTirLog2, op::kTirNearbyint, op::kTirPow,   op::kTirRound, op::kTirSin,
    op::kTirSinh,  op::kTirSqrt, op::kTirTan,       op::kTirTanh,  op::kTirTrunc,
};
constexpr OpId kRocm[] = {
    op::kTirCeil,  op::kTirCos, op::kTirExp,   op::kTirExp2,  op::kTirFabs,      op::kTirFloor,
    op::kTirFma,   op::kTirLog, op::kTirLog10, op::kTirLog2,  op::kTirNearbyint, op::kTirPow,
    op::kTirRound, op::kTirSin, op::kTirSqrt,  op::kTirTrunc,
};
constexpr OpId kHexagon[] = {
    op::kTirCeil,      op::kTirCos, op::kTirExp,   op::kTirFabs, op::kTirFloor, op::kTirFma,   op::kTirLog,
    op::kTirNearbyint, op::kTirPow, op::kTirRound, op::kTirSin,  op::kTirSqrt,  op::kTirTrunc,
};
constexpr OpId kVulkan[] = {
    op::kTirCeil,  op::kTirCos, op::kTirExp,  op::kTirExp2,      op::kTirFabs,
    op::kTirFloor, op::kTirLog, op::kTirLog2, op::kTirNearbyint, op::kTirPow,
    op::kTirRound, op::kTirSin, op::kTirSqrt, op::kTirTanh,      op::kTirTrunc,
};
constexpr OpId kMetal[] = {
    op::kTirCeil,     op::kTirClz,   op::kTirCos,   op::kTirCosh, op::kTirExp,   op::kTirExp10, op::kTirExp2,
    op::kTirFabs,     op::kTirFloor, op::kTirFmod,  op::kTirLog,  op::kTirLog10, op::kTirLog2,  op::kTirNearbyint,
    op::kTirPopcount, op::kTirPow,   op::kTirRound, op::kTirSin,  op::kTirSinh,  op::kTirSqrt,  op::kTirTrunc,
};
constexpr OpId kOpenCl[] = {
    op::kTirCeil,  op::kTirClz,  op::kTirCos,       op::kTirCosh,     op::kTirErf,   op::kTirExp,
    op::kTirExp10, op::kTirExp2, op::kTirFabs,      op::kTirFloor,    op::kTirFmod,  op::kTirLog,
    op::kTirLog10, op::kTirLog2, op::kTirNearbyint, op::kTirPopcount, op::kTirPow,   op::kTirRound,
    op::kTirSin,   op::kTirSinh, op::kTirSqrt,      op::kTirTanh,     op::kTirTrunc,
};
constexpr OpId kVivado[] = {
    op::kTirCeil,  op::kTirCos, op::kTirCosh,  op::kTirExp,  op::kTirExp10,     op::kTirExp2,     op::kTirFabs,
    op::kTirFloor, op::kTirLog, op::kTirLog10, op::kTirLog2, op::kTirNearbyint, op::kTirPopcount, op::kTirPow,
    op::kTirRound, op::kTirSin, op::kTirSinh,  op::kTirSqrt, op::kTirTanh,      op::kTirTrunc,
};
constexpr OpId kIntelFpga[] = {
    op::kTirCeil,     op::kTirExp, op::kTirFabs,  op::kTirFloor, op::kTirLog,  op::kTirNearbyint,
    op::kTirPopcount, op::kTirPow, op::kTirRound, op::kTirSqrt,  op::kTirTanh, op::kTirTrunc,
};
constexpr OpId kWebGpu[] = {
    op::kTirAcos,  op::kTirAcosh, op::kTirAsin, op::kTirAsinh, op::kTirAtan, op::kTirAtan2, op::kTirCeil, op::kTirCos,
    op::kTirCosh,  op::kTirExp,   op::kTirExp2, op::kTirFloor, op::kTirFma,  op::kTirLog,   op::kTirLog2, op::kTirPow,
    op::kTirRound, op::kTirSin,   op::kTirSinh, op::kTirSqrt,  op::kTirTan,  op::kTirTrunc,
};

// ---- Functions with rules of their own
constexpr OpId kOnlyClz[] = {op::kTirClz};
constexpr OpId kOnlyCosh[] = {op::kTirCosh};
constexpr OpId kOnlyErf[] = {op::kTirErf};
constexpr OpId kOnlyExp10[] = {op::kTirExp10};
constexpr OpId kOnlyFabs[] = {op::kTirFabs};
constexpr OpId kOnlyMultiplyShift[] = {op::kTirQMultiplyShift};
constexpr OpId kOnlyMultiplyShiftPerAxis[] = {op::kTirQMultiplyShiftPerAxis};
constexpr OpId kOnlyPopcount[] = {op::kTirPopcount};
constexpr OpId kOnlyRsqrt[] = {op::kTirRsqrt};
constexpr OpId kOnlySigmoid[] = {op::kTirSigmoid};
constexpr OpId kOnlySinh[] = {op::kTirSinh};
constexpr OpId kOnlyTan[] = {op::kTirTan};
constexpr OpId kOnlyTanh[] = {op::kTirTanh};
constexpr OpId kActiveMask[] = {op::kTirTvmWarpActivemask};
constexpr OpId kShuffle[] = {op::kTirTvmWarpShuffle};
constexpr OpId kShuffles[] = {op::kTirTvmWarpShuffle, op::kTirTvmWarpShuffleDown, op::kTirTvmWarpShuffleUp};

struct Rule {
  std::string_view target_kind;  // "" for all
  const PrimExpr* (IntrinRuleBuilder::*lower)();
  std::span<const OpId> ops;
  bool is_fast_math = false;  // only where that is wanted
};

// The first rule that gives something counts.
constexpr Rule kRules[] = {
    {"aocl", &IntrinRuleBuilder::Direct, kIntelFpga},
    {"aocl_sw_emu", &IntrinRuleBuilder::Direct, kIntelFpga},
    {"cuda", &IntrinRuleBuilder::CudaFastMath, kCudaFast, /*is_fast_math=*/true},
    {"cuda", &IntrinRuleBuilder::CudaMath, kCuda},
    {"cuda", &IntrinRuleBuilder::CudaPopcount, kOnlyPopcount},
    {"hexagon", &IntrinRuleBuilder::Llvm, kHexagon},
    {"hexagon", &IntrinRuleBuilder::Tan, kOnlyTan},
    {"hexagon", &IntrinRuleBuilder::Tanh, kOnlyTanh},
    {"llvm", &IntrinRuleBuilder::Cosh, kOnlyCosh},
    {"llvm", &IntrinRuleBuilder::Exp10, kOnlyExp10},
    {"llvm", &IntrinRuleBuilder::LeadingZerosByLlvm, kOnlyClz},
    {"llvm", &IntrinRuleBuilder::Llvm, kLlvm},
    {"llvm", &IntrinRuleBuilder::Sinh, kOnlySinh},
    {"llvm", &IntrinRuleBuilder::Tan, kOnlyTan},
    {"llvm", &IntrinRuleBuilder::Tanh, kOnlyTanh},
    {"metal", &IntrinRuleBuilder::Direct, kMetal},
    {"metal", &IntrinRuleBuilder::FastErf, kOnlyErf},
    {"metal", &IntrinRuleBuilder::Tanh, kOnlyTanh},
    {"nvptx", &IntrinRuleBuilder::LibDevice, kLibDevice},
    {"opencl", &IntrinRuleBuilder::Direct, kOpenCl},
    {"opencl", &IntrinRuleBuilder::IntelShuffle, kShuffle},
    {"rocm", &IntrinRuleBuilder::AmdShuffle, kShuffles},
    {"rocm", &IntrinRuleBuilder::FastErf, kOnlyErf},
    {"rocm", &IntrinRuleBuilder::Llvm, kRocm},
    {"rocm", &IntrinRuleBuilder::NoActiveMask, kActiveMask},
    {"rocm", &IntrinRuleBuilder::Tanh, kOnlyTanh},
    {"sdaccel", &IntrinRuleBuilder::Direct, kVivado},
    {"vulkan", &IntrinRuleBuilder::FastErf, kOnlyErf},
    {"vulkan", &IntrinRuleBuilder::Glsl, kVulkan},
    {"vulkan", &IntrinRuleBuilder::LeadingZerosByGlsl, kOnlyClz},
    {"webgpu", &IntrinRuleBuilder::Abs, kOnlyFabs},
    {"webgpu", &IntrinRuleBuilder::Wgsl, kWebGpu},
    {"webgpu", &IntrinRuleBuilder::FastErf, kOnlyErf},
    {"webgpu", &IntrinRuleBuilder::Tanh, kOnlyTanh},
    {"", &IntrinRuleBuilder::CLibrary, kCLibrary},
    {"", &IntrinRuleBuilder::MultiplyShift, kOnlyMultiplyShift},
    {"", &IntrinRuleBuilder::MultiplyShiftPerAxis, kOnlyMultiplyShiftPerAxis},
    {"", &IntrinRuleBuilder::Rsqrt, kOnlyRsqrt},
    {"", &IntrinRuleBuilder::Sigmoid, kOnlySigmoid},
};

}  // namespace

const PrimExpr* IntrinRules::Lower(const tir::Call& call, const HostBuilder& build, std::string& error) const {
  const auto* op = As<Op>(call.op);
  const IntrinsicInfo* info = op ? IntrinsicOf(op) : nullptr;
  if (!info || (info->num_args >= 0 && call.args.size() != static_cast<size_t>(info->num_args))) return nullptr;
  IntrinRuleBuilder builder(call, build);
  for (const Rule& rule : kRules) {
    if (!rule.target_kind.empty() && rule.target_kind != target_kind_) continue;
    if (rule.is_fast_math && !fast_math_) continue;
    if (std::ranges::find(rule.ops, op->id) == rule.ops.end()) continue;
    if (const PrimExpr* lowered = (builder.*rule.lower)()) return lowered;
    if (builder.error().empty()) continue;
    error = builder.error();
    return nullptr;
  }
  return nullptr;
}

const PrimExpr* IntrinRules::MultiplyAdd(DataType dtype, const PrimExpr* a, const PrimExpr* b, const PrimExpr* c,
                                         const HostBuilder& build, std::string& error) const {
  if (dtype.code != TypeCode::kFloat) return nullptr;
  const auto* call = As<tir::Call>(build.Call(dtype, op::kTirFma, {a, b, c}));
  return Lower(*call, build, error);
}

}  // namespace iropt
