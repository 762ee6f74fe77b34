// Support for rules for CPUs: the analysis of blocks that are computed by vectors, and the schedules of elementwise
// ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "block_info.h"
#include "cpu_facts.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::schedule {

// Buffer that a block reads, and the form of the access with respect to the axis of the vectors.
struct Operand {
  enum class Form : uint8_t { kUniform, kContiguous, kStrided };  // strided: the axis is an index, but not the last one
  const tir::Buffer* buffer;
  Form form;
  size_t vector_dim = 0;   // the index that is the axis
  int64_t period = 0;      // uniform for so many values of the axis, as in groups of channels; 0: for all
  bool has_rows = false;   // depends on the axis of the rows
  bool is_weight = false;  // has the axis of the vectors, and no other data parallel one
  uint64_t axes = 0;       // a bit for each of the first data parallel axes that it depends on
};

// Nothing if lanes are neither next to each other nor in a dimension of their own.
std::optional<Operand> OperandOf(const tir::BufferLoad& load, const tir::Var* vector_axis);

// The loads of a statement or expression, and the conditions of its choices between values.
class LoadCollector : public tir::StmtExprVisitor {
 public:
  std::vector<const tir::BufferLoad*> loads;
  std::vector<const PrimExpr*> conditions;
  using tir::StmtExprVisitor::VisitExpr;

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override;
  void VisitCall(const tir::Call* call) override;
  void VisitSelect(const tir::Select* select) override;
};

bool UsesAxis(const PrimExpr* expr, const tir::Var* axis);

// The lanes of vectors for an axis of this extent: as many as fit and divide it.
int64_t LanesFor(int64_t extent, int64_t lanes);
// Vectors of fewer lanes are left to the code generator.
inline constexpr int64_t kFewestLanes = 4;

// Returns whether the block stores vectors along the axis, and reads vectors and scalars only.
bool CanVectorize(const tir::Block& block, const tir::Var* axis);
// Returns whether the block copies a buffer to another one of the same shape.
bool IsCopy(const tir::Block& block);
// Returns whether loops of the function are scheduled already.
bool HasScheduledLoops(const PrimFunc& func);
// Inlines elementwise blocks into other ones. What is read by reductions is not, unless it is a copy: they would
// compute it many times.
std::vector<BlockInfo> InlineElementwise(RuleSchedule& sch, const std::vector<BlockInfo>& infos);
// Runs the outer loops of an elementwise block in parallel and the last one by vectors, or in parts without conditions.
void ScheduleElementwise(RuleSchedule& sch, const BlockInfo& info, const CpuFacts& facts);
// Reduces rows by vectors of accumulators. Returns whether the block is of this kind.
bool ScheduleRows(RuleSchedule& sch, const BlockInfo& info, const CpuFacts& facts);

}  // namespace iropt::schedule
