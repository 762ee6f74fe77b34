#include "transform/tir/host/intrin_rules.h"

#include <algorithm>
#include <span>

#include "iropt/op/intrinsics.h"
#include "transform/tir/host/intrin_rule_builder.h"

namespace iropt {

namespace {

using enum OpId;

// ---- Functions that compilers know under one scheme of names
constexpr OpId kLlvm[] = {
    kTirCeil, kTirCos,       kTirExp,      kTirExp2, kTirFabs,     kTirFloor, kTirFma, kTirLog,  kTirLog10,
    kTirLog2, kTirNearbyint, kTirPopcount, kTirPow,  kTirPrefetch, kTirRound, kTirSin, kTirSqrt, kTirTrunc,
};
constexpr OpId kCLibrary[] = {
    kTirAcos,     kTirAcosh, kTirAsin,  kTirAsinh, kTirAtan,      kTirAtan2,     kTirAtanh, kTirCeil,
    kTirCopysign, kTirCos,   kTirCosh,  kTirErf,   kTirExp,       kTirFloor,     kTirHypot, kTirLdexp,
    kTirLog,      kTirLog10, kTirLog1p, kTirLog2,  kTirNearbyint, kTirNextafter, kTirPow,   kTirRound,
    kTirSin,      kTirSinh,  kTirSqrt,  kTirTan,   kTirTanh,
};
constexpr OpId kCuda[] = {
    kTirAtan,  kTirCeil,  kTirClz,  kTirCos,  kTirCosh,  kTirErf,  kTirExp,       kTirExp10, kTirExp2,
    kTirFabs,  kTirFloor, kTirFmod, kTirLog,  kTirLog10, kTirLog2, kTirNearbyint, kTirPow,   kTirRound,
    kTirRsqrt, kTirSin,   kTirSinh, kTirSqrt, kTirTan,   kTirTanh, kTirTrunc,
};
constexpr OpId kCudaFast[] = {
    kTirCos, kTirExp, kTirExp10, kTirLog, kTirLog10, kTirLog2, kTirPow, kTirSin, kTirTanh,
};
constexpr OpId kLibDevice[] = {
    kTirAtan,  kTirCeil,  kTirCos,  kTirCosh, kTirErf,   kTirExp,  kTirExp10,     kTirExp2,
    kTirFabs,  kTirFloor, kTirFma,  kTirLog,  kTirLog10, kTirLog2, kTirNearbyint, kTirPow,
    kTirRound, kTirSin,   kTirSinh, kTirSqrt, kTirTan,   kTirTanh, kTirTrunc,
};
constexpr OpId kRocm[] = {
    kTirCeil,  kTirCos,  kTirExp,       kTirExp2, kTirFabs,  kTirFloor, kTirFma,  kTirLog,
    kTirLog10, kTirLog2, kTirNearbyint, kTirPow,  kTirRound, kTirSin,   kTirSqrt, kTirTrunc,
};
constexpr OpId kHexagon[] = {
    kTirCeil,      kTirCos, kTirExp,   kTirFabs, kTirFloor, kTirFma,   kTirLog,
    kTirNearbyint, kTirPow, kTirRound, kTirSin,  kTirSqrt,  kTirTrunc,
};
constexpr OpId kVulkan[] = {
    kTirCeil,      kTirCos, kTirExp,   kTirExp2, kTirFabs, kTirFloor, kTirLog,   kTirLog2,
    kTirNearbyint, kTirPow, kTirRound, kTirSin,  kTirSqrt, kTirTanh,  kTirTrunc,
};
constexpr OpId kMetal[] = {
    kTirCeil,     kTirClz,   kTirCos,   kTirCosh, kTirExp,   kTirExp10, kTirExp2,
    kTirFabs,     kTirFloor, kTirFmod,  kTirLog,  kTirLog10, kTirLog2,  kTirNearbyint,
    kTirPopcount, kTirPow,   kTirRound, kTirSin,  kTirSinh,  kTirSqrt,  kTirTrunc,
};
constexpr OpId kOpenCl[] = {
    kTirCeil, kTirClz,   kTirCos,  kTirCosh, kTirErf,   kTirExp,  kTirExp10,     kTirExp2,
    kTirFabs, kTirFloor, kTirFmod, kTirLog,  kTirLog10, kTirLog2, kTirNearbyint, kTirPopcount,
    kTirPow,  kTirRound, kTirSin,  kTirSinh, kTirSqrt,  kTirTanh, kTirTrunc,
};
constexpr OpId kVivado[] = {
    kTirCeil, kTirCos,       kTirCosh,     kTirExp, kTirExp10, kTirExp2, kTirFabs, kTirFloor, kTirLog,  kTirLog10,
    kTirLog2, kTirNearbyint, kTirPopcount, kTirPow, kTirRound, kTirSin,  kTirSinh, kTirSqrt,  kTirTanh, kTirTrunc,
};
constexpr OpId kIntelFpga[] = {
    kTirCeil,     kTirExp, kTirFabs,  kTirFloor, kTirLog,  kTirNearbyint,
    kTirPopcount, kTirPow, kTirRound, kTirSqrt,  kTirTanh, kTirTrunc,
};
constexpr OpId kWebGpu[] = {
    kTirAcos,  kTirAcosh, kTirAsin, kTirAsinh, kTirAtan, kTirAtan2, kTirCeil, kTirCos,  kTirCosh, kTirExp, kTirExp2,
    kTirFloor, kTirFma,   kTirLog,  kTirLog2,  kTirPow,  kTirRound, kTirSin,  kTirSinh, kTirSqrt, kTirTan, kTirTrunc,
};

// ---- Functions with rules of their own
constexpr OpId kOnlyClz[] = {kTirClz};
constexpr OpId kOnlyCosh[] = {kTirCosh};
constexpr OpId kOnlyErf[] = {kTirErf};
constexpr OpId kOnlyExp10[] = {kTirExp10};
constexpr OpId kOnlyFabs[] = {kTirFabs};
constexpr OpId kOnlyMultiplyShift[] = {kTirQMultiplyShift};
constexpr OpId kOnlyMultiplyShiftPerAxis[] = {kTirQMultiplyShiftPerAxis};
constexpr OpId kOnlyPopcount[] = {kTirPopcount};
constexpr OpId kOnlyRsqrt[] = {kTirRsqrt};
constexpr OpId kOnlySigmoid[] = {kTirSigmoid};
constexpr OpId kOnlySinh[] = {kTirSinh};
constexpr OpId kOnlyTan[] = {kTirTan};
constexpr OpId kOnlyTanh[] = {kTirTanh};
constexpr OpId kActiveMask[] = {kTirTvmWarpActivemask};
constexpr OpId kShuffle[] = {kTirTvmWarpShuffle};
constexpr OpId kShuffles[] = {kTirTvmWarpShuffle, kTirTvmWarpShuffleDown, kTirTvmWarpShuffleUp};

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
    {"webgpu", &IntrinRuleBuilder::Direct, kWebGpu},
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
  const auto* call = As<tir::Call>(build.Call(dtype, OpId::kTirFma, {a, b, c}));
  return Lower(*call, build, error);
}

}  // namespace iropt
