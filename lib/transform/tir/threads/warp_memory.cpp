#include "transform/tir/threads/warp_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "iropt/arith/linear_equation.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

std::span<const size_t> WarpPointerOperands(const tir::Call& call) {
  static constexpr std::array<size_t, 3> kMma = {6, 8, 10};
  static constexpr std::array<size_t, 1> kFourth = {3};
  static constexpr std::array<size_t, 1> kSecond = {1};
  std::span<const size_t> operands;
  if (IsOp(call.op, op::kTirPtxMma)) operands = kMma;
  if (IsOp(call.op, op::kTirPtxLdmatrix) || IsOp(call.op, op::kTirMmaStore)) operands = kFourth;
  if (IsOp(call.op, op::kTirMmaFill)) operands = kSecond;
  const bool is_complete = operands.empty() || operands.back() + 1 < call.args.size();
  return is_complete ? operands : std::span<const size_t>();
}

namespace {

class WarpIndexFinder : public tir::StmtExprVisitor {
 public:
  const tir::AttrStmt* axis = nullptr;
  bool is_ambiguous = false;

 protected:
  void VisitExpr(const PrimExpr*) override {}
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* iter = tir::LaunchAxisOf(*stmt);
    if (iter && iter->thread_tag == "threadIdx.x") {
      is_ambiguous = is_ambiguous || (axis && To<tir::IterVar>(axis->node)->var != iter->var);
      if (!axis) axis = stmt;
    }
    StmtExprVisitor::VisitAttrStmt(stmt);
  }
};

class WarpUseChecker : public tir::StmtExprVisitor {
 public:
  WarpUseChecker(const tir::Var* pointer, const tir::Var* warp_index, arith::Analyzer& analyzer)
      : pointer_(pointer), warp_index_(warp_index), analyzer_(analyzer) {}

  int64_t coefficient() const { return coefficient_; }
  // The first use that cannot be lowered, and why not.
  const Node* refused() const { return refused_; }
  const std::string& why() const { return why_; }

 protected:
  void VisitCall(const tir::Call* call) override {
    const std::span<const size_t> pointers = WarpPointerOperands(*call);
    for (size_t i = 0; i < call->args.size(); ++i) {
      const bool is_pointer = std::ranges::find(pointers, i) != pointers.end() && call->args[i] == pointer_;
      if (!is_pointer) {
        VisitExpr(call->args[i]);
      } else if (IsOp(call->op, op::kTirPtxLdmatrix)) {
        AddStore(call->args[i + 1], *call);
      } else if (IsOp(call->op, op::kTirMmaFill)) {
        const int64_t* size = arith::AsInt(call->args[0]);
        size ? SetCoefficient(*size, *call) : Refuse(*call, "the size of what T.mma_fill fills is not constant");
      }
    }
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    if (load->buffer->data == pointer_ && load->indices.size() != 1) Refuse(*load, "the memory is not flat");
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    if (store->buffer->data != pointer_) return;
    if (store->indices.size() != 1) return Refuse(*store, "the memory is not flat");
    const PrimExpr* index = store->indices[0];
    if (index->dtype.lanes != 1) {
      const auto* ramp = As<tir::Ramp>(index);
      if (!ramp || !arith::IsInt(ramp->stride, 1)) {
        return Refuse(*store, "a vector is stored that is not next to each other");
      }
      index = ramp->base;
    }
    AddStore(index, *store);
  }
  void VisitVar(const tir::Var* var) override {
    if (var == pointer_) Refuse(*var, "its address is used");
  }

 private:
  void AddStore(const PrimExpr* index, const Node& at) {
    const auto linear = arith::DetectLinearEquation(index, std::span(&warp_index_, 1), analyzer_);
    if (!linear) return Refuse(at, "the position of a store is not linear in the thread");
    const int64_t* coefficient = arith::AsInt(analyzer_.CanonicalSimplify(linear->front()));
    if (!coefficient || *coefficient <= 0) {
      return Refuse(at, "the coefficient of the thread in the position of a store is not a positive constant");
    }
    SetCoefficient(*coefficient, at);
  }
  void SetCoefficient(int64_t coefficient, const Node& at) {
    if (coefficient_ != 0 && coefficient_ != coefficient) {
      return Refuse(at, "stores have different coefficients of the thread in their positions");
    }
    coefficient_ = coefficient;
  }
  void Refuse(const Node& at, std::string why) {
    if (refused_) return;
    refused_ = &at;
    why_ = std::move(why);
  }

  const tir::Var* pointer_;
  const tir::Var* warp_index_;
  arith::Analyzer& analyzer_;
  int64_t coefficient_ = 0;
  const Node* refused_ = nullptr;
  std::string why_;
};

}  // namespace

std::optional<WarpLayout> FindWarpLayout(const tir::Allocate& allocate, int64_t warp_size, arith::Analyzer& analyzer,
                                         DiagnosticEngine& diagnostics) {
  const auto refuse = [&](const Node& at, std::string_view why) {
    diagnostics.Error(Location(at), "pass-failed",
                      fmt::format("the warp memory '{}' cannot be lowered: {}", allocate.buffer_var->name, why));
    return std::nullopt;
  };
  int64_t size = allocate.dtype.lanes;
  for (const PrimExpr* extent : allocate.extents) {
    const int64_t* number = arith::AsInt(extent);
    if (!number || *number <= 0 || __builtin_mul_overflow(size, *number, &size)) {
      return refuse(allocate, "its size is not constant");
    }
  }
  WarpIndexFinder threads;
  threads.VisitStmt(allocate.body);
  if (!threads.axis) return refuse(allocate, "no threadIdx.x is launched in it");
  if (threads.is_ambiguous) return refuse(allocate, "several axes threadIdx.x are launched in it");
  const int64_t* width = arith::AsInt(threads.axis->value);
  if (!width || *width <= 0 || warp_size % *width != 0) {
    return refuse(*threads.axis, fmt::format("the extent of threadIdx.x does not divide the warp of {}", warp_size));
  }
  const tir::Var* warp_index = To<tir::IterVar>(threads.axis->node)->var;
  WarpUseChecker uses(allocate.buffer_var, warp_index, analyzer);
  uses.VisitStmt(allocate.body);
  if (uses.refused()) return refuse(*uses.refused(), uses.why());
  if (uses.coefficient() == 0) return refuse(allocate, "nothing is stored in it");
  const int64_t factor = *width * uses.coefficient();
  return WarpLayout{warp_index, *width, uses.coefficient(), (size + factor - 1) / factor};
}

std::optional<WarpElement> SplitWarpIndex(const PrimExpr* index, const WarpLayout& layout, arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  if (index->dtype.lanes != 1) {
    const auto* ramp = As<tir::Ramp>(index);
    if (!ramp || !arith::IsInt(ramp->stride, 1)) return std::nullopt;
    std::optional<WarpElement> first = SplitWarpIndex(ramp->base, layout, analyzer);
    if (first) first->local = make.Ramp(first->local, make.Const(1, first->local->dtype), ramp->lanes);
    return first;
  }
  const PrimExpr* m = make.Const(layout.coefficient, index->dtype);
  const PrimExpr* x = analyzer.CanonicalSimplify(make.FloorMod(index, m));
  if (layout.groups == 1) return WarpElement{x, analyzer.CanonicalSimplify(make.FloorDiv(index, m))};
  const PrimExpr* group = make.Const(layout.coefficient * layout.width, index->dtype);
  const PrimExpr* y = make.Add(make.Mul(make.TruncDiv(index, group), m), x);
  const PrimExpr* z = make.FloorDiv(make.FloorMod(index, group), m);
  return WarpElement{analyzer.CanonicalSimplify(y), analyzer.CanonicalSimplify(z)};
}

}  // namespace iropt
