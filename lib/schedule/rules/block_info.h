// Facts that rules use about blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/support/lookup.h"
#include "rule_schedule.h"

namespace iropt::schedule {

enum class AxisKind : uint8_t { kSpatial, kReduction, kOther };

// An axis of a block, and the loop that it is bound to.
struct AxisInfo {
  AxisKind kind;
  const tir::Var* var;
  const PrimExpr* extent;
  Name loop;
};

struct BlockInfo {
  std::string name;
  std::vector<AxisInfo> axes;
  Name block;
  bool is_reduction = false;

  std::vector<AxisKind> Kinds() const;
  // The number of axes of this kind at the beginning and at the end.
  size_t CountLeading(AxisKind kind) const;
  size_t CountTrailing(AxisKind kind) const;
  bool IsInjective() const { return CountLeading(AxisKind::kSpatial) == axes.size(); }
  bool HasReductionAxis() const;
};

// The innermost blocks in normal form: each axis is bound to a loop of its own, and runs more than once, as far as that
// is possible. Nothing if a binding is not a loop variable.
std::optional<std::vector<BlockInfo>> NormalizePrimFunc(RuleSchedule& sch);
// The blocks that remain when all others are inlined.
std::vector<BlockInfo> TryInline(RuleSchedule& sch, std::vector<BlockInfo> blocks);
// The blocks that remain after TryInline of each run of injective blocks.
std::vector<BlockInfo> TryInlineContiguousSpatial(RuleSchedule& sch, const std::vector<BlockInfo>& blocks);

// The axes that an access to single elements depends on; nothing if a range has several elements.
using AxisSet = LookupSet<const tir::Var*>;
std::optional<AxisSet> AxesOfAccess(const tir::Block& block, const tir::BufferRegion& region);
// The number of axes that are in the other set; null: that of all axes.
size_t CountAxes(const AxisSet& axes, const AxisSet* counted);
// The place in memory that the read that depends on the most axes accesses, as a sum of digits of the axes; nothing if
// a read is of several elements.
struct DominantAccess {
  struct Term {
    const tir::Var* axis;  // null for a sum of several axes
    int64_t lower_factor;  // 0 if it is not a constant
  };
  std::vector<Term> terms;  // from the slowest one to the fastest one
  const PrimExpr* base;
};
// `counted`: only these axes count for the choice; null for all of them.
std::optional<DominantAccess> FindDominantAccess(RuleSchedule& sch, const BlockInfo& block,
                                                 const AxisSet* counted = nullptr);
// Y in X[...] = X[...] + Y; null if the body has another form.
const PrimExpr* ReductionExprOf(const tir::Block& block);
// Returns whether the epilogue reads fewer axes of the result of the block than it has.
bool IsBroadcastEpilogue(RuleSchedule& sch, const Name& block, const Name& epilogue);
// The extent if it is a constant.
std::optional<int64_t> ConstExtent(const PrimExpr* extent);

}  // namespace iropt::schedule
