// tir.LowerThreadAllreduce: lowers reductions over the threads of a block to shuffles in warps and shared memory.
//
//   T.tvm_thread_allreduce(T.uint32(1), A[tx], T.bool(True), B[0], tx)
//                          -->
//   red_buf0[0] = A[tx]
//   mask[0] = T.tvm_warp_activemask()
//   t0[0] = T.tvm_warp_shuffle_down(mask[0], red_buf0[0], 16, 32, 32)
//   red_buf0[0] = red_buf0[0] + t0[0]
//   ...
//
// The memory of the result is replaced: every thread then reads it where the code leaves it. Shared memory is volatile.
// The target of the function says how many threads a warp has, and whether they can pass on values. The operation is
// that of the attribute reduce_scope around the call. Axes must have constant extents. O(nodes), and for each reduction
// the logarithm of the number of its threads.
//
// Shared memory is marked by an annotation of its allocation since TVM 0.24, and by an attribute before.
//
// Source: TVM 0.18's pass of this name; on targets for WebGPU that of TVM 0.26.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/threads/allreduce_code.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/target.h"

namespace iropt {

namespace {

// A thread axis in the order of its dimension.
struct BlockAxis {
  int dim;
  const tir::Var* var;
  int64_t extent;
};

class AllreduceLowerer : public tir::StmtExprMutator {
 public:
  AllreduceLowerer(const WarpInfo& warps, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), warps_(warps), diagnostics_(diagnostics), make_(workspace) {}

 protected:
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* combiner = As<tir::CommReducer>(stmt->node);
    if (combiner && stmt->attr_key == attr::kReduceScope) {
      const tir::CommReducer* outer = std::exchange(combiner_, combiner);
      const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
      combiner_ = outer;
      return visited;
    }
    if (stmt->attr_key != attr::kThreadExtent) return StmtExprMutator::VisitAttrStmt(stmt);
    axes_.push_back(stmt);
    const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
    axes_.pop_back();
    return visited;
  }

  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const auto* visited = To<tir::Evaluate>(StmtExprMutator::VisitEvaluate(stmt));
    const auto* call = As<tir::Call>(visited->value);
    if (!call || !IsOp(call->op, op::kTirTvmThreadAllreduce)) return visited;
    const std::optional<Allreduce> reduction = Read(*call);
    if (!reduction) return visited;
    const AllreduceCode code = MakeAllreduceCode(*reduction, warps_, workspace());
    for (size_t i = 0; i < code.results.size(); ++i) {
      results_[RootOf(reduction->buffers[i]->data)] = code.results[i];
      reduced_.insert(reduction->buffers[i]);
      new_buffers_.insert(code.results[i]->buffer);
    }
    return code.body;
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const auto* visited = To<tir::Allocate>(StmtExprMutator::VisitAllocate(allocate));
    const tir::BufferLoad* result = ResultAt(allocate->buffer_var);
    if (!result) return visited;
    const tir::Buffer* buffer = result->buffer;
    const tir::Stmt* body = visited->body;
    const DictAttr* annotations = visited->annotations;
    if (buffer->scope() == "shared") {
      if (declares_where_allocated()) {
        annotations = annotations->With(attr::kVolatile, IntAttr::Bool(true));
      } else {
        body =
            workspace().New<tir::AttrStmt>(buffer->data, attr::kVolatileScope, make_.Int(1, DataType::Int(32)), body);
      }
    }
    if (declares_where_allocated()) body = workspace().New<tir::DeclBuffer>(buffer, body);
    return workspace().New<tir::Allocate>(buffer->data, buffer->dtype, buffer->shape, True(workspace()), annotations,
                                          body);
  }
  // The buffer of the reduction becomes the new one, unless that is declared already. Others at its memory are gone.
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    const auto* visited = To<tir::DeclBuffer>(StmtExprMutator::VisitDeclBuffer(decl));
    const tir::BufferLoad* result = ResultAt(decl->buffer->data);
    if (result == nullptr) return visited;
    if (declares_where_allocated() || !reduced_.contains(decl->buffer)) return visited->body;
    return workspace().New<tir::DeclBuffer>(result->buffer, visited->body);
  }
  // Other pointers to the memory go with it.
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    const auto* source = As<tir::Var>(let->value);
    if (!source || !let->var->dtype.is_handle()) return StmtExprMutator::VisitLetStmt(let);
    roots_[let->var] = RootOf(source);
    const tir::Stmt* visited = StmtExprMutator::VisitLetStmt(let);
    return ResultAt(let->var) ? To<tir::LetStmt>(visited)->body : visited;
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const tir::BufferLoad* result = ResultAt(load->buffer->data);
    return result ? result : StmtExprMutator::VisitBufferLoad(load);
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::BufferLoad* result = ResultAt(store->buffer->data);
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    if (!result) return visited;
    auto* moved = workspace().New<tir::BufferStore>(*To<tir::BufferStore>(visited));
    moved->buffer = result->buffer;
    moved->indices = result->indices;
    return moved;
  }

 private:
  // Since TVM 0.24 an allocation declares its buffer.
  bool declares_where_allocated() { return workspace().version() >= TextVersion::kV0_24; }
  // The pointer of the allocation that the pointer was made of.
  const tir::Var* RootOf(const tir::Var* pointer) const {
    const auto* root = roots_.Find(pointer);
    return root ? *root : pointer;
  }
  // Returns the load that replaces those of the elements at the pointer; null if they stay.
  const tir::BufferLoad* ResultAt(const tir::Var* pointer) const {
    const auto* result = results_.Find(RootOf(pointer));
    return result ? *result : nullptr;
  }

  std::nullopt_t Refuse(const tir::Call& call, std::string_view why) {
    diagnostics_.Error(Location(call), "pass-failed", fmt::format("T.tvm_thread_allreduce {}", why));
    return std::nullopt;
  }

  // Operands: how many values there are, the values, a condition, elements of the results, thread variables.
  std::optional<Allreduce> Read(const tir::Call& call) {
    if (!combiner_) return Refuse(call, "needs the attribute reduce_scope around it");
    const size_t size = combiner_->result.size();
    const int64_t* count = call.args.empty() ? nullptr : arith::AsInt(call.args[0]);
    if (!count || *count != static_cast<int64_t>(size) || call.args.size() < 2 + 2 * size) {
      return Refuse(call, fmt::format("needs {} values, a condition and as many results", size));
    }
    Allreduce reduction;
    reduction.combiner = combiner_;
    const PrimExpr* condition = call.args[size + 1];
    for (size_t i = 0; i < size; ++i) {
      const PrimExpr* value = call.args[1 + i];
      if (!arith::IsInt(condition, 1)) {
        value = workspace().New<tir::Select>(condition, value, combiner_->identity_element[i]);
      }
      reduction.values.push_back(value);
      const PrimExpr* element = call.args[2 + size + i];
      if (const auto* cast = As<tir::Cast>(element)) element = cast->value;  // of a buffer of bool
      const auto* load = As<tir::BufferLoad>(element);
      if (!load) return Refuse(call, "needs elements of buffers for its results");
      if (new_buffers_.contains(load->buffer)) return Refuse(call, "stores to a result of another one");
      reduction.buffers.push_back(load->buffer);
    }
    if (!ReadAxes(call, 2 + 2 * size, reduction)) return std::nullopt;
    return reduction;
  }

  bool ReadAxes(const tir::Call& call, size_t first, Allreduce& reduction) {
    LookupSet<const tir::Var*> wanted;
    for (size_t i = first; i < call.args.size(); ++i) {
      const auto* var = As<tir::Var>(call.args[i]);
      if (var) wanted.insert(var);
      // A variable of one value may have been replaced by it.
      if (!var && !arith::IsInt(call.args[i], 0)) return Refuse(call, "reduces over thread axes only"), false;
    }
    std::vector<BlockAxis> reduced;
    std::vector<BlockAxis> others;
    size_t found = 0;
    for (const tir::AttrStmt* attr : axes_) {
      const auto& axis = *To<tir::IterVar>(attr->node);
      const ThreadTag tag = ThreadTag::Of(axis.thread_tag);
      if (tag.dim < 0) return Refuse(call, "does not work with virtual threads"), false;
      if (tag.rank != ThreadRank::kThread) continue;
      const int64_t* extent = arith::AsInt(attr->value);
      if (!extent) return Refuse(call, "needs thread axes with constant extents"), false;
      const bool is_reduced = wanted.contains(axis.var);
      if (is_reduced) ++found;
      if (*extent != 1) (is_reduced ? reduced : others).push_back({tag.dim, axis.var, *extent});
    }
    if (found != wanted.size()) return Refuse(call, "reduces over an axis that is not launched around it"), false;
    std::ranges::sort(reduced, {}, &BlockAxis::dim);
    std::ranges::sort(others, {}, &BlockAxis::dim);
    reduction.reduced = Flatten(reduced);
    reduction.group = Flatten(others);
    for (const BlockAxis& axis : reduced) {
      if (!others.empty() && others.front().dim < axis.dim) break;
      reduction.contiguous *= axis.extent;
    }
    return true;
  }

  FlatThreads Flatten(const std::vector<BlockAxis>& axes) const {
    FlatThreads flat{make_.Int(0, DataType::Int(32)), 1};
    for (const BlockAxis& axis : axes) {
      const PrimExpr* scaled = make_.Mul(axis.var, make_.Const(flat.extent, axis.var->dtype));
      flat.index = flat.extent == 1 ? axis.var : make_.Add(flat.index, scaled);
      flat.extent *= axis.extent;
    }
    return flat;
  }

  const WarpInfo& warps_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  std::vector<const tir::AttrStmt*> axes_;  // around the current statement
  const tir::CommReducer* combiner_ = nullptr;
  LookupMap<const tir::Var*, const tir::Var*> roots_;  // of pointers that are bound
  // Results by the pointers that they replace.
  LookupMap<const tir::Var*, const tir::BufferLoad*> results_;
  LookupSet<const tir::Buffer*> new_buffers_;  // of results
  LookupSet<const tir::Buffer*> reduced_;      // that the new ones stand for
};

WarpInfo WarpsOf(const DictAttr& target) {
  const auto number = [&](std::string_view key, int64_t fallback) {
    const auto* value = As<IntAttr>(target.Find(key));
    return value ? value->value : fallback;
  };
  return {TargetString(target, "kind"), std::max<int64_t>(number("thread_warp_size", 1), 1),
          number("max_num_threads", -1)};
}

}  // namespace

Pass CreateLowerThreadAllreduce(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    const DictAttr* target = RequireTarget(*func, context.diagnostics());
    if (!target) return Result<const PrimFunc*>(Failure{ErrorCode::PassFailed});
    const WarpInfo warps = WarpsOf(*target);
    AllreduceLowerer lowerer(warps, context.workspace(), context.diagnostics());
    return Result<const PrimFunc*>(WithBody(func, lowerer.VisitStmt(func->body), context.workspace()));
  });
}

}  // namespace iropt
