// Buffers that hold elements of others in between.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// A new buffer in `scope` with this shape for elements of `like`, compact, named after both: A_shared_dyn.
const tir::Buffer* MakeStagingBuffer(const tir::Buffer& like, std::string_view scope,
                                     const std::vector<const PrimExpr*>& shape, Workspace& workspace);

}  // namespace iropt
