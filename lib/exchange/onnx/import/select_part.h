// A part of a model, by the names of its values.
#pragma once

#include <string>
#include <vector>

#include "exchange/onnx/model.h"
#include "iropt/diag/diagnostic.h"

namespace iropt::onnx {

struct GraphPart {
  std::vector<std::string> inputs;   // empty: those of the model
  std::vector<std::string> outputs;  // empty: those of the model
  std::vector<std::string> renames;  // "old=new", which come first
};

// Renames values, and reduces the graph to what its outputs need from its inputs on. False if there is no such value,
// its type is not known where it becomes an input, or an output needs an input that is not listed; that is reported.
// O(size of the graph).
bool SelectPart(Model& model, const GraphPart& part, DiagnosticEngine& diagnostics);

}  // namespace iropt::onnx
