// tir.UnrollLoop: replaces loops by their iterations, one after the other.
//
//   for i in T.unroll(2):                             B[0] = A[0]
//       B[i] = A[i]                          -->      B[1] = A[1]
//
// Loops of kind T.unroll are unrolled, and serial ones within the limits of the configuration tir.UnrollLoop:
// innermost loops of at most auto_max_step stores in all iterations, or of at most auto_max_extent iterations. The
// pragmas pragma_auto_unroll_max_step and pragma_unroll_explicit change the limits for the code inside. Loops that may
// end early, by T.break_loop or T.continue_loop, become serial. O(size of the result); more than 4 million statements
// in a function are refused.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "configs/tir.UnrollLoop.h"
#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

constexpr int64_t kMaxStatements = int64_t{1} << 22;

class LoopUnroller : public tir::StmtExprMutator {
 public:
  LoopUnroller(config::tir::UnrollLoop limits, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        limits_(limits),
        diagnostics_(diagnostics),
        copier_(workspace),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

 protected:
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const int64_t* value = arith::AsInt(stmt->value);
    const bool is_pragma =
        stmt->attr_key == attr::kPragmaAutoUnrollMaxStep || stmt->attr_key == attr::kPragmaUnrollExplicit;
    if (!value || !is_pragma || !AllowRewrite("applied-pragma", *stmt)) return StmtExprMutator::VisitAttrStmt(stmt);
    const config::tir::UnrollLoop outer = limits_;
    if (stmt->attr_key == attr::kPragmaUnrollExplicit) {
      limits_.explicit_unroll = *value != 0;
    } else {
      limits_.auto_max_step = *value;
    }
    const tir::Stmt* body = VisitStmt(stmt->body);
    limits_ = outer;
    return body;
  }

  // Afterwards, because the numbers of the body decide.
  const tir::Stmt* VisitFor(const tir::For* stmt) override {
    const auto* loop = To<tir::For>(StmtExprMutator::VisitFor(stmt));
    const int64_t extent = ExtentOf(*loop);
    const bool is_unrolled = IsUnrolled(*loop, extent);
    if (is_unrolled) {
      steps_ = std::min(steps_ * std::max<int64_t>(extent, 0), kMaxStatements + 1);
      ++unrolled_depth_;
    } else {
      ++loop_depth_;
    }
    const bool runs_once = extent >= 0 && extent <= limits_.auto_max_extent && limits_.auto_max_extent == 1;
    if ((is_unrolled || runs_once) && HasLoopJumps(loop->body)) return Serial(loop);
    if ((is_unrolled && limits_.explicit_unroll) || runs_once)
      return AllowRewrite("unrolled-loop", *stmt) ? Unroll(*loop, extent) : loop;
    if (!is_unrolled || loop->for_kind == tir::ForKind::kUnrolled) return loop;
    if (!AllowRewrite("marked-loop", *stmt)) return loop;
    auto* marked = workspace().New<tir::For>(*loop);
    marked->for_kind = tir::ForKind::kUnrolled;
    return marked;
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    MarkLocal(*load->buffer, load->indices);
    return load;
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    ++steps_;
    MarkLocal(*store->buffer, store->indices);
    return StmtExprMutator::VisitBufferStore(store);
  }
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    ++steps_;
    return StmtExprMutator::VisitEvaluate(stmt);
  }

  // Each statement of a sequence counts by itself; the greatest depth counts for the whole.
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<const tir::Stmt*> stmts;
    for (const tir::Stmt* stmt : seq->seq) {
      const int64_t steps = std::exchange(steps_, 0);
      const int64_t unrolled_depth = std::exchange(unrolled_depth_, 0);
      const int64_t loop_depth = std::exchange(loop_depth_, 0);
      stmts.push_back(VisitStmt(stmt));
      steps_ += steps;
      unrolled_depth_ = std::max(unrolled_depth_, unrolled_depth);
      loop_depth_ = std::max(loop_depth_, loop_depth);
    }
    return std::ranges::equal(stmts, seq->seq) ? seq : MakeFlatSeq(workspace(), stmts);
  }

 private:
  // The extent if it is constant, otherwise -1.
  int64_t ExtentOf(const tir::For& loop) {
    const int64_t* extent = arith::AsInt(analyzer_.Simplify(loop.extent));
    const bool is_constant = extent && !loop.step && *extent <= std::numeric_limits<int32_t>::max();
    return is_constant ? *extent : -1;
  }

  bool IsUnrolled(const tir::For& loop, int64_t extent) {
    if (loop.for_kind == tir::ForKind::kUnrolled) {
      if (extent < 0) {
        diagnostics_.Error(Location(loop), "pass-failed", "a loop whose extent is not constant cannot be unrolled");
        return false;
      }
      return true;
    }
    if (limits_.unroll_local_access && extent > 0 && local_vars_.contains(loop.loop_var)) return true;
    return loop.for_kind == tir::ForKind::kSerial && extent >= 0 && loop_depth_ == 0 &&
           unrolled_depth_ <= limits_.auto_max_depth &&
           (extent * steps_ <= limits_.auto_max_step || extent <= limits_.auto_max_extent);
  }

  const tir::For* Serial(const tir::For* loop) {
    if (loop->for_kind == tir::ForKind::kSerial) return loop;
    auto* serial = workspace().New<tir::For>(*loop);
    serial->for_kind = tir::ForKind::kSerial;
    return serial;
  }

  const tir::Stmt* Unroll(const tir::For& loop, int64_t extent) {
    if (extent <= 0) return workspace().New<tir::Evaluate>(analyzer_.make().Int(0, DataType::Int(32)));
    num_made_ = std::min(num_made_ + std::max(steps_, extent), kMaxStatements + 1);
    if (num_made_ > kMaxStatements) {
      diagnostics_.Error(Location(loop), "budget",
                         fmt::format("unrolling this loop makes more than {} statements", kMaxStatements));
      return &loop;
    }
    const arith::PrimBuilder& make = analyzer_.make();
    std::vector<const tir::Stmt*> iterations;
    for (int64_t i = 0; i < extent; ++i) {
      const PrimExpr* value = make.Add(loop.min, make.Const(i, loop.loop_var->dtype));
      iterations.push_back(
          copier_.Copy(loop.body, {{loop.loop_var, value}}, i == 0 ? OwnDefinitions::kKeep : OwnDefinitions::kRenew));
    }
    return MakeFlatSeq(workspace(), iterations);
  }

  // Memory of one thread becomes registers if all indices are constant.
  void MarkLocal(const tir::Buffer& buffer, List<const PrimExpr*> indices) {
    if (!limits_.unroll_local_access) return;
    const StorageRank rank = StorageScope::Of(buffer.scope()).rank;
    if (rank != StorageRank::kLocal && rank != StorageRank::kWarp) return;
    for (const PrimExpr* index : indices) tir::ForEachVar(index, [&](const tir::Var* var) { local_vars_.insert(var); });
  }

  config::tir::UnrollLoop limits_;
  DiagnosticEngine& diagnostics_;
  StmtCopier copier_;
  arith::Analyzer analyzer_;
  int64_t num_made_ = 0;  // statements, in all loops
  // Of the statements that were visited in the current sequence.
  int64_t loop_depth_ = 0;
  int64_t unrolled_depth_ = 0;
  int64_t steps_ = 0;
  LookupSet<const tir::Var*> local_vars_;
};

}  // namespace

Pass CreateUnrollLoop(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    return LoopUnroller(config::tir::UnrollLoop(context.context()), context.workspace(), context.diagnostics())
        .VisitStmt(func.body);
  });
}

}  // namespace iropt
