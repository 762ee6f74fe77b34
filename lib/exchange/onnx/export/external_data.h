// Tensors of a model in a file of their own.
#pragma once

#include <optional>

#include "exchange/onnx/export/export.h"
#include "iropt/exchange/format.h"
#include "iropt/support/file.h"

namespace iropt::onnx {

// Moves initializers out of the model. Those that are in a file in the folder of the output (or below) are referred to
// where they are. Others of at least 1 KB go to the file that the request names or, if the model would be larger than
// protobuf's 2 GB, to one next to the output; so do those that were made, if the input has its tensors in files there
// and they take 1 KB together. The result is that file, to be committed with the model. Fails if a model
// that is too large has no folder.
Result<std::optional<AtomicFile>> MoveOutTensors(ExportedModel& exported, const WriteRequest& request);

// Returns whether the array lies in a file that has a name.
bool IsInOtherFile(const NDArray* array);

// Gives back the memory of a mapped array that was written.
void Forget(const NDArray* array);

}  // namespace iropt::onnx
