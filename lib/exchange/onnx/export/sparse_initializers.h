// Initializers of which a file has only the elements that are not 0.
#pragma once

#include "exchange/onnx/export/export.h"

namespace iropt::onnx {

// Makes initializers sparse where that takes less than half of the bytes, if the model that the module was read from
// had sparse tensors. Readers make them dense, so that all others know them as they are. O(bytes of the initializers)
// then.
void MakeSparse(const Module& module, ExportedModel& exported);

}  // namespace iropt::onnx
