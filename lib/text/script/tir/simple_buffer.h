// Buffers of parameters that have no line of their own before TVM 0.26.
#pragma once

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::text {

// Returns whether the shape and dtype describe the buffer completely.
inline bool IsSimple(const tir::Buffer* buffer) {
  const auto has_variables = [](const PrimExpr* e) {
    return !Is<tir::IntImm>(e) && tir::UsesVar(e, [](const tir::Var*) { return true; });
  };
  return buffer->strides.empty() && std::none_of(buffer->shape.begin(), buffer->shape.end(), has_variables) &&
         arith::IsInt(buffer->elem_offset, 0) && buffer->scope() == "global" &&
         buffer->data_alignment == tir::kAllocAlignment && buffer->offset_factor == 1 &&
         buffer->buffer_type == tir::BufferType::kDefault && buffer->axis_separators.empty();
}

}  // namespace iropt::text
