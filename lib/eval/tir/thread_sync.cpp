#include "iropt/eval/tir/thread_sync.h"

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"

namespace iropt {

namespace {

class SyncFinder : public tir::StmtExprVisitor {
 public:
  explicit SyncFinder(LookupSet<const tir::Stmt*>& synchronizing) : synchronizing_(synchronizing) {}

  void VisitStmt(const tir::Stmt* stmt) override {
    const bool before = found_;
    found_ = false;
    StmtExprVisitor::VisitStmt(stmt);
    if (found_) synchronizing_.insert(stmt);
    found_ = found_ || before;
  }

 protected:
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    if (op && IsOneOf(*op, op::kTirTvmStorageSync, op::kTirTvmThreadAllreduce)) found_ = true;
    StmtExprVisitor::VisitCall(call);
  }

 private:
  LookupSet<const tir::Stmt*>& synchronizing_;
  bool found_ = false;
};

}  // namespace

bool IsThreadTag(std::string_view tag) { return tag.starts_with("threadIdx") || tag.starts_with("vthread"); }

bool IsLocalMemory(const tir::Var* data) { return data->pointer && data->pointer->scope.starts_with("local"); }

LookupSet<const tir::Stmt*> FindSynchronizing(const tir::Stmt* body) {
  LookupSet<const tir::Stmt*> synchronizing;
  SyncFinder(synchronizing).VisitStmt(body);
  return synchronizing;
}

}  // namespace iropt
