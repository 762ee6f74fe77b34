#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "exchange/onnx/import/op_table.h"
#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/run/definitions.h"
#include "exchange/onnx/run/kernels.h"
#include "iropt/runtime/packed_library.h"
#include "iropt/support/version.h"

namespace iropt::onnx {

HostValue ResultOf(const OnnxCall& call, std::vector<HostValue> results) {
  results.resize(std::max<size_t>(1, call.num_outputs()));
  if (results.size() == 1) return std::move(results.front());
  return TupleValue{std::move(results)};
}

namespace {

// An operator is run as it is imported where that is possible; a kernel is for the forms where it is not.
Result<HostValue> RunOperator(PackedCall& call, const KernelRow* kernel, bool is_imported) {
  IROPT_ASSIGN_OR_RETURN(OnnxCall onnx, OnnxCall::Make(call));
  if (is_imported && !onnx.has_bodies()) {
    IROPT_ASSIGN_OR_RETURN(std::optional<HostValue> value, RunAsImported(onnx));
    if (value) return *std::move(value);
  }
  if (kernel == nullptr) return onnx.Fail("this form of the operator cannot be run");
  for (const char digit : kernel->inputs) {
    const Result<Tensor> input = onnx.TensorIn(static_cast<size_t>(digit - '0'));
    if (!input.ok()) return input.error();
  }
  return kernel->kernel(onnx);
}

PackedRegistry MakeOnnxPackedFuncs() {
  PackedRegistry registry;
  std::set<std::string, std::less<>> imported;
  for (const std::span<const OpRow> family : OpFamilies()) {
    for (const OpRow& row : family) {
      const std::string domain = row.domain.empty() ? "" : fmt::format("{}.", row.domain);
      imported.insert(fmt::format("{}{}", domain, row.name));
    }
  }
  for (const DefinitionRow& row : OpDefinitions()) imported.insert(std::string(row.name));
  for (const std::string& name : imported) {
    registry.Set(fmt::format("{}{}", kOpaquePrefix, name),
                 [](PackedCall& call) { return RunOperator(call, nullptr, true); });
  }
  for (const std::span<const KernelRow> family :
       {AttentionKernels(), CastKernels(), ContribAttentionKernels(), LoopKernels(), MathematicsKernels(),
        PackedTableKernels(), QuantizationKernels(), QuantizedElementKernels(), RecurrentKernels(), ResizeKernels(),
        SelectionKernels(), SequenceKernels(), StateKernels(), TrainingKernels(), WindowKernels()}) {
    for (const KernelRow& row : family) {
      registry.Set(fmt::format("{}{}", kOpaquePrefix, row.name),
                   [&row, is_imported = imported.contains(row.name)](PackedCall& call) {
                     return RunOperator(call, &row, is_imported);
                   });
    }
  }
  return registry;
}

}  // namespace

const PackedRegistry& OnnxPackedFuncs() {
  static const PackedRegistry registry = MakeOnnxPackedFuncs();
  return registry;
}

}  // namespace iropt::onnx

extern "C" const iropt::PackedLibrary* iroptGetPackedFuncs() {
  static const iropt::PackedLibrary library{IROPT_VERSION, &iropt::onnx::OnnxPackedFuncs()};
  return &library;
}
