// Sample calls of every operator have the same values after LegalizeOps. Its output is tested in
// test/transform/legalize_ops.
#include <string>
#include <vector>

#include "eval/operator_samples.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/runtime/compare.h"
#include "iropt/transform/relax/lowering/legalize_ops.h"

namespace iropt {

namespace {

std::vector<Tensor> TensorsOf(const HostValue& value) {
  std::vector<Tensor> tensors;
  ForEachTensor(value, [&](const Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

// A module with a function that returns the call, whose nodes are in the storage.
Module ModuleOf(const Call* call, const FuncStorageRef& storage) {
  Module module;
  Workspace workspace(module, storage);
  OpTypeInferrer inferrer(nullptr, workspace.arena(), nullptr);
  BlockBuilder builder(workspace, &inferrer);
  builder.BeginBindingBlock();
  const Var* result = builder.Emit(call);
  const Function* main = builder.MakeFunction({}, builder.Seq({builder.EndBlock()}, result));
  module.Set(GlobalVar::Get("main"), main, workspace.Finish());
  return module;
}

// The first rows of a tensor, as many as `count` says.
Tensor FirstRows(const Tensor& whole, const Tensor& count) {
  const int64_t rows = count->As<int64_t>()[0];
  REQUIRE(rows <= whole->shape()[0]);
  std::vector<int64_t> shape(whole->shape().begin(), whole->shape().end());
  shape[0] = rows;
  return NDArray::View(whole->dtype(), shape, whole->data(), whole);
}

// Returns whether the call was legalized and compared.
bool CompareLegalized(const Call* call, const OpInfo& op, const FuncStorageRef& storage) {
  const Result<HostValue> expected = EvalOp(op, call->attrs, OperandsOf(*call));
  if (!expected.ok()) return false;
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  AnalysisManager analyses;
  const Result<Module> module = LegalizeOps(ModuleOf(call, storage), {.mode = NetworkMode::Training}, engine, analyses);
  for (const Diagnostic& d : buffer.diagnostics()) UNSCOPED_INFO(d.message);
  REQUIRE(module.ok());
  if (module->size() == 1) return false;
  const auto* main = As<Function>(module->Find("main")->func);
  const Result<HostValue> got = RunFunction(*module, *main, {}, engine);
  for (const Diagnostic& d : buffer.diagnostics()) UNSCOPED_INFO(d.message);
  REQUIRE(got.ok());
  const std::vector<Tensor> actual = TensorsOf(*got);
  const std::vector<Tensor> wanted = TensorsOf(*expected);
  REQUIRE(actual.size() == wanted.size());
  // Of the selected boxes, only those that count are left. In the format of tensorflow, there are three results.
  const bool cuts_rows = LegalizationOf(op).counts_rows && wanted.size() == 2;
  for (size_t i = 0; i < actual.size(); ++i) {
    const Tensor whole = cuts_rows && i == 0 ? FirstRows(wanted[0], wanted[1]) : wanted[i];
    const Comparison comparison = CompareTensors(*actual[i], *whole, Tolerance::Of(whole->dtype()));
    INFO(DescribeComparison(comparison, *actual[i], *whole));
    CHECK(comparison.ok());
  }
  return true;
}

}  // namespace

TEST_CASE("legalized calls have the values of the kernels", "[legalize_ops]") {
  size_t compared = 0;
  for (const DataType dtype : {DataType::Float(32), DataType::Float(16), DataType::Float(64), DataType::Int(32),
                               DataType::Int(64), DataType::Int(8), DataType::UInt(8), DataType::Bool()}) {
    OperatorSamples samples(dtype);
    const FuncStorageRef storage = samples.workspace().Finish();
    for (const auto& [name, calls] : samples.calls()) {
      const OpInfo& op = *FindOp(name);
      // Functions that inspect a tensor take its descriptor, which only compiled code has.
      if (!LegalizationOf(op).legalize || name.starts_with("relax.inspect.")) continue;
      for (size_t i = 0; i < calls.size(); ++i) {
        INFO(name << " on " << dtype.ToString() << ", sample " << i);
        compared += CompareLegalized(calls[i].call, op, storage);
      }
    }
  }
  CHECK(compared > 300);
}

}  // namespace iropt
