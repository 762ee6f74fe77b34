// Sizes for dimensions that a model leaves open.
#pragma once

#include "exchange/onnx/model.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/text/stated_sizes.h"

namespace iropt::onnx {

// Makes dimensions of the inputs numbers, and the same named dimensions everywhere else. False if there is no such
// input or dimension, or the sizes contradict the model; that is reported. O(values that the model has types of).
bool BindSizes(Model& model, const StatedSizes& sizes, DiagnosticEngine& diagnostics);

}  // namespace iropt::onnx
