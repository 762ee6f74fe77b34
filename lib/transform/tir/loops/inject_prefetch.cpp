// tir.InjectPrefetch: prefetches what later iterations of a loop load, where the scheduler has asked for it.
//
//   for i in range(16):                               for i in range(16):
//       with T.attr(A, "prefetch_scope", 2):              T.prefetch(A, [T.Range(i + 2, i + 4), T.Range(0, 8)])
//           for j in range(8):                   -->      for j in range(8):
//               B[i, j] = A[i, j] + A[i + 1, j]               B[i, j] = A[i, j] + A[i + 1, j]
//
// The attribute stands for its body: the bounds are those of the loads in it, moved by its value along the innermost
// loop around it; twice as far, as in TVM, in dimensions of which a single index is loaded. Of a vectorized loop, all
// iterations count. Where the bounds cannot be found, the attribute is removed and a remark says so. Functions that are
// not marked with from_legacy_te_schedule stay. O(nodes) for each attribute, plus the simplification of the bounds.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "transform/tir/buffers/loaded_region.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

using arith::IntervalSet;

class PrefetchInjector : public tir::StmtExprMutator {
 public:
  explicit PrefetchInjector(FunctionPassContext& context)
      : StmtExprMutator(context.workspace()), diagnostics_(context.diagnostics()), make_(context.workspace()) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != attr::kPrefetchScope) return StmtExprMutator::VisitAttrStmt(stmt);
    const tir::Stmt* body = VisitStmt(stmt->body);
    const auto* buffer = As<tir::Buffer>(stmt->node);
    if (!buffer || loops_.empty()) {
      diagnostics_.Error(Location(*stmt), "pass-failed",
                         buffer ? "T.attr(..., \"prefetch_scope\", ...) must be in a loop"
                                : "T.attr(..., \"prefetch_scope\", ...) must be of a buffer");
      return stmt;
    }
    const auto bounds = BoundsAfter(stmt->value, *buffer, body);
    if (!bounds) {
      if (WantsRemarks()) {
        RemarkMissed(diagnostics_, "not-prefetched", Location(*stmt),
                     fmt::format("nothing is prefetched: the loads from '{}' have no bounds", buffer->name));
      }
      return body;
    }
    auto* prefetch = workspace().New<tir::Prefetch>(buffer, workspace().Copy(*bounds));
    prefetch->set_span(stmt->span());
    const tir::Stmt* both[] = {prefetch, body};
    return MakeFlatSeq(workspace(), both);
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const tir::Var* var = loop->loop_var;
    const bool is_vectorized = loop->for_kind == tir::ForKind::kVectorized;
    if (is_vectorized) {
      const PrimExpr* end = make_.Add(loop->min, loop->extent);
      lanes_.insert_or_assign(var, IntervalSet::Interval(loop->min, make_.Sub(end, make_.Const(1, end->dtype))));
    }
    loops_.push_back(var);
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    loops_.pop_back();
    if (is_vectorized) lanes_.erase(var);
    return visited;
  }

 private:
  // The bounds of the loads, `distance` iterations later.
  std::optional<std::vector<const tir::Range*>> BoundsAfter(const PrimExpr* distance, const tir::Buffer& buffer,
                                                            const tir::Stmt* body) {
    const tir::Var* var = loops_.back();
    if (distance->dtype != var->dtype) distance = make_.Cast(var->dtype, distance);
    arith::VarDomains lanes = lanes_;
    lanes.erase(var);
    arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
    std::vector<const tir::Range*> bounds;
    for (const IntervalSet& loaded : LoadedRegion(body, &buffer, analyzer, workspace())) {
      if (!loaded.is_bounded()) return std::nullopt;
      const tir::Range now = arith::CoverRange(loaded, {loaded.min(), loaded.min()}, analyzer);
      // TVM replaces the variable by itself and the distance as often as it relaxes variables, and once more in the
      // index of a single element.
      const auto times = static_cast<int64_t>(lanes.size() + (arith::IsInt(now.extent, 1) ? 2 : 1));
      const PrimExpr* moved = make_.Add(var, make_.Mul(distance, make_.Const(times, var->dtype)));
      const tir::Range* later = tir::Substitute(workspace().New<tir::Range>(now), {{var, moved}}, workspace());
      const IntervalSet set = arith::EvalSet(*later, lanes, analyzer);
      if (!set.is_bounded()) return std::nullopt;
      bounds.push_back(workspace().New<tir::Range>(arith::CoverRange(set, {set.min(), set.min()}, analyzer)));
    }
    return bounds;
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  std::vector<const tir::Var*> loops_;  // around the current statement
  arith::VarDomains lanes_;             // of the vectorized ones
};

}  // namespace

Pass CreateInjectPrefetch(const PassOptions& options) {
  return CreateBodyPass(options.info(), kOnlyLegacy, [](const PrimFunc& func, FunctionPassContext& context) {
    return PrefetchInjector(context).VisitStmt(func.body);
  });
}

}  // namespace iropt
