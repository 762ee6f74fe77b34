// Tools of rules to look at a function and to apply primitives to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/schedule.h"
#include "iropt/support/lookup.h"

namespace iropt::schedule {

// A name of a block or a loop in the trace.
using Name = std::string;
using Names = std::vector<Name>;
// Of a split: nothing for the one that follows from the others.
using Factors = std::vector<std::optional<int64_t>>;

// Elements of a new layout that the old one does not have; kNone: the layouts have the same elements, kAny: any value.
enum class Padding : uint8_t { kNone, kZero, kAny };

// The schedule of one function. After a primitive has failed, the others do nothing, and ok() is false: a rule asks
// once before it looks at the function again. Names are then empty.
class RuleSchedule {
 public:
  RuleSchedule(Schedule& schedule, std::string_view function);

  bool ok() const { return ok_; }
  // Gives up: what a rule expects of every function that it applies to does not hold. Returns false.
  bool Fail();
  // Ends a search that has failed without consequences.
  void Forgive() { ok_ = true; }
  // Ends a search and returns whether it has succeeded.
  bool Succeeded() { return std::exchange(ok_, true); }
  // Begins again with the function as it was.
  void Restart();
  // The function as it was.
  const PrimFunc& original() const;
  // Why a primitive or the rule has failed.
  const Refusal& refusal() const { return refusal_; }

  Name GetBlock(std::string_view name);
  Names GetChildBlocks(const Name& block_or_loop);
  Names GetLoops(const Name& block);
  // Fails if there are fewer loops than `count`; there are then as many empty names.
  Names GetLoops(const Name& block, size_t count);
  Names GetProducers(const Name& block);
  Names GetConsumers(const Name& block);

  // Without a condition, the loops may run beyond the extent of the one that is split.
  Names Split(const Name& loop, const Factors& factors, bool has_condition = true);
  Name Fuse(const Names& loops);
  // All loops from the one of this index on.
  Name FuseFrom(const Names& loops, size_t first);
  void Reorder(const Names& loops);
  Names LoopPartition(const Name& loop, const Factors& factors);
  Name AddUnitLoop(const Name& block_or_loop);
  void Bind(const Name& loop, std::string_view thread_axis);
  void Unroll(const Name& loop);
  void Vectorize(const Name& loop);
  void Parallel(const Name& loop);
  void Annotate(const Name& block_or_loop, std::string_view key, int64_t value);
  void Annotate(const Name& block_or_loop, std::string_view key, const std::vector<int64_t>& values);
  void ComputeAt(const Name& block, const Name& loop, bool preserve_unit_loops = false);
  void ReverseComputeAt(const Name& block, const Name& loop, bool preserve_unit_loops = false);
  // These may fail without consequences.
  bool TryComputeInline(const Name& block);
  bool TryReverseComputeInline(const Name& block);
  void ComputeInline(const Name& block);
  void ReverseComputeInline(const Name& block);
  Name CacheRead(const Name& block, int64_t buffer, std::string_view scope);
  Name CacheWrite(const Name& block, int64_t buffer, std::string_view scope);
  Name ReIndex(const Name& block, int64_t buffer, bool is_write);
  void TransformLayout(const Name& block, int64_t buffer, bool is_write, const IndexMapAttr* map,
                       Padding padding = Padding::kNone);
  void TransformBlockLayout(const Name& block, const IndexMapAttr* map);
  bool TryTransformBlockLayout(const Name& block, const IndexMapAttr* map);
  void PadEinsum(const Name& block, const std::vector<int64_t>& padding);
  Name Blockize(const Name& loop);
  void Tensorize(const Name& loop, std::string_view intrinsic);
  Name DecomposeReduction(const Name& block, const Name& loop);
  Name RFactor(const Name& loop, int64_t axis);
  void SetScope(const Name& block, int64_t buffer, std::string_view scope);
  void StorageAlign(const Name& block, int64_t buffer, int64_t axis, int64_t factor, int64_t offset);

  // Only while ok() holds, and for names of blocks and loops that still exist.
  const tir::Block& Block(const Name& block) const;
  const tir::For& Loop(const Name& loop) const;
  Ref* RefOf(const Name& name) const;
  // Returns whether the block or loop has not been removed.
  bool Exists(const Name& name) const;
  State& state() { return *schedule_.StateOf(function_); }

 private:
  Names Call(std::string_view primitive, std::vector<Value> args);
  Name CallForOne(std::string_view primitive, std::vector<Value> args);
  bool Try(std::string_view primitive, std::vector<Value> args);

  Schedule& schedule_;
  const std::string function_;
  bool ok_ = true;
  Refusal refusal_;
};

// ---- Analysis

// The letter of an axis in BlockInfo::Kinds.
enum class AxisKind : char { kSpatial = 'S', kReduction = 'R', kOther = 'O' };

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

  std::string Kinds() const;  // "SSR"
  bool IsInjective() const { return Kinds().find_first_not_of('S') == std::string::npos; }
  bool HasReductionAxis() const { return Kinds().find('R') != std::string::npos; }
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
    int64_t lower_factor;  // 0 if it is no constant
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

struct TargetFacts;

// ---- Products of a matrix and a vector

// The buffers that the block reads and that do not depend on all of its axes, if it is such a product; else none.
std::vector<const tir::Buffer*> FindVectors(RuleSchedule& sch, const BlockInfo& info);
// Brings the loops into the order batch, spatial, reduction, group of the reduction. Whether the fastest axis is one of
// the reduction; nothing if the loops have no such order.
std::optional<bool> NormalizeGemv(RuleSchedule& sch, const BlockInfo& info);
// The schedule for a product in that order with the reduction not in the fastest axis; false where TVM has none.
bool ScheduleOuterGemv(RuleSchedule& sch, const TargetFacts& facts, const Name& block, const tir::Buffer* vector,
                       const BlockInfo* epilogue);
// Vectorizes the loop, or a part of it of that many lanes, if its extent is a constant.
void AutoVectorize(RuleSchedule& sch, const Name& loop, int64_t lanes);
// The greatest of the factors that divides n, or 1.
int64_t MaxFactor(int64_t n, std::vector<int64_t> factors);

// ---- Vectors that are multiplied by a matrix (gemv.cpp)

inline int64_t BytesOf(DataType dtype) { return (dtype.bits * dtype.lanes + 7) / 8; }
// Of all buffers; nullopt if a dimension is not a number.
std::optional<int64_t> BytesOf(const std::vector<const tir::Buffer*>& buffers);

// The threads that read a vector to shared memory, and how many elements each reads at once at the most.
struct SharedVectorTiling {
  std::string_view reduction_tag;
  int64_t spatial;
  int64_t reduction;
  int64_t lanes;
};
// Copies the whole vector, the first buffer that the block reads, to shared memory at the loop; returns the copying
// block.
Name ShareVector(RuleSchedule& sch, const Name& block, const Name& thread_loop, const SharedVectorTiling& tiling);

// ---- Targets

struct TargetFacts {
  std::string_view kind;
  std::string_view arch;    // sm_80, ...
  bool is_android = false;  // OpenCL on a phone
  bool is_adreno = false, is_mali = false;
  bool is_gpu = false;
  int64_t max_threads_per_block = 256;
  int64_t max_num_threads = 256;  // what the target states, or the same
  int64_t max_shared_memory_per_block = 16384;
};
TargetFacts FactsOf(const TargetAttr* target);
// For each loop the number of threads, a power of two, as far as a block has them.
std::vector<int64_t> SuggestThreadsPerBlock(const TargetFacts& target, const std::vector<const tir::For*>& loops);

// ---- The rules
// They return whether they apply. Where the schedule is not ok() afterwards, the rule has failed.

bool ApplyGpuFallback(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuGeneralReduction(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuGemv(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuLowBatchGemv(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuMatmul(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuReduction(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuTranspose(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuRmsNorm(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuReduction(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuGemv(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuTile(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuWinograd(RuleSchedule& sch, const TargetAttr* target);

}  // namespace iropt::schedule
