// At run time all shapes are numbers and all inputs are known, so that operators which the importer could not express
// in Relax often can be expressed after all.

#include <algorithm>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/import/op_table.h"
#include "exchange/onnx/run/kernels.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

namespace {

bool IsOpaqueCall(const Expr* expr) {
  const auto* call = As<Call>(expr);
  return call != nullptr && call->op == GetOp(op::kCallPurePacked);
}

bool HasOpaqueCall(const SeqExpr& body) {
  return std::ranges::any_of(body.blocks, [](const BindingBlock* block) {
    return std::ranges::any_of(block->bindings, [](const Binding* binding) { return IsOpaqueCall(ValueOf(binding)); });
  });
}

GraphProto GraphOfNode(const OnnxCall& call) {
  GraphProto graph;
  graph.nodes.push_back(call.node());
  for (const std::string_view output : call.node().outputs)
    graph.outputs.push_back({.name = output, .type = {}, .doc = {}, .metadata = {}});
  return graph;
}

Error FirstError(const OnnxCall& call, const DiagnosticBuffer& buffer) {
  for (const Diagnostic& diagnostic : buffer.diagnostics()) {
    if (diagnostic.severity == Severity::Error) return call.Fail(diagnostic.message);
  }
  return call.Fail("the operator cannot be run");
}

}  // namespace

Result<std::optional<HostValue>> RunAsImported(OnnxCall& call) {
  Model model;
  model.opsets.push_back({call.node().domain, call.opset()});
  TensorReader tensors(std::make_shared<const FileBuffer>(std::string()), "");
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  IRContext types;  // goes with what is made here
  const IRContext::Scope in_context(types);
  ImportContext context{.model = model, .tensors = tensors, .diagnostics = diagnostics, .defines = true};
  FunctionImporter importer(context);
  Scope scope;
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    const std::string_view name = call.node().inputs[i];
    if (name.empty()) continue;
    const auto* tensor = std::get_if<Tensor>(&call.Input(i).state);
    if (tensor == nullptr) return std::optional<HostValue>();
    scope.Add(name, MakeConstant(*tensor, importer.workspace()));
  }
  const GraphProto graph = GraphOfNode(call);
  const NodeContext nodes_of{.opsets = &model.opsets};
  const SeqExpr* body = importer.ImportBody(graph, nodes_of, scope);
  if (body == nullptr) return FirstError(call, buffer);
  if (HasOpaqueCall(*body)) return std::optional<HostValue>();
  const iropt::Function* function = importer.builder().MakeFunction({}, body);
  const RunOptions options{.limits = {.max_bytes = call.context().max_bytes()}};
  Result<HostValue> value = RunFunction(context.module, *function, {}, diagnostics, options);
  if (!value.ok()) return value.error().reported() ? FirstError(call, buffer) : value.TakeError();
  return std::optional<HostValue>(*std::move(value));
}

}  // namespace iropt::onnx
