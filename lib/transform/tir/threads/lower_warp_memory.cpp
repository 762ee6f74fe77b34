// tir.LowerWarpMemory: keeps the memory of a warp in registers of its threads, and shuffles what other threads have.
//
//   A = T.allocate([64], "float32", "warp")         A = T.allocate([2], "float32", "local")
//   A[ty * 32 + tx] = B[...]                  -->   A[ty] = B[...]
//   C[...] = A[ty * 32 + (tx + 1) % 32]             C[...] = T.tvm_warp_shuffle(T.tvm_warp_activemask(), A[ty],
//                                                                               (tx + 1) % 32, 32, 32)
//
// The position of a store is m * tx + (width * m) * y + x with constants: then the thread tx has the element m * y + x.
// The extent of threadIdx.x must divide the number of threads of a warp, which the target says. Memory must be flat and
// of constant size, its address must not be used but by T.ptx_mma, T.ptx_ldmatrix, T.mma_fill and T.mma_store. Targets
// whose warps are one thread have no such memory: nothing changes. O(nodes), times the allocations around them.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/threads/warp_memory.h"
#include "transform/tir/util/target.h"

namespace iropt {

namespace {

bool IsWarpAllocation(const tir::Stmt* stmt) {
  const auto* allocate = As<tir::Allocate>(stmt);
  return allocate && allocate->buffer_var->pointer && allocate->buffer_var->pointer->scope == "warp";
}

// Lets the analyzer know the ranges of all loops and threads.
class RangeBinder : public tir::StmtExprVisitor {
 public:
  explicit RangeBinder(arith::Analyzer& analyzer) : analyzer_(analyzer) {}

 protected:
  void VisitExpr(const PrimExpr*) override {}
  void VisitFor(const tir::For* loop) override {
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (const tir::IterVar* axis = tir::ThreadAxisOf(*stmt))
      analyzer_.Bind(axis->var, analyzer_.make().Const(0, axis->var->dtype), stmt->value);
    StmtExprVisitor::VisitAttrStmt(stmt);
  }

 private:
  arith::Analyzer& analyzer_;
};

class WarpMemoryLowerer : public tir::StmtExprMutator {
 public:
  WarpMemoryLowerer(const PrimFunc& func, int64_t warp_size, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        warp_size_(warp_size),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {
    RangeBinder(analyzer_).VisitStmt(func.body);
  }

 protected:
  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (!IsWarpAllocation(allocate)) return StmtExprMutator::VisitAllocate(allocate);
    const std::optional<WarpLayout> layout = FindWarpLayout(*allocate, warp_size_, analyzer_, diagnostics_);
    if (!layout) return allocate;
    const tir::Var* old = allocate->buffer_var;
    const tir::Var* local =
        workspace().NewPrimVar(old->name, old->dtype, tir::PointerInfo::Get(old->pointer->elem, "local"));
    memories_.insert_or_assign(old, LoweredMemory{*layout, local});
    auto* lowered = workspace().New<tir::Allocate>(*allocate);
    lowered->buffer_var = local;
    lowered->extents = workspace().Copy(std::vector{Int32(layout->elements_of_thread())});
    lowered->body = VisitStmt(allocate->body);
    return lowered;
  }

  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Lowered(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Lowered(buffer); }
  const PrimExpr* VisitVar(const tir::Var* var) override {
    const LoweredMemory* memory = MemoryOf(var);
    return memory ? memory->local : StmtExprMutator::VisitVar(var);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    const LoweredMemory* memory = MemoryOf(store->buffer->data);
    const auto element = memory ? Split(store->indices[0], *memory, *store) : std::nullopt;
    if (!element) return visited;
    auto* lowered = workspace().New<tir::BufferStore>(*To<tir::BufferStore>(visited));
    lowered->indices = workspace().Copy(std::vector{element->local});
    return lowered;
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    const LoweredMemory* memory = MemoryOf(load->buffer->data);
    const auto element = memory ? Split(load->indices[0], *memory, *load) : std::nullopt;
    if (!element) return visited;
    const tir::Var* thread = memory->layout.warp_index;
    if (tir::UsesVar(element->local, thread)) {
      diagnostics_.Error(Location(*load), "pass-failed",
                         fmt::format("the warp memory '{}' cannot be lowered: which register is read depends on the "
                                     "thread",
                                     memory->local->name));
      return visited;
    }
    auto* lowered = workspace().New<tir::BufferLoad>(*To<tir::BufferLoad>(visited));
    lowered->flags = 0;
    lowered->indices = workspace().Copy(std::vector{element->local});
    if (analyzer_.CanProveEqual(element->thread, thread)) return lowered;
    const PrimExpr* mask = Call(DataType::UInt(32), op::kTirTvmWarpActivemask, {});
    return Call(lowered->dtype, op::kTirTvmWarpShuffle,
                {mask, lowered, element->thread, Int32(memory->layout.width), Int32(warp_size_)});
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    const PrimExpr* visited = StmtExprMutator::VisitCall(call);
    std::vector<const PrimExpr*> args;
    for (const size_t i : WarpPointerOperands(*call)) {
      const auto* pointer = As<tir::Var>(call->args[i]);
      const LoweredMemory* memory = pointer ? MemoryOf(pointer) : nullptr;
      const auto element = memory ? Split(call->args[i + 1], *memory, *call) : std::nullopt;
      if (!element) continue;
      const List<const PrimExpr*> old = To<tir::Call>(visited)->args;
      if (args.empty()) args.assign(old.begin(), old.end());
      args[i + 1] = element->local;
    }
    return args.empty() ? visited : workspace().New<tir::Call>(call->dtype, call->op, workspace().Copy(args));
  }

 private:
  struct LoweredMemory {
    WarpLayout layout;
    const tir::Var* local;
  };

  const LoweredMemory* MemoryOf(const tir::Var* pointer) const { return memories_.Find(pointer); }

  const tir::Buffer* Lowered(const tir::Buffer* buffer) {
    const LoweredMemory* memory = MemoryOf(buffer->data);
    if (!memory) return buffer;
    const tir::Buffer*& lowered = buffers_[buffer];
    if (!lowered) {
      auto* copy = workspace().New<tir::Buffer>(*buffer);
      copy->data = memory->local;
      copy->layout = nullptr;
      copy->id = workspace().NextVarId();
      copy->shape = workspace().Copy(std::vector{Int32(memory->layout.elements_of_thread())});
      lowered = copy;
    }
    return lowered;
  }

  std::optional<WarpElement> Split(const PrimExpr* index, const LoweredMemory& memory, const Node& at) {
    const std::optional<WarpElement> element = SplitWarpIndex(VisitExpr(index), memory.layout, analyzer_);
    if (!element) {
      diagnostics_.Error(Location(at), "pass-failed",
                         fmt::format("the warp memory '{}' cannot be lowered: a vector is not next to each other",
                                     memory.local->name));
    }
    return element;
  }

  const PrimExpr* Int32(int64_t value) const { return analyzer_.make().Int(value, DataType::Int(32)); }
  const PrimExpr* Call(DataType dtype, OpId op, const std::vector<const PrimExpr*>& args) {
    return workspace().New<tir::Call>(dtype, GetOp(op), workspace().Copy(args));
  }

  const int64_t warp_size_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  LookupMap<const tir::Var*, LoweredMemory> memories_;
  LookupMap<const tir::Buffer*, const tir::Buffer*> buffers_;
};

}  // namespace

Pass CreateLowerWarpMemory(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    const DictAttr* target = RequireTarget(*func, context.diagnostics());
    if (!target) return Result<const PrimFunc*>(Failure{ErrorCode::PassFailed});
    const auto* warp_size = As<IntAttr>(target->Find("thread_warp_size"));
    if (!warp_size || warp_size->value <= 1 || !tir::FindStmt(func->body, &IsWarpAllocation)) {
      return Result<const PrimFunc*>(func);
    }
    WarpMemoryLowerer lowerer(*func, warp_size->value, context.workspace(), context.diagnostics());
    return Result<const PrimFunc*>(WithBody(func, lowerer.VisitStmt(func->body), context.workspace()));
  });
}

}  // namespace iropt
