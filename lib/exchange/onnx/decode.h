// Reads the messages of an ONNX file.
#pragma once

#include <string_view>

#include "exchange/onnx/model.h"
#include "iropt/support/result.h"

namespace iropt::onnx {

// The model in `bytes`, whose views refer to them. Fails with ErrorCode::Parse and says where the file is damaged.
// O(bytes of the messages without tensors).
Result<Model> DecodeModel(std::string_view bytes);

}  // namespace iropt::onnx
