// The lowering of loops over threads, and of annotations pragma_* of loops and blocks.
#pragma once

#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// The annotations without those that become attributes, which are added to `pragmas` in order of their keys.
// `keeps_unroll`: pragma_unroll stays.
const DictAttr* SplitPragmas(const DictAttr* annotations, bool keeps_unroll, std::vector<DictAttr::Entry>& pragmas);

// The value of an annotation as that of an attribute statement; null if it is neither a number nor a string.
const PrimExpr* PragmaValue(const Attr* value, Workspace& workspace);

// The launch of threads that a loop over them is, with the body of the loop.
const tir::Stmt* LaunchThread(const tir::For& loop, Workspace& workspace);

}  // namespace iropt
