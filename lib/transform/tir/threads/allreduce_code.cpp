#include "transform/tir/threads/allreduce_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <optional>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "transform/tir/util/constant_conditions.h"

namespace iropt {

namespace {

using Stmts = std::vector<const tir::Stmt*>;
using Exprs = std::vector<const PrimExpr*>;
using Buffers = std::vector<const tir::Buffer*>;

// Returns whether the threads of a warp can pass on values of this dtype.
bool CanShuffle(DataType dtype, bool only_32_bits) {
  if (only_32_bits && dtype.bits * dtype.lanes != 32) return false;
  if (dtype.code == TypeCode::kFloat && dtype.bits == 16) return dtype.lanes <= 2;
  return dtype.lanes == 1 && dtype.bytes() >= 4 && dtype.bytes() <= 8;
}

class AllreduceBuilder {
 public:
  AllreduceBuilder(const Allreduce& reduction, const WarpInfo& warps, Workspace& workspace)
      : reduction_(reduction),
        warps_(warps),
        workspace_(workspace),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        index_dtype_(reduction.reduced.index->dtype) {}

  AllreduceCode Build() {
    if (IsByWarps()) return reduction_.reduced.extent <= warps_.warp_size ? InWarp() : OverWarps();
    return reduction_.reduced.extent == 1 ? Copy() : InSharedMemory();
  }

 private:
  // ---- Parts of code
  const arith::PrimBuilder& make() const { return analyzer_.make(); }
  size_t size() const { return reduction_.buffers.size(); }
  DataType dtype(size_t i) const { return reduction_.values[i]->dtype; }
  const PrimExpr* Int32(int64_t value) const { return make().Int(value, DataType::Int(32)); }
  const PrimExpr* Index(int64_t value) const { return make().Const(value, index_dtype_); }
  const PrimExpr* Less(const PrimExpr* a, const PrimExpr* b) const { return make().Binary(NodeKind::kLT, a, b); }
  const PrimExpr* IsZero(const PrimExpr* e) const { return make().Binary(NodeKind::kEQ, e, Index(0)); }
  const PrimExpr* reduce_index() const { return reduction_.reduced.index; }
  const PrimExpr* group_index() const { return reduction_.group.index; }

  const tir::Buffer* NewBuffer(std::string_view name, DataType dtype, const PrimExpr* extent, std::string_view scope) {
    tir::BufferSpec spec;
    spec.shape = {extent};
    spec.dtype = dtype;
    spec.scope = scope;
    // The pointer of a new buffer of bool would be one to int8, which T.allocate cannot say.
    spec.data = workspace_.NewPrimVar(name, DataType::Handle(), tir::PointerInfo::Get(dtype, scope));
    return tir::MakeBuffer(workspace_, spec, name);
  }
  const tir::Buffer* NewLocal(std::string_view prefix, size_t i, DataType dtype) {
    return NewBuffer(workspace_.arena().CopyString(fmt::format("{}{}", prefix, i)), dtype, Int32(1), "local");
  }
  const tir::BufferLoad* Load(const tir::Buffer* buffer, const PrimExpr* index) {
    return workspace_.New<tir::BufferLoad>(buffer->dtype, buffer, workspace_.Copy(Exprs{index}));
  }
  const tir::Stmt* Store(const tir::Buffer* buffer, const PrimExpr* index, const PrimExpr* value) {
    return workspace_.New<tir::BufferStore>(buffer, value, workspace_.Copy(Exprs{index}));
  }
  const tir::Stmt* If(const PrimExpr* condition, const Stmts& stmts) {
    return workspace_.New<tir::IfThenElse>(condition, tir::MakeSeq(workspace_, stmts), nullptr);
  }
  const PrimExpr* Call(DataType dtype, OpId op, std::initializer_list<const PrimExpr*> args) {
    return workspace_.New<tir::Call>(dtype, GetOp(op), workspace_.Copy(Exprs(args)));
  }
  const tir::Stmt* Sync(std::string_view scope) {
    return workspace_.New<tir::Evaluate>(
        Call(DataType::Int(32), op::kTirTvmStorageSync, {workspace_.New<tir::StringImm>(scope)}));
  }
  Exprs Combine(const Exprs& a, const Exprs& b) {
    tir::VarValues values;
    for (size_t i = 0; i < size(); ++i) {
      values[reduction_.combiner->lhs[i]] = a[i];
      values[reduction_.combiner->rhs[i]] = b[i];
    }
    Exprs results;
    for (const PrimExpr* result : reduction_.combiner->result) {
      results.push_back(tir::Substitute(result, values, workspace_));
    }
    return results;
  }
  // The statements with these buffers allocated around them: the first one innermost, as in TVM, which has allocations
  // as statements in their order since 0.24.
  const tir::Stmt* Allocate(Buffers buffers, const Stmts& stmts) {
    const tir::Stmt* body = tir::MakeSeq(workspace_, stmts);
    if (workspace_.version() >= TextVersion::kV0_24) std::ranges::reverse(buffers);
    for (const tir::Buffer* buffer : buffers) {
      body = workspace_.New<tir::DeclBuffer>(buffer, body);
      body = workspace_.New<tir::Allocate>(buffer->data, buffer->dtype, buffer->shape, True(workspace_),
                                           DictAttr::Empty(), body);
    }
    return body;
  }

  // ---- Without a reduction
  AllreduceCode Copy() {
    Stmts stores;
    for (size_t i = 0; i < size(); ++i) stores.push_back(Store(reduction_.buffers[i], Int32(0), reduction_.values[i]));
    return {tir::MakeSeq(workspace_, stores)};
  }

  // ---- Within warps
  bool IsByWarps() const {
    const std::string_view kind = warps_.target_kind;
    const bool is_rocm = kind == "rocm";
    if (kind != "cuda" && kind != "metal" && kind != "webgpu" && !is_rocm) return false;
    for (size_t i = 0; i < size(); ++i) {
      if (!CanShuffle(dtype(i), is_rocm)) return false;
    }
    const int64_t extent = reduction_.reduced.extent;
    const int64_t warp_size = warps_.warp_size;
    if (reduction_.contiguous != extent) return false;
    if (is_rocm) return extent == warp_size;
    if (extent == 1) return false;
    const bool is_part_of_warp = warp_size % extent == 0;
    const bool is_whole_warps =
        warps_.max_num_threads != -1 && warps_.max_num_threads <= warp_size * warp_size && extent % warp_size == 0;
    return is_part_of_warp || is_whole_warps || (reduction_.group.extent == 1 && extent <= warp_size);
  }
  bool NeedsMask() const { return warps_.target_kind != "metal" && warps_.target_kind != "webgpu"; }

  // The buffers of a reduction in each warp: the values, what other threads pass on, the threads that take part.
  struct WarpBuffers {
    Buffers values;
    Buffers others;
    const tir::Buffer* mask = nullptr;  // null if the target needs none
    // For Allocate.
    void AppendTo(Buffers& buffers) const {
      buffers.insert(buffers.end(), others.begin(), others.end());
      if (mask) buffers.push_back(mask);
      buffers.insert(buffers.end(), values.begin(), values.end());
    }
  };

  const PrimExpr* Shuffle(OpId op, const tir::Buffer* mask, const PrimExpr* value, const PrimExpr* lane) {
    const PrimExpr* active = mask ? Load(mask, Int32(0)) : Int32(0);
    return Call(value->dtype, op, {active, value, lane, Int32(warps_.warp_size), Int32(warps_.warp_size)});
  }

  // The first thread of each `extent` threads has the results afterwards. `predicate`: which threads have values; null
  // for all.
  WarpBuffers ReduceInWarps(const Exprs& values, int64_t extent, const PrimExpr* predicate, Stmts& code) {
    WarpBuffers buffers;
    Stmts stores;
    for (size_t i = 0; i < size(); ++i) {
      buffers.values.push_back(NewLocal("red_buf", i, dtype(i)));
      buffers.others.push_back(NewLocal("t", i, dtype(i)));
      stores.push_back(Store(buffers.values[i], Int32(0), values[i]));
    }
    if (predicate) stores = {If(predicate, stores)};
    code.insert(code.end(), stores.begin(), stores.end());
    if (NeedsMask()) {
      buffers.mask = NewBuffer("mask", DataType::UInt(32), Int32(1), "local");
      code.push_back(Store(buffers.mask, Int32(0), Call(DataType::UInt(32), op::kTirTvmWarpActivemask, {})));
    }
    for (int64_t offset = GreatestStep(extent); offset > 0; offset /= 2) {
      const Stmts combined = Step(buffers, offset, code);
      // A thread without a partner would combine what is undefined.
      if (offset * 2 > extent) {
        code.push_back(If(Less(make().Add(reduce_index(), Index(offset)), Index(extent)), combined));
      } else {
        code.insert(code.end(), combined.begin(), combined.end());
      }
    }
    return buffers;
  }

  // The greatest power of two that is less than the number of threads.
  static int64_t GreatestStep(int64_t extent) {
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(extent - 1, 1))));
  }

  // Gets the values of the threads at this distance, before any condition, and returns the stores of what they combine
  // to: a shuffle in a branch could wait forever.
  Stmts Step(const WarpBuffers& buffers, int64_t offset, Stmts& code) {
    Exprs own;
    Exprs others;
    for (size_t i = 0; i < size(); ++i) {
      own.push_back(Load(buffers.values[i], Int32(0)));
      const PrimExpr* other = Shuffle(op::kTirTvmWarpShuffleDown, buffers.mask, own.back(), Int32(offset));
      code.push_back(Store(buffers.others[i], Int32(0), other));
      others.push_back(Load(buffers.others[i], Int32(0)));
    }
    const Exprs combined = Combine(own, others);
    Stmts stores;
    for (size_t i = 0; i < size(); ++i) stores.push_back(Store(buffers.values[i], Int32(0), combined[i]));
    return stores;
  }

  // The threads of a warp get the results from the first one.
  AllreduceCode InWarp() {
    Stmts code;
    const int64_t extent = reduction_.reduced.extent;
    const WarpBuffers buffers = ReduceInWarps(reduction_.values, extent, nullptr, code);
    AllreduceCode result;
    const PrimExpr* first = make().Mul(Index(extent), group_index());
    // A target without masks does not read this operand. TVM passes the buffer that it made last.
    const tir::Buffer* mask = buffers.mask ? buffers.mask : buffers.others.back();
    for (const tir::Buffer* values : buffers.values) {
      const PrimExpr* value = Load(values, Index(0));
      code.push_back(Store(values, Index(0), Shuffle(op::kTirTvmWarpShuffle, mask, value, first)));
      result.results.push_back(Load(values, Int32(0)));
    }
    Buffers allocated = buffers.others;
    if (buffers.mask) allocated.push_back(buffers.mask);
    result.body = Allocate(allocated, code);
    return result;
  }

  // The results of the warps are reduced in one warp, and all threads get theirs from shared memory.
  AllreduceCode OverWarps() {
    const int64_t num_warps = reduction_.reduced.extent / warps_.warp_size;
    const PrimExpr* warp_size = Index(warps_.warp_size);
    const PrimExpr* first_warp = make().Mul(group_index(), Index(num_warps));
    Buffers staging;
    for (size_t i = 0; i < size(); ++i) {
      staging.push_back(NewBuffer("red_buf_staging", reduction_.buffers[i]->dtype,
                                  Index(num_warps * reduction_.group.extent), "shared"));
    }
    Buffers allocated = staging;
    Stmts code;
    const WarpBuffers first = ReduceInWarps(reduction_.values, warps_.warp_size, nullptr, code);
    first.AppendTo(allocated);
    const PrimExpr* warp = make().Add(first_warp, make().FloorDiv(reduce_index(), warp_size));
    Stmts stores;
    for (size_t i = 0; i < size(); ++i) stores.push_back(Store(staging[i], warp, Load(first.values[i], Int32(0))));
    code.push_back(If(IsZero(make().FloorMod(reduce_index(), warp_size)), stores));
    code.push_back(Sync("shared"));

    Exprs staged;
    for (const tir::Buffer* buffer : staging) staged.push_back(Load(buffer, make().Add(first_warp, reduce_index())));
    const WarpBuffers second = ReduceInWarps(staged, num_warps, Less(reduce_index(), Index(num_warps)), code);
    second.AppendTo(allocated);
    AllreduceCode result;
    stores.clear();
    for (size_t i = 0; i < size(); ++i) {
      const tir::Buffer* shared =
          NewBuffer("red_result", reduction_.buffers[i]->dtype, Index(reduction_.group.extent), "shared");
      stores.push_back(Store(shared, group_index(), Load(second.values[i], Int32(0))));
      result.results.push_back(Load(shared, group_index()));
    }
    code.push_back(If(IsZero(reduce_index()), stores));
    code.push_back(Sync("shared"));
    result.body = Allocate(allocated, code);
    return result;
  }

  // ---- In shared memory
  const PrimExpr* SharedIndex(const PrimExpr* reduce_index) {
    if (arith::IsInt(group_index(), 0)) return reduce_index;
    return analyzer_.Simplify(make().Add(make().Mul(group_index(), Index(reduction_.reduced.extent)), reduce_index));
  }

  AllreduceCode InSharedMemory() {
    Stmts code{Sync("shared")};  // other threads may still read the results of the last iteration
    const PrimExpr* extent = Index(reduction_.group.extent * reduction_.reduced.extent);
    Buffers shared;
    AllreduceCode result;
    for (size_t i = 0; i < size(); ++i) {
      shared.push_back(
          NewBuffer(workspace_.arena().CopyString(fmt::format("red_buf{}", i)), dtype(i), extent, "shared"));
      code.push_back(Store(shared[i], SharedIndex(reduce_index()), reduction_.values[i]));
      result.results.push_back(Load(shared[i], SharedIndex(Index(0))));
    }
    code.push_back(Sync("shared"));
    ReduceInSharedMemory(shared, code);
    result.body = tir::MakeSeq(workspace_, code);
    return result;
  }

  // Combines the values of this thread and of the one at this distance.
  Exprs CombineShared(const Buffers& shared, int64_t offset) {
    Exprs own;
    Exprs others;
    for (const tir::Buffer* buffer : shared) {
      own.push_back(Load(buffer, SharedIndex(reduce_index())));
      others.push_back(Load(buffer, SharedIndex(make().Add(reduce_index(), Index(offset)))));
    }
    return Combine(own, others);
  }
  Stmts StoreShared(const Buffers& shared, const Exprs& values) {
    Stmts stores;
    for (size_t i = 0; i < size(); ++i) stores.push_back(Store(shared[i], SharedIndex(reduce_index()), values[i]));
    return stores;
  }

  void ReduceInSharedMemory(const Buffers& shared, Stmts& code) {
    const int64_t extent = reduction_.reduced.extent;
    auto align = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
    const auto combine_below = [&](int64_t limit, int64_t offset) {
      code.push_back(If(Less(reduce_index(), Index(limit)), StoreShared(shared, CombineShared(shared, offset))));
      code.push_back(Sync("shared"));
    };
    if (align > extent) {
      align /= 2;
      combine_below(extent - align, align);
    }
    const bool warps_are_aligned = reduction_.group.extent == 1 || reduction_.contiguous % warps_.warp_size == 0;
    while (align > 1 && (align > reduction_.contiguous || align > warps_.warp_size || !warps_are_aligned)) {
      align /= 2;
      combine_below(align, align);
    }
    if (align == 1) return;
    const PrimExpr* in_warp = Less(reduce_index(), Index(align / 2));
    Stmts steps;
    while (align > 1) {
      align /= 2;
      steps.push_back(SharedStepInWarp(shared, align));
    }
    code.push_back(If(in_warp, steps));
    code.push_back(Sync("shared"));
  }

  // Threads read and write the same elements, so that all must have read before one writes.
  const tir::Stmt* SharedStepInWarp(const Buffers& shared, int64_t offset) {
    const Exprs loads = CombineShared(shared, offset);
    Exprs vars;
    std::vector<const tir::Var*> bound;
    for (size_t i = 0; i < size(); ++i) {
      const std::string_view name = workspace_.arena().CopyString(fmt::format("w_{}_{}", offset, i));
      bound.push_back(workspace_.NewPrimVar(name, loads[i]->dtype));
      vars.push_back(bound.back());
    }
    Stmts stmts = StoreShared(shared, vars);
    stmts.insert(stmts.begin(), Sync("warp"));
    stmts.push_back(Sync("warp"));
    const tir::Stmt* body = tir::MakeSeq(workspace_, stmts);
    for (size_t i = size(); i-- > 0;) body = workspace_.New<tir::LetStmt>(bound[i], loads[i], body);
    return body;
  }

  const Allreduce& reduction_;
  const WarpInfo& warps_;
  Workspace& workspace_;
  arith::Analyzer analyzer_;
  const DataType index_dtype_;
};

}  // namespace

AllreduceCode MakeAllreduceCode(const Allreduce& reduction, const WarpInfo& warps, Workspace& workspace) {
  return AllreduceBuilder(reduction, warps, workspace).Build();
}

}  // namespace iropt
