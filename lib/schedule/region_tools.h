// Boxes of a buffer that accesses cover.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "iropt/arith/int_set.h"
#include "iropt/arith/iter_map.h"
#include "iropt/schedule/state.h"

namespace iropt::schedule {

// One interval for each dimension.
using Box = std::vector<arith::IntervalSet>;

// Return the box that accesses to the region cover for sure, and the box that they may cover, while the loops run
// through their ranges where the condition holds.
Box LowerBound(const tir::BufferRegion& region, const PrimExpr* condition, const arith::IterRanges& loops,
               arith::Analyzer& analyzer);
Box UpperBound(const tir::BufferRegion& region, const PrimExpr* condition, const arith::IterRanges& loops,
               arith::Analyzer& analyzer);
// A box that the boxes cover together, and one that contains them all.
Box UnionLowerBound(const std::vector<Box>& boxes, arith::Analyzer& analyzer);
Box UnionBox(const std::vector<Box>& boxes, arith::Analyzer& analyzer);
// One interval for each range.
Box BoxOf(List<const tir::Range*> region, const arith::PrimBuilder& make);
// The ranges with their values for all values of the variables.
Box EvalBox(List<const tir::Range*> region, const arith::IterRanges& loops, arith::Analyzer& analyzer);
// All of a dimension of the buffer.
arith::IntervalSet WholeDim(const tir::Buffer& buffer, size_t dim, const arith::PrimBuilder& make);
// The intervals of the ranges of variables.
arith::VarDomains DomainsOf(const arith::IterRanges& ranges, const arith::PrimBuilder& make);
// min, extent of the bounded set, simplified; `whole` if an end is missing.
const tir::Range* RangeOf(const arith::IntervalSet& set, const tir::Range& whole, arith::Analyzer& analyzer,
                          Workspace& workspace);

// Returns whether a < b, a <= b, a > b or a >= b holds by the extreme values of the variables, which may be symbolic.
// TVM's proofs by symbolic bounds.
bool CanProveByExtremes(const PrimExpr* order, const arith::VarDomains& domains, arith::Analyzer& analyzer);

// Refuses if an index is outside of the buffer for some values of the variables, as far as that is certain: for sums of
// constant multiples of different variables. A block that accesses the buffer there under a condition cannot do so
// without it.
Status CheckInside(State& state, const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                   const arith::VarDomains& domains, const tir::Stmt* part);

// Refuses if an index is outside of the buffer in a block that is to access it for all values of its axes for which the
// condition holds (null: always). If only conditions in its body lead to the accesses, each index has to be inside for
// certain.
Status CheckInsideForAxes(State& state, const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                          const tir::Block& block, const PrimExpr* condition);

// Refuses if the block stores to the buffer, but only under conditions in its body: a copy would be written back
// always.
Status CheckStoresAlways(State& state, const tir::Buffer& buffer, const tir::Block& block);

// The indices with which all branches of the statement store to the buffer, as far as no other loop, let statement or
// condition is around the stores: those of the first branch.
std::vector<List<const PrimExpr*>> IndicesStoredByAll(const tir::IfThenElse& branch, const tir::Buffer* buffer);

// Returns whether the expression (null: none) may divide by 0 where the loop begins, as by a size. It does not if it
// divides by a factor of the extent of a loop around, which has no iterations then.
bool MayDivideByZero(const PrimExpr* expr, const Ref* loop, arith::Analyzer& analyzer);

// Tells the analyzer the ranges of all loops around the statement, or of the axes of the blocks from it on outwards.
void BindLoopsAround(const Ref* ref, arith::Analyzer& analyzer);
void BindAxesAround(const Ref* ref, arith::Analyzer& analyzer);
// Tells the analyzer that the sizes of the parameters' buffers are not negative.
void BindShapes(const PrimFunc& func, arith::Analyzer& analyzer);
// The shape of new memory for as many elements, made at the statement: 0 for an extent that is negative, as that of a
// loop without iterations may be.
std::vector<const PrimExpr*> SizesOf(State& state, const Ref* ref, std::span<const PrimExpr* const> extents);
Ref* LowestCommonAncestor(Ref* a, Ref* b);
Ref* LowestCommonAncestor(std::span<Ref* const> refs);

}  // namespace iropt::schedule
