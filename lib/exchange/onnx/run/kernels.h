// The operators that have no counterpart in Relax, on tensors.
#pragma once

#include <span>
#include <string_view>

#include "exchange/onnx/run/onnx_call.h"
#include "iropt/runtime/packed_func.h"

namespace iropt::onnx {

// The results: one value, or a tuple if the node has several outputs.
using OnnxKernel = Result<HostValue> (*)(OnnxCall& call);

struct KernelRow {
  std::string_view name;    // with the domain before it, if it is not that of ONNX
  std::string_view inputs;  // a digit for each that must be a tensor, which is checked before the kernel runs
  OnnxKernel kernel;
};

// One of several results if the node has one output, else a tuple with as many as it has.
HostValue ResultOf(const OnnxCall& call, std::vector<HostValue> results);

// Runs an operator as what the importer or its definition makes of it, now that its inputs are known. Nullopt if they
// make nothing.
Result<std::optional<HostValue>> RunAsImported(OnnxCall& call);

// ---- The families of kernels.
std::span<const KernelRow> AttentionKernels();
std::span<const KernelRow> CastKernels();
std::span<const KernelRow> ContribAttentionKernels();
std::span<const KernelRow> LoopKernels();
std::span<const KernelRow> MathematicsKernels();
std::span<const KernelRow> PackedTableKernels();
std::span<const KernelRow> QuantizationKernels();
std::span<const KernelRow> QuantizedElementKernels();
std::span<const KernelRow> RecurrentKernels();
std::span<const KernelRow> ResizeKernels();
std::span<const KernelRow> SelectionKernels();
std::span<const KernelRow> SequenceKernels();
std::span<const KernelRow> StateKernels();
std::span<const KernelRow> TrainingKernels();
std::span<const KernelRow> WindowKernels();

// All packed functions of this library.
const PackedRegistry& OnnxPackedFuncs();

}  // namespace iropt::onnx
