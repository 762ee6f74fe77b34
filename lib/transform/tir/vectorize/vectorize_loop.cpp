// tir.VectorizeLoop: replaces vectorized loops by operations on vectors.
//
//   for i in T.vectorized(4):
//       B[i] = A[i] + T.float32(1)        -->    B[0:4] = A[0:4] + T.Broadcast(T.float32(1), 4)
//
// Statements that cannot be vectorized, such as conditionals that depend on the variable, run in serial loops. Of
// nested vectorized loops the innermost one is vectorized, and the others become serial. The extent is a constant, or a
// multiple of T.vscale() for scalable vectors. With enable_vectorize=false all vectorized loops become serial.
// O(nodes), plus the serial loops.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "configs/tir.enable_buffer_level_predication.h"
#include "configs/tir.vectorize_all_functions.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/VectorizeLoop.h"
#include "transform/tir/util/prim_func_pass.h"
#include "transform/tir/vectorize/vectorizer.h"

namespace iropt {

namespace {

// Returns whether the target has scalable vectors; nothing if it is not known.
std::optional<bool> HasScalableVectors(const Attr* target) {
  const auto* attr = As<TargetAttr>(target);
  if (!attr) return std::nullopt;
  const auto* features = As<ListAttr>(attr->config->Find("mattr"));
  return features && std::ranges::any_of(features->values, [](const Attr* feature) {
           const auto* name = As<StrAttr>(feature);
           return name && name->value.starts_with("+sve");
         });
}

bool HasVectorizedLoop(const tir::Stmt& body) {
  bool found = false;
  tir::PostOrderVisit(&body, [&](const Node* node) {
    const auto* loop = As<tir::For>(node);
    found |= loop && loop->for_kind == tir::ForKind::kVectorized;
  });
  return found;
}

// The visited loop, which was vectorized.
const tir::Stmt* MakeSerial(const tir::Stmt* visited, Workspace& workspace) {
  auto* serial = workspace.New<tir::For>(*To<tir::For>(visited));
  serial->for_kind = tir::ForKind::kSerial;
  serial->annotations = DictAttr::Empty();
  return serial;
}

std::optional<bool> PredicateOption(const OptionValue& value) {
  if (const bool* set = value.as_bool()) return *set;
  if (const int64_t* set = value.as_int()) return *set != 0;
  return std::nullopt;
}

class LoopVectorizer : public tir::StmtExprMutator {
 public:
  LoopVectorizer(const Attr* target, const PassContext& context, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        predicate_accesses_(PredicateOption(context.Config(config::tir::enable_buffer_level_predication))),
        all_functions_(context.Config(config::tir::vectorize_all_functions)),
        scalable_(HasScalableVectors(target)) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (loop->for_kind != tir::ForKind::kVectorized) return StmtExprMutator::VisitFor(loop);
    if (HasVectorizedLoop(*loop->body)) return MakeSerial(StmtExprMutator::VisitFor(loop), workspace());
    const bool is_single = arith::IsInt(loop->extent, 1);
    const DataType vector = arith::VectorDType(loop->loop_var->dtype, loop->extent);
    const bool is_valid = is_single || (vector.is_scalable() ? scalable_.value_or(true) : vector.lanes > 1);
    if (!is_valid || loop->step) {
      diagnostics_.Error(Location(*loop), "pass-failed",
                         is_valid ? "a vectorized loop must run in steps of 1"
                                  : "the extent of a vectorized loop must be a constant, or a multiple of T.vscale() "
                                    "if the target has scalable vectors");
      return loop;
    }
    if (is_single) {
      return VisitStmt(tir::Substitute(loop->body, {{loop->loop_var, loop->min}}, workspace()));
    }
    const tir::Var* lane = loop->loop_var;
    const tir::Stmt* body = loop->body;
    if (!arith::IsInt(loop->min, 0)) {
      lane = workspace().NewPrimVar(lane->name, lane->dtype);
      body =
          tir::Substitute(body, {{loop->loop_var, arith::PrimBuilder(workspace()).Add(loop->min, lane)}}, workspace());
    }
    const Vectorizer::Options options{.predicate_accesses = predicate_accesses_.value_or(scalable_.value_or(false)),
                                      .all_functions = all_functions_};
    Vectorizer vectorizer(lane, loop->extent, options, workspace(), diagnostics_);
    return vectorizer.VisitStmt(body);
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != attr::kTarget) return StmtExprMutator::VisitAttrStmt(stmt);
    const std::optional<bool> outer = scalable_;
    scalable_ = HasScalableVectors(As<Attr>(stmt->node));
    const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
    scalable_ = outer;
    return visited;
  }

 private:
  DiagnosticEngine& diagnostics_;
  const std::optional<bool> predicate_accesses_;  // nothing: by target
  const bool all_functions_;
  std::optional<bool> scalable_;
};

class VectorizeSkipper : public tir::StmtExprMutator {
 public:
  explicit VectorizeSkipper(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    return loop->for_kind == tir::ForKind::kVectorized ? MakeSerial(visited, workspace()) : visited;
  }
};

}  // namespace

Pass CreateVectorizeLoop(const PassOptions& options) {
  return CreateBodyPass(options.info(), {},
                        [enable = *pass_options::VectorizeLoop(options).enable_vectorize](
                            const PrimFunc& func, FunctionPassContext& context) {
                          Workspace& workspace = context.workspace();
                          if (!enable) return VectorizeSkipper(workspace).VisitStmt(func.body);
                          const Attr* own = func.attrs->Find(attr::kTarget);
                          return LoopVectorizer(own ? own : context.context().target, context.context(), workspace,
                                                context.diagnostics())
                              .VisitStmt(func.body);
                        });
}

}  // namespace iropt
