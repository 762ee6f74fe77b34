// tir.InferFragment: states the shapes and layouts of the matrices of tensor cores where they are allocated.
//
//   A = T.allocate([256], "float16", "wmma.matrix_a")                A = T.allocate([256], "float16", "wmma.matrix_a")
//   T.tvm_load_matrix_sync(A, 16, 16, 16, 0, ..., "row_major")  -->  T.attr(A, "fragment_layout", "row_major")
//                                                                    T.attr(A, "fragment_shape", "16, 16, 16")
//
// The attributes stand in the allocation, which defines what they are attached to; TVM has them around it.
// They are those of T.tvm_load_matrix_sync, T.tvm_store_matrix_sync and T.tvm_fill_fragment, which must agree; a
// fragment that is filled first is in row-major order, and accumulators that are loaded or stored first have no layout.
// The operands of T.tvm_mma_sync and T.tvm_bmma_sync must have one shape. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

struct FragmentInfo {
  std::array<int64_t, 3> shape = {};
  std::string_view layout = {};  // empty if it does not matter
};

// By data pointers.
using Fragments = LookupMap<const tir::Var*, FragmentInfo>;

std::string_view PointerScope(const tir::Var& var) { return var.pointer ? var.pointer->scope : ""; }

class FragmentCollector : public tir::StmtExprVisitor {
 public:
  explicit FragmentCollector(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}
  const Fragments& fragments() const { return fragments_; }

 protected:
  void VisitCall(const tir::Call* call) override {
    StmtExprVisitor::VisitCall(call);
    const bool fills = IsOp(call->op, op::kTirTvmFillFragment);
    const bool copies = IsOp(call->op, op::kTirTvmLoadMatrixSync) || IsOp(call->op, op::kTirTvmStoreMatrixSync);
    if (fills || copies) Add(*call, copies);
  }

 private:
  void Add(const tir::Call& call, bool copies) {
    const size_t num_args = copies ? 8 : 6;
    const auto* fragment = call.args.size() == num_args ? As<tir::Var>(call.args[0]) : nullptr;
    const auto* layout = copies && fragment ? As<tir::StringImm>(call.args[7]) : nullptr;
    FragmentInfo info;
    bool is_constant = fragment && (layout || !copies);
    for (size_t i = 0; is_constant && i < info.shape.size(); ++i) {
      const int64_t* size = arith::AsInt(call.args[i + 1]);
      is_constant = size != nullptr;
      if (size) info.shape[i] = *size;
    }
    if (!is_constant) return Refuse(call, "needs a fragment, and a constant shape and layout");
    const std::string_view scope = PointerScope(*fragment);
    const bool is_operand = scope == "wmma.matrix_a" || scope == "wmma.matrix_b";
    if (copies && !is_operand && scope != "wmma.accumulator") {
      return Refuse(call, fmt::format("needs a fragment, and '{}' is in {}", fragment->name, scope));
    }
    info.layout = !copies ? "row_major" : is_operand ? layout->value : "";
    const auto [known, is_new] = fragments_.try_emplace(fragment, info);
    if (is_new) return;
    if (known.shape != info.shape) {
      Refuse(call, fmt::format("uses the fragment '{}' with another shape than before", fragment->name));
    } else if (copies && is_operand && known.layout != info.layout) {
      Refuse(call, fmt::format("uses the fragment '{}' with another layout than before", fragment->name));
    }
  }

  void Refuse(const tir::Call& call, std::string_view why) {
    diagnostics_.Error(Location(call), "pass-failed", fmt::format("{} {}", To<Op>(call.op)->info->script, why));
  }

  DiagnosticEngine& diagnostics_;
  Fragments fragments_;
};

class FragmentShapeChecker : public tir::StmtExprVisitor {
 public:
  FragmentShapeChecker(const Fragments& fragments, DiagnosticEngine& diagnostics)
      : fragments_(fragments), diagnostics_(diagnostics) {}

 protected:
  void VisitCall(const tir::Call* call) override {
    StmtExprVisitor::VisitCall(call);
    const bool multiplies = IsOp(call->op, op::kTirTvmMmaSync) || IsOp(call->op, op::kTirTvmBmmaSync);
    if (!multiplies || call->args.size() != 8) return;
    const FragmentInfo* result = InfoOf(*call, 0);
    for (const size_t i : {2, 4, 6}) {
      const FragmentInfo* operand = result ? InfoOf(*call, i) : nullptr;
      if (!operand) return;
      if (operand->shape != result->shape) {
        return Refuse(*call, "the fragments that are multiplied have different shapes");
      }
    }
  }

 private:
  const FragmentInfo* InfoOf(const tir::Call& call, size_t i) {
    const auto* var = As<tir::Var>(call.args[i]);
    const auto* found = var ? fragments_.Find(var) : nullptr;
    if (found) return found;
    Refuse(call, fmt::format("the fragment '{}' must be filled or loaded before it is used", var ? var->name : "?"));
    return nullptr;
  }
  void Refuse(const tir::Call& call, std::string message) {
    diagnostics_.Error(Location(call), "pass-failed", std::move(message));
  }

  const Fragments& fragments_;
  DiagnosticEngine& diagnostics_;
};

class FragmentAnnotator : public tir::StmtExprMutator {
 public:
  FragmentAnnotator(const Fragments& fragments, Workspace& workspace)
      : StmtExprMutator(workspace), fragments_(fragments) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocate(allocate);
    const auto* found = fragments_.Find(allocate->buffer_var);
    if (!found) return visited;
    const FragmentInfo& info = *found;
    auto* copy = workspace().New<tir::Allocate>(*To<tir::Allocate>(visited));
    const std::string shape = fmt::format("{}, {}, {}", info.shape[0], info.shape[1], info.shape[2]);
    copy->body = Annotate(*allocate, "fragment_shape", workspace().arena().CopyString(shape), copy->body);
    if (!info.layout.empty()) copy->body = Annotate(*allocate, "fragment_layout", info.layout, copy->body);
    return copy;
  }

 private:
  const tir::Stmt* Annotate(const tir::Allocate& allocate, std::string_view key, std::string_view value,
                            const tir::Stmt* body) {
    return workspace().New<tir::AttrStmt>(allocate.buffer_var, key, workspace().New<tir::StringImm>(value), body);
  }

  const Fragments& fragments_;
};

const PrimFunc* InferFragments(const PrimFunc* func, Workspace& workspace, DiagnosticEngine& diagnostics) {
  FragmentCollector collector(diagnostics);
  collector.VisitStmt(func->body);
  FragmentShapeChecker(collector.fragments(), diagnostics).VisitStmt(func->body);
  FragmentAnnotator annotator(collector.fragments(), workspace);
  return WithBody(func, annotator.VisitStmt(func->body), workspace);
}

}  // namespace

Pass CreateInferFragment(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    return Result<const PrimFunc*>(InferFragments(func, context.workspace(), context.diagnostics()));
  });
}

}  // namespace iropt
