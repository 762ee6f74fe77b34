// tir.ThreadSync: lets the threads of a block wait for each other where one may read what another one wrote.
//
//   S[tx] = A[tx]                              S[tx] = A[tx]
//   B[tx] = S[15 - tx]               -->       T.tvm_storage_sync("shared")
//                                              B[tx] = S[15 - tx]
//
// In memory of `storage_scope`, such as shared memory; all buffers in "shared.dyn" count as one. Accesses do not
// conflict if both are at the same position, which depends on the innermost thread. A loop conflicts also with its next
// round. Memory in "shared" is waited for also after asynchronous copies to it. It is an error if threads would wait in
// a condition that is not marked by T.tvm_thread_invariant. O(nodes), times the nesting.
//
// Source: TVM 0.18's pass of this name, without the barriers for all threads of a kernel in global memory.
#include <string>
#include <string_view>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/ThreadSync.h"
#include "transform/tir/threads/sync_planner.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class SyncInserter : public tir::StmtExprMutator {
 public:
  SyncInserter(const SyncPoints& points, std::string_view scope, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), points_(points), scope_(scope) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no statements in expressions

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    const tir::Stmt* visited = StmtExprMutator::VisitStmt(stmt);
    if (!points_.contains(stmt)) return visited;
    const tir::Stmt* stmts[] = {MakeSync(), visited};
    return tir::MakeSeq(workspace(), stmts);
  }

 private:
  const tir::Stmt* MakeSync() {
    const PrimExpr* scope = workspace().New<tir::StringImm>(workspace().arena().CopyString(scope_));
    return workspace().New<tir::Evaluate>(workspace().New<tir::Call>(
        DataType::Int(32), GetOp(op::kTirTvmStorageSync), workspace().Copy(std::vector<const PrimExpr*>{scope})));
  }

  const SyncPoints& points_;
  const std::string_view scope_;
};

// The statements that wait for asynchronous copies.
class WaitFinder : public tir::StmtExprVisitor {
 public:
  SyncPoints points;
  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* inner = As<tir::AttrStmt>(stmt->body);
    if (stmt->attr_key == attr::kAsyncWaitQueueScope && inner && inner->attr_key == attr::kAsyncWaitInflightCount) {
      points.insert(inner->body);
    } else {
      StmtExprVisitor::VisitAttrStmt(stmt);
    }
  }
};

}  // namespace

Pass CreateThreadSync(const PassOptions& options) {
  const pass_options::ThreadSync given(options);
  const std::string& scope = *given.storage_scope;
  if (StorageScope::Of(scope).rank == StorageRank::kGlobal)
    options.Refuse(given.storage_scope, "must not be global memory");
  return CreateBodyPass(options.info(), {}, [scope](const PrimFunc& func, FunctionPassContext& context) {
    const tir::Stmt* body = func.body;
    if (StorageScope::Of(scope).tag.empty()) {
      WaitFinder finder;
      finder.VisitStmt(body);
      if (!finder.points.empty()) body = SyncInserter(finder.points, scope, context.workspace()).VisitStmt(body);
    }
    const SyncPoints points = PlanSyncs(body, scope, context.workspace(), context.diagnostics());
    return points.empty() ? body : SyncInserter(points, scope, context.workspace()).VisitStmt(body);
  });
}

}  // namespace iropt
