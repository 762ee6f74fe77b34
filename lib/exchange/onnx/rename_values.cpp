#include "exchange/onnx/rename_values.h"

#include <vector>

namespace iropt::onnx {

namespace {

void RenameValue(const Renames& renames, std::string_view& name) {
  if (const auto* renamed = renames.Find(name)) name = *renamed;
}

}  // namespace

void RenameValues(const Renames& renames, GraphProto& graph) {
  if (renames.empty()) return;
  for (std::vector<ValueInfo>* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (ValueInfo& info : *infos) RenameValue(renames, info.name);
  }
  for (TensorProto& tensor : graph.initializers) RenameValue(renames, tensor.name);
  for (SparseTensorProto& tensor : graph.sparse_initializers) RenameValue(renames, tensor.values.name);
  for (QuantizationAnnotation& annotation : graph.quantization) RenameValue(renames, annotation.tensor);
  for (NodeProto& node : graph.nodes) {
    for (std::string_view& input : node.inputs) RenameValue(renames, input);
    for (std::string_view& output : node.outputs) RenameValue(renames, output);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) RenameValues(renames, *inner);
    }
  }
}

}  // namespace iropt::onnx
