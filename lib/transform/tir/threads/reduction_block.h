// The check whether a block is a reduction.
#pragma once

#include <string_view>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// By buffer, how many of the blocks directly under a block write to it.
using WriterCounts = LookupMap<const tir::Buffer*, int>;

// O(nodes) down to the next blocks.
WriterCounts CountWriters(const tir::Block& scope);

// Returns why the block is not a reduction; nothing if it is one: it has an initialization, its axes are spatial ones
// and reductions bound to independent parts of the loops, it alone writes to its outputs, and no reduction axis selects
// what it writes. `loops` are those between the block and the one that it is directly in, in which `writers` count.
// `unknown` becomes a buffer that the block writes to without stating it, if there is one. O(nodes of the block), plus
// the iterator maps.
std::string_view WhyNotReduction(const tir::BlockRealize& realize, const arith::IterRanges& loops,
                                 const WriterCounts& writers, arith::Analyzer& analyzer, const tir::Buffer*& unknown);

}  // namespace iropt
