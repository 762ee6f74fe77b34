#include "iropt/op/named_functions.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op_id.h"

namespace iropt {

namespace {

struct LlvmFunction {
  std::string_view name;
  OpId id;
};

constexpr LlvmFunction kLlvmFunctions[] = {
    {"llvm.ceil", op::kTirCeil},
    {"llvm.cos", op::kTirCos},
    {"llvm.ctlz", op::kTirClz},
    {"llvm.ctpop", op::kTirPopcount},
    {"llvm.exp", op::kTirExp},
    {"llvm.exp2", op::kTirExp2},
    {"llvm.fabs", op::kTirFabs},
    {"llvm.floor", op::kTirFloor},
    {"llvm.fmuladd", op::kTirFma},
    {"llvm.log", op::kTirLog},
    {"llvm.log10", op::kTirLog10},
    {"llvm.log2", op::kTirLog2},
    {"llvm.nearbyint", op::kTirNearbyint},
    {"llvm.pow", op::kTirPow},
    {"llvm.round", op::kTirRound},
    {"llvm.sin", op::kTirSin},
    {"llvm.sqrt", op::kTirSqrt},
    {"llvm.trunc", op::kTirTrunc},
};

struct NamedVectors {
  std::string_view name;
  VectorInstruction instruction;
  int lanes;  // of the result
};

constexpr NamedVectors kVectorInstructions[] = {
    {"llvm.x86.avx2.pmadd.wd", VectorInstruction::kDotPairs, 8},
    {"llvm.x86.avx512.pmaddw.d.512", VectorInstruction::kDotPairs, 16},
    {"llvm.x86.avx512.vpdpbusd.128", VectorInstruction::kDotBytes, 4},
    {"llvm.x86.avx512.vpdpbusd.256", VectorInstruction::kDotBytes, 8},
    {"llvm.x86.avx512.vpdpbusd.512", VectorInstruction::kDotBytes, 16},
    {"llvm.x86.sse2.pmadd.wd", VectorInstruction::kDotPairs, 4},
};

// expf is exp for float32.
const OpInfo* FindLibraryFunction(std::string_view name, DataType dtype) {
  if (dtype == DataType::Float(32) && name.ends_with('f')) name.remove_suffix(1);
  const OpInfo* op = FindOp("tir." + std::string(name));
  return op && op->intrinsic && op->intrinsic->effect == CallEffect::kPure && op->intrinsic->num_args > 0 ? op
                                                                                                          : nullptr;
}

const OpInfo* FindLlvmFunction(std::string_view name) {
  const auto* found = std::ranges::find(kLlvmFunctions, name, &LlvmFunction::name);
  return found == std::end(kLlvmFunctions) ? nullptr : &OpInfoOf(found->id);
}

}  // namespace

NamedInstruction FindVectorInstruction(const tir::Call& call) {
  if (!IsOp(call.op, op::kTirCallLlvmPureIntrin) && !IsOp(call.op, op::kTirCallLlvmIntrin)) return {};
  const auto* name = call.args.empty() ? nullptr : As<tir::StringImm>(call.args[0]);
  const auto* row =
      name ? std::ranges::find(kVectorInstructions, name->value, &NamedVectors::name) : std::end(kVectorInstructions);
  if (row == std::end(kVectorInstructions) || call.dtype != DataType::Int(32).with_lanes(row->lanes)) return {};
  const bool is_dot = row->instruction == VectorInstruction::kDotBytes;
  const DataType operand = is_dot ? call.dtype : DataType::Int(16).with_lanes(2 * row->lanes);
  // Older versions state the number of arguments.
  const auto first = static_cast<uint32_t>(call.args.size() - std::min<size_t>(call.args.size(), is_dot ? 3 : 2));
  const bool fits = (first == 1 || (first == 2 && call.args[1]->dtype == DataType::UInt(32))) &&
                    std::all_of(call.args.begin() + first, call.args.end(),
                                [&](const PrimExpr* arg) { return arg->dtype == operand; });
  return fits ? NamedInstruction{row->instruction, first} : NamedInstruction();
}

uint32_t NamedIntrinsic::num_operands() const { return static_cast<uint32_t>(op->intrinsic->num_args); }

NamedIntrinsic FindNamedIntrinsic(const tir::Call& call) {
  const bool is_library = IsOp(call.op, op::kTirCallPureExtern);
  if (!is_library && !IsOp(call.op, op::kTirCallLlvmPureIntrin) && !IsOp(call.op, op::kTirCallLlvmIntrin)) return {};
  const auto* name = call.args.empty() ? nullptr : As<tir::StringImm>(call.args[0]);
  if (!name) return {};
  NamedIntrinsic found;
  found.op = is_library ? FindLibraryFunction(name->value, call.dtype.with_lanes(1)) : FindLlvmFunction(name->value);
  if (!found.op) return {};
  // LLVM's have the number of operands that choose the function, and llvm.ctlz a flag.
  found.first_operand = is_library ? 1 : 2;
  const uint32_t flags = !is_library && found.op == &OpInfoOf(op::kTirClz) ? 1 : 0;
  const bool fits = call.args.size() == found.first_operand + found.num_operands() + flags;
  return fits ? found : NamedIntrinsic();
}

}  // namespace iropt
