// Strides and flattened offset of a buffer.
#pragma once

#include <span>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// The position of an element in the memory of the buffer, which has one dimension more than the buffer has axis
// separators: 1 unless they are given. From the strides, or else row by row. Simplified.
std::vector<const PrimExpr*> ElementOffset(const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                                           arith::Analyzer& analyzer);

// The number of elements in each dimension of the memory of the buffer: from the start of the memory on, if it has one
// dimension. Not simplified.
std::vector<const PrimExpr*> FlatShape(const tir::Buffer& buffer, const arith::PrimBuilder& make);

// Gives the buffer this shape, compact strides and a dimension for each axis separator. In memory of one dimension it
// then begins where the memory does, because ElementOffset counts the offset of the buffer.
void Flatten(tir::Buffer& buffer, Workspace& workspace, const arith::PrimBuilder& make);

// The shape of the allocation of a buffer, in which padding by strides counts as elements. Empty if a stride may be
// less than the dimensions inside of it need, and is not a multiple of the next one.
std::vector<const PrimExpr*> AllocationShape(const tir::Buffer& buffer, arith::Analyzer& analyzer);

}  // namespace iropt
