// From ONNX to Relax.
#pragma once

#include "exchange/onnx/import/whole_nodes.h"
#include "exchange/onnx/model.h"
#include "exchange/onnx/tensors.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/exchange/format.h"
#include "iropt/ir/module.h"

namespace iropt::onnx {

// The entry of attr::kOnnxModel of modules of models with sparse tensors.
inline constexpr std::string_view kHasSparseTensors = "has_sparse_tensors";

struct ImportOptions {
  ValueNames* value_names = nullptr;  // gets them
  // Nodes that would be written as several ones stay calls of their operators; so do those that ask for `kept_shapes`.
  NodeCounter count_nodes = nullptr;
  KeptShapes kept_shapes = KeptShapes::None;
  // Operators of onnxruntime become what they compute, for a module that is not written as ONNX again.
  bool defines = false;
};

// The module of a model. Its function `main` is the graph, with a parameter for each input that has no initializer;
// bodies of loops are private functions. The attribute attr::kOnnxModel of the module has the facts about the model,
// attr::kOnnxGraph of `main` the names that are not identifiers and what else the graph says. Fails with
// ErrorCode::Parse; what is wrong is reported with the node and the tensor.
Result<Module> ImportModel(const Model& model, TensorReader& tensors, DiagnosticEngine& diagnostics,
                           ImportOptions options);

}  // namespace iropt::onnx
