// Matrix products on phones, with the fastest axis of the second operand in the result: rows in groups that are
// transposed first, so that the lanes of a load are of different rows.
#include <algorithm>

#include "gemv.h"
#include "gpu_matmul.h"
#include "iropt/ir/context.h"

namespace iropt::schedule {

namespace {

constexpr int64_t kThreadsX = 32, kThreadsY = 4, kMaxLanes = 8, kRows = 16;

class OuterReduction {
 public:
  OuterReduction(RuleSchedule& sch, Name main, const Names& blocks, int64_t lanes)
      : sch_(sch), main_(std::move(main)), lanes_(lanes) {
    if (blocks.back() != main_) epilogue_ = blocks.back();
    for (const Name& block : blocks) {
      if (block == blocks.back() || !sch_.ok()) break;
      if (sch_.Block(block).name_hint.find("dequantize") != std::string_view::npos)
        dequantize_ = block;
      else if (block != main_)
        sch_.ComputeInline({block});
    }
  }

  bool Schedule() {
    const Name copy = sch_.ReIndex({main_, 0, Side::kRead});
    sch_.PadEinsum({main_, {1, kRows, 1, 1}});
    sch_.ComputeInline({copy});
    const Names producers = sch_.GetProducers({main_}), consumers = sch_.GetConsumers({main_});
    if (!sch_.ok() || producers.empty() || consumers.empty()) return sch_.Fail();
    Name last = consumers[0];
    if (epilogue_) {
      sch_.ComputeInline({last});
      last = *epilogue_;
    }
    Transpose(producers[0]);
    TileProduct();
    LoadOperands();
    sch_.ReverseComputeAt({last, thread_loop_});
    const Names loops = sch_.GetLoops(last, 2);
    sch_.Vectorize({loops.back()});
    sch_.Unroll({loops[loops.size() - 2]});
    sch_.DecomposeReduction({main_, reduce_[0]});
    return sch_.ok();
  }

 private:
  // lambda i0, i1, i2: (i0, i1 // kRows, i2, i1 % kRows)
  static const IndexMapAttr* GroupRows() {
    const arith::PrimBuilder make;
    std::vector<const tir::Var*> params;
    for (const std::string_view name : {"i0", "i1", "i2"})
      params.push_back(IRContext::Current().NewSymVar(name, DataType::Int(64)));
    const PrimExpr* rows = make.Const(kRows, DataType::Int(64));
    return IndexMapAttr::Get(params, std::vector<const PrimExpr*>{params[0], make.FloorDiv(params[1], rows), params[2],
                                                                  make.FloorMod(params[1], rows)});
  }

  void Transpose(const Name& block) {
    if (!sch_.ok()) return;
    sch_.TransformLayout({block, 0, Side::kWrite, GroupRows()});
    const Names loops = sch_.GetLoops(block, 3);
    const Names x = sch_.Split({loops[2], {std::nullopt, kThreadsX}});
    const Names y = sch_.Split({loops[1], {std::nullopt, kThreadsY, kRows}});
    sch_.Bind({loops[0], "blockIdx.z"});
    sch_.Bind({y[0], "blockIdx.y"});
    sch_.Bind({x[0], "blockIdx.x"});
    sch_.Bind({y[1], "threadIdx.y"});
    sch_.Bind({x[1], "threadIdx.x"});
    sch_.Reorder({{loops[0], y[0], x[0], y[1], x[1], y[2]}});
    sch_.Vectorize({y[2]});
  }

  void TileProduct() {
    const Names loops = sch_.GetLoops(main_, 4);
    const Name rows = sch_.Fuse({{loops[0], loops[1]}});
    const Names x = sch_.Split({loops[2], {std::nullopt, kThreadsX, lanes_}});
    const Names y = sch_.Split({rows, {std::nullopt, kThreadsY, kRows}});
    reduce_ = sch_.Split({loops[3], {std::nullopt, 4, 8}});
    sch_.Reorder({{x[0], y[0], x[1], y[1], reduce_[0], reduce_[1], reduce_[2], y[2], x[2]}});
    thread_loop_ = y[1];
    row_loop_ = y[2];
    sch_.SetScope({main_, 0, "local"});
    if (dequantize_) {
      sch_.ComputeAt({*dequantize_, reduce_[2]});
      sch_.SetScope({*dequantize_, 0, "local"});
    }
    sch_.Bind({y[0], "blockIdx.y"});
    sch_.Bind({x[0], "blockIdx.x"});
    sch_.Bind({y[1], "threadIdx.y"});
    sch_.Bind({x[1], "threadIdx.x"});
    sch_.Vectorize({x[2]});
  }

  void Load(const Name& block, int64_t operand, const Name& at) {
    const Name copy = sch_.CacheRead({block, operand, "local"});
    sch_.ComputeAt({.block = copy, .loop = at, .preserve_unit_loops = true});
    sch_.Vectorize({sch_.GetLoops(copy, 1).back()});
  }

  void LoadOperands() {
    Load(main_, 0, reduce_[2]);
    sch_.Unroll({row_loop_});
    sch_.Unroll({reduce_[2]});
    if (!dequantize_) return;
    Load(*dequantize_, 0, reduce_[1]);
    Load(*dequantize_, 1, reduce_[0]);
    sch_.Vectorize({sch_.GetLoops(*dequantize_, 1).back()});
  }

  RuleSchedule& sch_;
  const Name main_;
  const int64_t lanes_;
  std::optional<Name> dequantize_, epilogue_;
  Names reduce_;
  Name thread_loop_, row_loop_;
};

}  // namespace

bool IsOuterReduction(const tir::Block& block) {
  const tir::BufferRegion* last = block.reads[block.reads.size() - 1];
  if (last->region.empty()) return true;
  const PrimExpr* index = last->region[last->region.size() - 1]->min;
  return std::ranges::none_of(block.iter_vars, [&](const tir::IterVar* axis) {
    return axis->var == index && axis->iter_type == tir::IterVarType::kCommReduce;
  });
}

std::optional<bool> ScheduleOuterReduction(RuleSchedule& sch, const Name& main, const Names& blocks) {
  const Names loops = sch.GetLoops({main});
  if (loops.size() != 4) return std::nullopt;
  const auto columns = ConstExtent(sch.Loop(loops[2]).extent);
  if (!columns || !ConstExtent(sch.Loop(loops[0]).extent) || ConstExtent(sch.Loop(loops[1]).extent))
    return std::nullopt;
  const int64_t lanes = std::min(MaxFactor(*columns / kThreadsX, {1, 2, 4, 8}), kMaxLanes);
  return OuterReduction(sch, main, blocks, lanes).Schedule();
}

}  // namespace iropt::schedule
