// Reads layouts of buffers, which TVM 0.25 has: T.TileLayout(T.S[(4, 128):(128 @ Axis.F, 1 @ Axis.P)] + T.R[2:1]).
#pragma once

#include <string_view>

#include "scalar_parser.h"

namespace iropt::text {

// T.TileLayout(...), T.ComposeLayout(...), after the name. False after an error.
bool ParseLayout(ScalarParser& p, std::string_view name, uint32_t begin, PyValue& out);
// An iterator of a layout. The memory axis is `m`, which is not written.
const PrimExpr* MakeLayoutIter(ScalarParser& p, const PrimExpr* extent, const PrimExpr* stride, std::string_view axis,
                               Span span);

}  // namespace iropt::text
