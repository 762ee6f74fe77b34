// tir.MergeSharedMemoryAllocations: gives each kernel one allocation of dynamic shared memory.
//
//   A = T.allocate([128], "float32", "shared.dyn")        buf_dyn_shmem = T.allocate([1024], "uint8", "shared.dyn")
//   B = T.allocate([128], "float32", "shared.dyn")        A = T.decl_buffer((128,), data=buf_dyn_shmem)
//   B[tx] = A[tx]                                   -->   B = T.decl_buffer((128,), data=buf_dyn_shmem)
//                                                         B[tx + 128] = A[tx]
//
// GPUs have only one. What is not used at the same time shares memory. With tir.merge_static_smem, static shared memory
// ("shared") is merged as well. Kernels with one allocation stay. Buffers must be flat. Nothing but loads, stores,
// T.tvm_access_ptr and T.ptx_cp_async may use the pointers. O(n log n) in the number of nodes.
//
// Source: TVM 0.18's pass of this name; that of TVM 0.26 for the order of uses within a statement, the alignment of
// each allocation and several kernels in a function.
#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/tir.merge_static_smem.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/storage/shared_memory_plan.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

using SharedAllocations = std::unordered_map<const tir::Var*, const tir::Allocate*>;

class SharedAllocationFinder : public tir::StmtExprVisitor {
 public:
  explicit SharedAllocationFinder(std::string_view scope) : scope_(scope) {}
  SharedAllocations allocations;
  std::vector<const tir::Allocate*> in_order;

 protected:
  void VisitExpr(const PrimExpr*) override {}
  void VisitAllocate(const tir::Allocate* allocate) override {
    const tir::PointerInfo* pointer = allocate->buffer_var->pointer;
    if (pointer && pointer->scope == scope_ && allocations.emplace(allocate->buffer_var, allocate).second) {
      in_order.push_back(allocate);
    }
    StmtExprVisitor::VisitAllocate(allocate);
  }

 private:
  const std::string_view scope_;
};

class SharedMemoryMerger : public tir::StmtExprMutator {
 public:
  SharedMemoryMerger(std::string_view scope, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), scope_(scope), diagnostics_(diagnostics), make_(workspace) {}

 protected:
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key == attr::kThreadExtent && !in_kernel_) {
      in_kernel_ = true;
      const tir::Stmt* visited = VisitKernel(stmt);
      in_kernel_ = false;
      return visited;
    }
    const auto* pointer = As<tir::Var>(stmt->node);
    if (!pointer || !OffsetOf(pointer)) return StmtExprMutator::VisitAttrStmt(stmt);
    if (stmt->attr_key == attr::kVolatileScope) {
      is_volatile_ = true;
      return VisitStmt(stmt->body);
    }
    return workspace().New<tir::AttrStmt>(merged_, stmt->attr_key, VisitExpr(stmt->value), VisitStmt(stmt->body));
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    return OffsetOf(allocate->buffer_var) ? VisitStmt(allocate->body) : StmtExprMutator::VisitAllocate(allocate);
  }
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    return OffsetOf(decl->buffer->data) ? VisitStmt(decl->body) : StmtExprMutator::VisitDeclBuffer(decl);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (!OffsetOf(load->buffer->data)) return visited;
    auto* moved = workspace().New<tir::BufferLoad>(*To<tir::BufferLoad>(visited));
    moved->flags = 0;
    moved->buffer = BufferOf(load->buffer);
    moved->indices = MoveIndices(moved->indices, *load->buffer, *load);
    return moved;
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    if (!OffsetOf(store->buffer->data)) return visited;
    auto* moved = workspace().New<tir::BufferStore>(*To<tir::BufferStore>(visited));
    moved->buffer = BufferOf(store->buffer);
    moved->indices = MoveIndices(moved->indices, *store->buffer, *store);
    return moved;
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5) {
      if (const auto* pointer = MergedPointer(call->args[1])) {
        return MovePointer(*call, 1, ElementOffset(pointer, call->args[0]->dtype), 1);
      }
    }
    const auto* op = As<Op>(call->op);
    if (op && IsOneOf(*op, op::kTirPtxCpAsync, op::kTirSTirCpAsyncRaw) && call->args.size() >= 5) {
      if (const auto* pointer = MergedPointer(call->args[0])) {
        // The merged memory is addressed in bytes.
        return MovePointer(*call, 0, ElementOffset(pointer, call->dtype), call->dtype.bytes());
      }
    }
    return StmtExprMutator::VisitCall(call);
  }

  const PrimExpr* VisitVar(const tir::Var* var) override {
    if (!OffsetOf(var)) return StmtExprMutator::VisitVar(var);
    diagnostics_.Error(
        Location(*var), "pass-failed",
        fmt::format("'{}' cannot be merged with other shared memory, since its address is used", var->name));
    return var;
  }

 private:
  const PrimExpr* OffsetOf(const tir::Var* pointer) const { return plan_.offsets.Lookup(pointer); }
  const tir::Var* MergedPointer(const PrimExpr* expr) const {
    const auto* var = As<tir::Var>(expr);
    return var && OffsetOf(var) ? var : nullptr;
  }
  const PrimExpr* ElementOffset(const tir::Var* pointer, DataType dtype) const {
    const PrimExpr* offset = OffsetOf(pointer);
    return make_.FloorDiv(offset, make_.Const(std::max<int64_t>(dtype.bytes(), 1), offset->dtype));
  }

  const tir::Stmt* VisitKernel(const tir::AttrStmt* kernel) {
    SharedAllocationFinder finder(scope_);
    finder.VisitStmt(kernel->body);
    for (const tir::Allocate* allocate : finder.in_order) {
      if (allocate->extents.size() == 1) continue;
      diagnostics_.Error(
          Location(*allocate), "pass-failed",
          fmt::format("the shared memory '{}' is not flat: run tir.FlattenBuffer first", allocate->buffer_var->name));
      return kernel;
    }
    if (finder.allocations.size() <= 1) return StmtExprMutator::VisitAttrStmt(kernel);
    const AccessSequence sequence = FindAccesses(kernel, diagnostics_);
    for (const tir::Allocate* allocate : finder.in_order) {
      if (!sequence.fixed.contains(allocate)) continue;
      diagnostics_.Error(Location(*allocate), "pass-failed",
                         fmt::format("the size of the shared memory '{}' must not depend on variables of the kernel",
                                     allocate->buffer_var->name));
      return kernel;
    }
    plan_ = PlanSharedMemory(sequence, finder.allocations, make_);
    // Allocations without uses get the offset 0: their memory is not needed.
    for (const tir::Allocate* allocate : finder.in_order) {
      plan_.offsets.try_emplace(allocate->buffer_var, make_.Int(0, DataType::Int(32)));
    }
    merged_ = workspace().NewPrimVar(scope_ == "shared" ? "buf_shmem" : "buf_dyn_shmem", DataType::Handle(),
                                     tir::PointerInfo::Get(DataType::UInt(8), scope_));
    is_volatile_ = false;
    const tir::Stmt* body = VisitStmt(kernel->body);
    for (const tir::Buffer* buffer : moved_) body = workspace().New<tir::DeclBuffer>(buffer, body);
    if (is_volatile_) {
      body = workspace().New<tir::AttrStmt>(merged_, attr::kVolatileScope, make_.Int(1, DataType::Int(32)), body);
    }
    // Since TVM 0.24 the memory is a buffer itself.
    if (workspace().version() >= TextVersion::kV0_24) {
      const tir::BufferSpec spec = {.shape = {plan_.bytes}, .dtype = DataType::UInt(8), .data = merged_};
      body = workspace().New<tir::DeclBuffer>(tir::MakeBuffer(workspace(), spec, merged_->name), body);
    }
    body = workspace().New<tir::Allocate>(merged_, DataType::UInt(8), workspace().Copy(std::vector{plan_.bytes}),
                                          True(workspace()), DictAttr::Empty(), body);
    moved_.clear();
    moved_of_.clear();
    plan_ = {};
    return workspace().New<tir::AttrStmt>(kernel->node, kernel->attr_key, VisitExpr(kernel->value), body);
  }

  const tir::Buffer* BufferOf(const tir::Buffer* buffer) {
    const tir::Buffer*& moved = moved_of_[buffer];
    if (!moved) {
      tir::Buffer copy = *buffer;
      copy.data = merged_;
      copy.id = workspace().NextVarId();
      moved_.push_back(moved = workspace().New<tir::Buffer>(copy));
    }
    return moved;
  }

  List<const PrimExpr*> MoveIndices(List<const PrimExpr*> indices, const tir::Buffer& buffer, const Node& at) {
    if (indices.size() != 1) {
      diagnostics_.Error(Location(at), "pass-failed",
                         fmt::format("the buffer '{}' is not flat: run tir.FlattenBuffer first", buffer.name));
      return indices;
    }
    const PrimExpr* moved = make_.Add(indices[0], ElementOffset(buffer.data, buffer.dtype));
    return workspace().Copy(std::vector{moved});
  }

  // The pointer is operand `at`, the offset the next one.
  const PrimExpr* MovePointer(const tir::Call& call, size_t at, const PrimExpr* offset, int64_t factor) {
    std::vector<const PrimExpr*> args(call.args.begin(), call.args.end());
    for (size_t i = 0; i < args.size(); ++i) {
      if (i != at) args[i] = VisitExpr(args[i]);
    }
    args[at] = merged_;
    const PrimExpr* moved = make_.Add(args[at + 1], offset);
    args[at + 1] = make_.Mul(moved, make_.Const(factor, moved->dtype));
    return workspace().New<tir::Call>(call.dtype, call.op, workspace().Copy(args));
  }

  const std::string_view scope_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  bool in_kernel_ = false;
  // Of the current kernel.
  SharedMemoryPlan plan_ = {};
  const tir::Var* merged_ = nullptr;
  bool is_volatile_ = false;
  std::vector<const tir::Buffer*> moved_;  // in the order of their first uses
  LookupMap<const tir::Buffer*, const tir::Buffer*> moved_of_;
};

const tir::Stmt* MergeSharedMemory(const tir::Stmt* body, std::string_view scope, FunctionPassContext& context) {
  SharedAllocationFinder finder(scope);
  finder.VisitStmt(body);
  if (finder.allocations.size() <= 1) return body;
  return SharedMemoryMerger(scope, context.workspace(), context.diagnostics()).VisitStmt(body);
}

}  // namespace

Pass CreateMergeSharedMemoryAllocations(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    const tir::Stmt* body = MergeSharedMemory(func.body, "shared.dyn", context);
    return context.context().Config(config::tir::merge_static_smem) ? MergeSharedMemory(body, "shared", context) : body;
  });
}

}  // namespace iropt
