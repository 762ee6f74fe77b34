// tir.analysis.OOBChecker: refuses accesses outside of the shapes of buffers.
//
//   def main(A: T.Buffer((8,), "float32")):
//       for i in range(10):
//           A[i] = T.float32(0)               # error: [0, 9] is outside of [0, 8)
//
// An access is refused if the interval of its index provably leaves the shape; what may be outside, but is not known to
// be, is not. Indices of vectors count by their elements. Nothing changes. O(nodes), plus the simplification of the
// indices.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include "iropt/arith/int_set.h"
#include "iropt/arith/mutator.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class OutOfBoundsFinder : public arith::StmtExprMutatorWithAnalyzer {
 public:
  OutOfBoundsFinder(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutatorWithAnalyzer(func, workspace, {.mutator = {}, .resolve_conditions = false}),
        diagnostics_(diagnostics) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const ScopedDomain domain(*this, loop->loop_var, loop->min, loop->extent);
    return StmtExprMutatorWithAnalyzer::VisitFor(loop);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::LaunchAxisOf(*stmt);
    if (!axis) return StmtExprMutatorWithAnalyzer::VisitAttrStmt(stmt);
    const ScopedDomain domain(*this, axis->var, make().Const(0, axis->var->dtype), stmt->value);
    return StmtExprMutatorWithAnalyzer::VisitAttrStmt(stmt);
  }
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    std::vector<std::unique_ptr<ScopedDomain>> domains;
    for (const tir::IterVar* axis : realize->block->iter_vars) {
      if (axis->dom)
        domains.push_back(std::make_unique<ScopedDomain>(*this, axis->var, axis->dom->min, axis->dom->extent));
    }
    return StmtExprMutatorWithAnalyzer::VisitBlockRealize(realize);
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    Check(*store->buffer, store->indices, *store);
    return StmtExprMutatorWithAnalyzer::VisitBufferStore(store);
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    Check(*load->buffer, load->indices, *load);
    return StmtExprMutatorWithAnalyzer::VisitBufferLoad(load);
  }

 private:
  // The values of a variable, as long as it exists.
  class ScopedDomain {
   public:
    ScopedDomain(OutOfBoundsFinder& finder, const tir::Var* var, const PrimExpr* min, const PrimExpr* extent)
        : domains_(finder.domains_), var_(var) {
      domains_.insert_or_assign(var, arith::IntervalSet::FromRange(min, extent, finder.make()));
    }
    ~ScopedDomain() { domains_.erase(var_); }
    ScopedDomain(const ScopedDomain&) = delete;
    ScopedDomain& operator=(const ScopedDomain&) = delete;

   private:
    arith::VarDomains& domains_;
    const tir::Var* var_;
  };

  void Check(const tir::Buffer& buffer, List<const PrimExpr*> indices, const Node& at) {
    for (size_t i = 0; i < indices.size() && i < buffer.shape.size(); ++i) {
      const arith::IntervalSet index = arith::EvalSet(indices[i], domains_, analyzer());
      const arith::IntervalSet size = arith::EvalSet(buffer.shape[i], domains_, analyzer());
      const bool is_below = index.min() && Proves(NodeKind::kLT, index.min(), make().Const(0, index.min()->dtype));
      const bool is_above = index.max() && size.min() && Proves(NodeKind::kGE, index.max(), size.min());
      if (!is_below && !is_above) continue;
      diagnostics_.Error(
          Location(at), "pass-failed",
          fmt::format("the index {} of dimension {} of '{}', in [{}, {}], is outside of [0, {})", Text(indices[i]), i,
                      buffer.name, Text(index.min()), Text(index.max()), Text(size.min())));
    }
  }
  bool Proves(NodeKind kind, const PrimExpr* a, const PrimExpr* b) {
    return a->dtype.lanes == 1 && b->dtype.lanes == 1 && analyzer().CanProve(make().Binary(kind, a, b));
  }
  std::string Text(const PrimExpr* expr) { return expr ? DimToString(analyzer().Simplify(expr)) : "?"; }

  DiagnosticEngine& diagnostics_;
  arith::VarDomains domains_;
};

}  // namespace

Pass CreateOOBChecker(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    OutOfBoundsFinder(*func, context.workspace(), context.diagnostics()).VisitStmt(func->body);
    return Result<const PrimFunc*>(func);
  });
}

}  // namespace iropt
