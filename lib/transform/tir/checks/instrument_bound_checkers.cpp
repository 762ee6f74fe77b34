// tir.InstrumentBoundCheckers: checks the indices of stores, and of the loads in them, at run time.
//
//   with T.attr(A.data, "buffer_bound", T.tvm_tuple(8)):       with T.attr(A.data, "buffer_bound", T.tvm_tuple(8)):
//       A[i] = T.float32(0)                                        if 0 <= i and i < 8:
//                                                        -->           A[i] = T.float32(0)
//                                                                  else:
//                                                                      assert 0 <= i and i < 8, "OUT OF THE BOUNDS"
//
// For buffers whose bounds an attribute states, as tir.StorageFlatten makes it, in units of scalars; an allocation of
// such a buffer states them again. A vector is checked by its first and its last element. What follows a T.if_then_else
// in a store is not checked, since that may guard it, and neither is a store with a T.Let. O(nodes), plus the
// simplification of the indices.
//
// Source: TVM 0.18's pass of this name. It checks the element after a vector, and so refuses vectors at the end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

constexpr std::string_view kMessage = "OUT OF THE BOUNDS";

// By data pointers.
using Bounds = LookupMap<const tir::Var*, List<const PrimExpr*>>;

class BoundCollector : public tir::StmtExprVisitor {
 public:
  static Bounds Of(const PrimFunc& func) {
    BoundCollector collector;
    collector.VisitStmt(func.body);
    return std::move(collector.bounds_);
  }

 protected:
  void VisitExpr(const PrimExpr*) override {}
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* var = As<tir::Var>(stmt->node);
    const auto* tuple = As<tir::Call>(stmt->value);
    if (stmt->attr_key == attr::kBufferBound && var && tuple) bounds_[var] = tuple->args;
    StmtExprVisitor::VisitAttrStmt(stmt);
  }

 private:
  Bounds bounds_;
};

// The accesses of one store that can be checked, in the order of evaluation.
class CheckedAccessCollector : public tir::ExprVisitor {
 public:
  struct Access {
    const Node* at;
    List<const PrimExpr*> indices;
    List<const PrimExpr*> bound;
  };

  explicit CheckedAccessCollector(const Bounds& bounds) : bounds_(bounds) {}

  std::vector<Access> Collect(const tir::BufferStore& store) {
    VisitExpr(store.value);
    for (const PrimExpr* index : store.indices) VisitExpr(index);
    Add(store, *store.buffer, store.indices);
    if (has_let_) accesses_.clear();
    return std::move(accesses_);
  }

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Add(*load, *load->buffer, load->indices);
    ExprVisitor::VisitBufferLoad(load);
  }
  void VisitCall(const tir::Call* call) override {
    is_guarded_ |= IsOp(call->op, op::kTirIfThenElse);
    ExprVisitor::VisitCall(call);
  }
  void VisitLet(const tir::Let*) override { has_let_ = true; }

 private:
  static bool IsCheckable(const PrimExpr* index) {
    const auto* ramp = As<tir::Ramp>(index);
    if (!ramp) return index->dtype.is_scalar();
    const int64_t* stride = arith::AsInt(ramp->stride);
    return arith::AsInt(ramp->lanes) && stride && *stride >= 0;
  }

  void Add(const Node& at, const tir::Buffer& buffer, List<const PrimExpr*> indices) {
    const auto* bound = bounds_.Find(buffer.data);
    if (bound && !is_guarded_ && std::ranges::all_of(indices, IsCheckable)) accesses_.push_back({&at, indices, *bound});
  }

  const Bounds& bounds_;
  std::vector<Access> accesses_;
  bool is_guarded_ = false;
  bool has_let_ = false;
};

class BoundChecker : public tir::StmtExprMutator {
 public:
  BoundChecker(Bounds bounds, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        bounds_(std::move(bounds)) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    auto* bound = bounds_.Find(allocate->buffer_var);
    if (bound && std::ranges::all_of(allocate->extents, IsExtent)) {
      std::vector<const PrimExpr*> extents;
      const PrimExpr* lanes = make().Const(allocate->dtype.lanes, DataType::UInt(64));
      for (const PrimExpr* extent : allocate->extents) extents.push_back(make().Mul(lanes, extent));
      *bound = workspace().Copy(extents);
    }
    return StmtExprMutator::VisitAllocate(allocate);
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const PrimExpr* condition = nullptr;
    for (const CheckedAccessCollector::Access& access : CheckedAccessCollector(bounds_).Collect(*store)) {
      if (access.indices.size() != access.bound.size()) {
        diagnostics_.Error(Location(*access.at), "pass-failed",
                           fmt::format("an access with {} indices to memory with {} bounds", access.indices.size(),
                                       access.bound.size()));
        return store;
      }
      for (size_t i = 0; i < access.indices.size(); ++i) {
        const PrimExpr* check = Check(access.indices[i], access.bound[i]);
        condition = condition ? make().Node(NodeKind::kAnd, condition, check) : check;
      }
    }
    if (!condition) return store;
    const auto* nop = workspace().New<tir::Evaluate>(make().Int(1, DataType::Int(32)));
    const auto* failure = workspace().New<tir::AssertStmt>(condition, workspace().New<tir::StringImm>(kMessage), nop);
    return workspace().New<tir::IfThenElse>(condition, store, failure);
  }

 private:
  static bool IsExtent(const PrimExpr* extent) {
    const int64_t* value = arith::AsInt(extent);
    return extent->dtype.is_scalar() && (!value || *value >= 0);
  }
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  const PrimExpr* AsInt64(const PrimExpr* value) {
    return workspace().New<tir::Cast>(DataType::Int(64), analyzer_.Simplify(value));
  }
  const PrimExpr* Check(const PrimExpr* index, const PrimExpr* bound) {
    const PrimExpr* last = index;
    if (const auto* ramp = As<tir::Ramp>(index)) {
      index = ramp->base;
      last = make().Const(*arith::AsInt(ramp->lanes) - 1, index->dtype);
      last = make().Add(index, make().Mul(last, ramp->stride));
    }
    const PrimExpr* not_negative = make().Node(NodeKind::kGE, AsInt64(index), make().Int(0, DataType::Int(64)));
    return make().Node(NodeKind::kAnd, not_negative, make().Node(NodeKind::kLT, AsInt64(last), AsInt64(bound)));
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  Bounds bounds_;
};

}  // namespace

Pass CreateInstrumentBoundCheckers(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    return BoundChecker(BoundCollector::Of(func), context.workspace(), context.diagnostics()).VisitStmt(func.body);
  });
}

}  // namespace iropt
