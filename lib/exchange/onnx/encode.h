// Writes the messages of an ONNX file.
#pragma once

#include <cstdint>
#include <span>

#include "exchange/onnx/model.h"
#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"

namespace iropt::onnx {

// Appends the bytes of the model. The raw bytes of the initializers of its graph go from where they are to the stream;
// all else is put together in memory first. The same model gives the same bytes.
// Calls `written` with the index of each initializer when its bytes were appended.
void EncodeModel(const Model& model, OutputStream& out, FunctionRef<void(size_t)> written);

// The number of bytes that EncodeModel appends.
uint64_t EncodedSize(const Model& model);
// Of a model that has only these descriptions of values, without what every model has.
uint64_t SizeOfInfos(std::span<const ValueInfo> infos);
// Of all values of a graph, and of the graphs in its nodes.
uint64_t SizeOfInfos(const GraphProto& graph);
// The bytes that the shape of a value takes.
uint64_t SizeOfShape(const ValueInfo& value);
// Of all inputs and outputs of a graph, and of the graphs in its nodes.
uint64_t SizeOfShapes(const GraphProto& graph);

}  // namespace iropt::onnx
