// tir.CommonSubexprElim: binds what is computed several times to variables, as newer versions of TVM do it.
//
//   A[i * 4 + j] = B[i * 4 + j]              -->    cse_v1: T.int32 = i * 4 + j
//                                                   A[cse_v1] = B[cse_v1]
//
// tir.CommonSubexprElimTIR is the one of older versions, which binds other expressions in other places. Here an
// expression counts if it computes something, does not load or call, and is not a condition. It is bound before the
// first statement with it that is in the innermost scope around all of them: a loop, a branch, an attribute or a block.
// The shapes of parameters and the regions of blocks stay, and so do divisions by what may be 0, and conversions of
// floats to integers, where a condition may guard the first one. O(n log n) in the number of nodes.
//
// Source: the pass of this name of TVM 0.26.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/ir/map_list.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/simplify/subexpr_plan.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class SharedSubexprBinder : public tir::StmtExprMutator {
 public:
  SharedSubexprBinder(const SubexprPlan& plan, Workspace& workspace)
      : StmtExprMutator(workspace), plan_(plan), vars_(plan.shared.size()) {
    for (size_t i = 0; i < plan.shared.size(); ++i) at_[plan.shared[i].position].push_back(i);
  }

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const auto* shared = plan_.shared_of.Find(expr);
    if (shared && vars_[*shared]) return vars_[*shared];
    return StmtExprMutator::VisitExpr(expr);
  }

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    const std::vector<Binding> bindings = Bind(stmt);
    const tir::Stmt* visited = StmtExprMutator::VisitStmt(stmt);
    return Close(bindings, visited);
  }

 protected:
  // A binding holds for the rest of the sequence.
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    struct Part {
      std::vector<Binding> bindings;
      std::vector<const tir::Stmt*> stmts;
    };
    std::vector<Part> parts(1);
    bool changed = false;
    for (const tir::Stmt* stmt : seq->seq) {
      std::vector<Binding> bindings = Bind(stmt);
      if (!bindings.empty()) parts.push_back({std::move(bindings), {}});
      parts.back().stmts.push_back(StmtExprMutator::VisitStmt(stmt));
      changed = changed || parts.back().stmts.back() != stmt;
    }
    if (!changed && parts.size() == 1) return seq;
    while (parts.size() > 1) {
      const tir::Stmt* closed = Close(parts.back().bindings, tir::MakeSeq(workspace(), parts.back().stmts));
      parts.pop_back();
      parts.back().stmts.push_back(closed);
    }
    return tir::MakeSeq(workspace(), parts.front().stmts);
  }

  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    tir::Buffer copy = *decl->buffer;
    copy.shape = VisitAll(copy.shape);
    copy.strides = VisitAll(copy.strides);
    if (copy.elem_offset) copy.elem_offset = VisitExpr(copy.elem_offset);
    const bool same = copy.shape == decl->buffer->shape && copy.strides == decl->buffer->strides &&
                      copy.elem_offset == decl->buffer->elem_offset;
    if (same) return StmtExprMutator::VisitDeclBuffer(decl);
    copy.id = workspace().NextVarId();
    const auto* buffer = workspace().New<tir::Buffer>(copy);
    Remap(decl->buffer, buffer);
    return workspace().New<tir::DeclBuffer>(buffer, VisitStmt(decl->body));
  }
  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override { return region; }
  const tir::MatchBufferRegion* VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override { return match; }
  const Attr* VisitAttr(const Attr* attr) override { return attr; }

 private:
  List<const PrimExpr*> VisitAll(List<const PrimExpr*> exprs) {
    return MapList(exprs, workspace(), [this](const PrimExpr* expr) { return VisitExpr(expr); });
  }

  struct Binding {
    size_t shared;
    const tir::Var* var;
    const PrimExpr* value;
  };

  // Those that are planned before the statement. If it occurs several times in the function, the variables are others
  // each time.
  std::vector<Binding> Bind(const tir::Stmt* stmt) {
    std::vector<Binding> bindings;
    const auto* planned = at_.Find(stmt);
    if (!planned) return bindings;
    for (const size_t i : *planned) {
      // It may contain expressions that are bound already.
      const PrimExpr* value = StmtExprMutator::VisitExpr(plan_.shared[i].expr);
      const std::string_view name = workspace().arena().CopyString(fmt::format("cse_v{}", i + 1));
      bindings.push_back({i, workspace().NewPrimVar(name, value->dtype), value});
      vars_[i] = bindings.back().var;
    }
    return bindings;
  }

  const tir::Stmt* Close(const std::vector<Binding>& bindings, const tir::Stmt* body) {
    for (auto binding = bindings.rbegin(); binding != bindings.rend(); ++binding) {
      body = workspace().New<tir::LetStmt>(binding->var, binding->value, body);
      vars_[binding->shared] = nullptr;
    }
    return body;
  }

  const SubexprPlan& plan_;
  std::vector<const tir::Var*> vars_;  // of those that are bound here, by their positions in the plan
  LookupMap<const tir::Stmt*, std::vector<size_t>> at_;
};

}  // namespace

Pass CreateCommonSubexprElim(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    const SubexprPlan plan = PlanSubexprs(func.body);
    return plan.shared.empty() ? func.body : SharedSubexprBinder(plan, context.workspace()).VisitStmt(func.body);
  });
}

}  // namespace iropt
