#include "exchange/onnx/reshape_text.h"

#include "iropt/infer/infer.h"

namespace iropt::onnx {

std::string TextOfReshape(const TensorType& from, std::span<const PrimExpr* const> to) {
  return DimsToString(from.dims.span()) + DimsToString(to);
}

}  // namespace iropt::onnx
