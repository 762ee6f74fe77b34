// Pointers to vectors instead of pointers to their elements.
#pragma once

#include "iropt/ir/module.h"

namespace iropt {

// Kinds of pointers to rewrite, by where they are introduced.
struct PointerRewrite {
  bool buffer_params = true;
  bool pointer_params = true;
  bool allocations = true;
  bool constants = true;
  bool lets = true;
  // Also if there are reads of single elements at known positions of a vector.
  bool scalar_reads = true;
};

// The function in which memory that is only accessed as vectors of one size is memory of such vectors; the same pointer
// if there is none. O(nodes).
const PrimFunc* RewritePointerValueTypes(const PrimFunc* func, const PointerRewrite& which, Workspace& workspace);

}  // namespace iropt
