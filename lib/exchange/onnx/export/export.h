// From Relax to ONNX.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exchange/onnx/model.h"
#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/function_ref.h"

namespace iropt::onnx {

struct ExportOptions {
  std::optional<int64_t> opset;            // of ONNX's own operators; by default that of the input
  NetworkMode mode = NetworkMode::Auto;    // of batch norms
  bool infer_shapes = false;               // describe all values
  bool exact_reshapes = true;              // also of sizes of 0, as far as the model that was read was exact
  const SourceManager* sources = nullptr;  // has the names of nodes that were imported; null: there are none
};

// A model whose initializers are views of the module's arrays, which must outlive it, and of arrays made for it.
struct ExportedModel {
  // Removes the initializers for whose index `takes` is true, which may move them elsewhere, with their arrays.
  // O(initializers).
  void EraseInitializers(FunctionRef<bool(size_t)> takes);

  Model model;
  // By the index of the initializer.
  std::vector<const NDArray*> arrays;
  std::vector<std::shared_ptr<const NDArray>> made;
  // Of tensors of the input that others are equal to.
  size_t merged_bytes = 0;
  // Of tensors in graphs that nodes of the input have.
  uint64_t inner_bytes = 0;
  // The files that the input had tensors in, relative to its folder.
  std::vector<std::string_view> data_files;
  // Whether there is a reshape that fewer nodes would do if no size was 0.
  bool has_exact_reshapes = false;
};

// The model of a module: its function `main`, or the only one that is not private. What cannot be expressed is reported
// with the function and the operator; then the result is null.
std::unique_ptr<ExportedModel> ExportModel(const Module& module, const ExportOptions& options,
                                           DiagnosticEngine& diagnostics);

// The number of nodes that a function is written as, alone; nullopt if it cannot be written. With `sizes_are_given`,
// what computes dimensions does not count. O(nodes of the function).
std::optional<size_t> CountNodes(const iropt::Function& function, int64_t opset, NetworkMode mode,
                                 bool sizes_are_given);

}  // namespace iropt::onnx
