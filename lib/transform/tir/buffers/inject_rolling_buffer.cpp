// tir.InjectRollingBuffer: keeps what one iteration of a loop has computed for the next ones.
//
//   for i in range(2):                                        T.realize(B[0:6], "")
//       T.realize(B[i * 4:i * 4 + 6], "")                     for i in range(2):
//       T.attr(B, "rolling_buffer_scope", T.bool(True))           for j in range(6):
//       for j in range(6):                              -->           if T.likely(i < 1 or j >= 2):
//           B[j + i * 4] = A[j + i * 4]                                   B[(j + i * 4) % 6] = A[j + i * 4]
//       for j in range(4):                                        for j in range(4):
//           C[j + i * 4] = B[j + i * 4 + 2]                           C[j + i * 4] = B[(j + i * 4 + 2) % 6]
//
// The buffer rolls over the outermost loop whose variable its bounds start with: variables, multiples of them, and
// quotients of those. Elements that two iterations of a loop share are only computed by the first one. Its other
// attributes move in front of the loop, too. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// A dimension of a rolling buffer.
struct RollingAxis {
  const tir::Var* var = nullptr;  // of the loop that it moves with; null: none
  int64_t overlap = 0;            // of the ranges of two iterations
};

struct RollingBuffer {
  size_t axis = 0;  // the one that rolls
  int64_t extent = 0;
  std::vector<RollingAxis> axes;
};

class RollingBufferInjector : public tir::StmtExprMutator {
 public:
  explicit RollingBufferInjector(FunctionPassContext& context)
      : StmtExprMutator(context.workspace()),
        diagnostics_(context.diagnostics()),
        make_(context.workspace()),
        analyzer_(make_, arith::Analyzer::SymVars::kAny) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    loops_.push_back(loop->loop_var);
    const tir::Stmt* result = StmtExprMutator::VisitFor(loop);
    loops_.pop_back();
    const auto* hoisted = hoisted_.Find(loop->loop_var);
    if (!hoisted) return result;
    for (const tir::BufferRealize* realize : *hoisted) {
      tir::BufferRealize copy = *realize;
      copy.body = result;
      result = workspace().New<tir::BufferRealize>(copy);
      for (const tir::AttrStmt* attr : attrs_[realize->buffer]) {
        if (attr->attr_key != attr::kRollingBufferScope)
          result = workspace().New<tir::AttrStmt>(attr->node, attr->attr_key, attr->value, result);
      }
    }
    return result;
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* buffer = As<tir::Buffer>(stmt->node);
    if (!buffer) return StmtExprMutator::VisitAttrStmt(stmt);
    attrs_[buffer].push_back(stmt);
    const int64_t* value = arith::AsInt(stmt->value);
    if (stmt->attr_key == attr::kRollingBufferScope && value && *value != 0 && !rolling_.contains(buffer))
      Roll(*buffer, *stmt);
    const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
    return rolling_.contains(buffer) ? To<tir::AttrStmt>(visited)->body : visited;
  }

  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* realize) override {
    realizes_.try_emplace(realize->buffer, realize);
    const tir::Stmt* visited = StmtExprMutator::VisitBufferRealize(realize);
    return rolling_.contains(realize->buffer) ? To<tir::BufferRealize>(visited)->body : visited;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    const auto* found = rolling_.Find(store->buffer);
    if (!found) return visited;
    const auto* original = To<tir::BufferStore>(visited);
    if (original->predicate) Error(*store, "predicated stores to rolling buffers are not supported");
    tir::BufferStore copy = *original;
    copy.indices = RollIndices(original->indices, *found);
    const tir::Stmt* result = workspace().New<tir::BufferStore>(copy);
    for (size_t i = 0; i < found->axes.size() && i < original->indices.size(); ++i) {
      const RollingAxis& axis = found->axes[i];
      if (axis.var && axis.overlap > 0) result = StoreOnce(result, axis, original->indices[i]);
    }
    return result;
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    const auto* found = rolling_.Find(load->buffer);
    if (!found) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    if (copy.predicate) Error(*load, "predicated loads from rolling buffers are not supported");
    copy.flags = 0;
    copy.indices = RollIndices(copy.indices, *found);
    return workspace().New<tir::BufferLoad>(copy);
  }

 private:
  void Error(const Node& at, const char* message) { diagnostics_.Error(Location(at), "pass-failed", message); }

  // Finds out how the buffer moves with the loops around it.
  void Roll(const tir::Buffer& buffer, const tir::AttrStmt& at) {
    const auto* realize = realizes_.Find(&buffer);
    if (!realize) return Error(at, "a rolling buffer must be realized around its attribute");
    RollingBuffer rolling;
    for (const tir::Range* bound : (*realize)->bounds) {
      const std::optional<RollingAxis> axis = FindAxis(*bound);
      if (!axis) return Error(at, "the bounds of a rolling buffer must be multiples of a loop variable");
      rolling.axes.push_back(*axis);
    }
    const auto moves_with = [](const tir::Var* var) {
      return [var](const RollingAxis& axis) { return axis.var == var; };
    };
    for (const tir::Var* var : loops_) {
      const auto axis = std::ranges::find_if(rolling.axes, moves_with(var));
      if (axis == rolling.axes.end()) continue;
      rolling.axis = static_cast<size_t>(axis - rolling.axes.begin());
      rolling.extent = *arith::AsInt((*realize)->bounds[rolling.axis]->extent);
      hoisted_[var].push_back(RealizeWhole(**realize, rolling));
      rolling_.try_emplace(&buffer, std::move(rolling));
      return;
    }
    Error(at, "a rolling buffer must have bounds that depend on a loop around it");
  }

  // Finds out how a range of elements moves; nothing if that is not known.
  static std::optional<RollingAxis> FindAxis(const tir::Range& bound) {
    const PrimExpr* min = bound.min;
    int64_t divisor = 1;
    if (const auto* quotient = As<tir::FloorDiv>(min)) {
      const int64_t* value = arith::AsInt(quotient->b);
      if (!value || *value <= 0) return std::nullopt;
      divisor = *value;
      min = quotient->a;
    }
    if (arith::AsInt(min)) return RollingAxis();
    int64_t stride = 1;
    if (const auto* product = As<tir::Mul>(min)) {
      const int64_t* value = arith::AsInt(product->b);
      if (!value || *value <= 0) return std::nullopt;
      stride = *value;
      min = product->a;
    }
    const auto* var = As<tir::Var>(min);
    const int64_t* extent = arith::AsInt(bound.extent);
    if (!var || !extent || *extent <= 0) return std::nullopt;
    return RollingAxis{.var = var, .overlap = *extent - (stride + divisor - 1) / divisor};
  }

  const tir::BufferRealize* RealizeWhole(const tir::BufferRealize& realize, const RollingBuffer& rolling) {
    std::vector<const tir::Range*> bounds;
    for (size_t i = 0; i < realize.buffer->shape.size(); ++i) {
      const PrimExpr* dim = realize.buffer->shape[i];
      const PrimExpr* extent = i == rolling.axis ? make_.Const(rolling.extent, dim->dtype) : dim;
      bounds.push_back(workspace().New<tir::Range>(make_.Const(0, dim->dtype), extent));
    }
    tir::BufferRealize copy = realize;
    copy.bounds = workspace().Copy(bounds);
    return workspace().New<tir::BufferRealize>(copy);
  }

  List<const PrimExpr*> RollIndices(List<const PrimExpr*> indices, const RollingBuffer& rolling) {
    std::vector<const PrimExpr*> rolled(indices.begin(), indices.end());
    if (rolling.axis < rolled.size()) {
      const PrimExpr*& index = rolled[rolling.axis];
      index = make_.Node(NodeKind::kFloorMod, index, make_.Const(rolling.extent, index->dtype));
    }
    return workspace().Copy(rolled);
  }

  // The store in the first iteration of the loop, and for elements that the iteration before has not stored.
  const tir::Stmt* StoreOnce(const tir::Stmt* store, const RollingAxis& axis, const PrimExpr* index) {
    const PrimExpr* zero = make_.Const(0, axis.var->dtype);
    const arith::VarDomains first = {{axis.var, arith::IntervalSet::Interval(zero, zero)}};
    const PrimExpr* position = EvalSet(index, first, analyzer_).min();
    if (!position) {
      Error(*store, "the indices of stores to a rolling buffer must have a lower bound");
      return store;
    }
    const PrimExpr* is_first = make_.Node(NodeKind::kLT, axis.var, make_.Const(1, axis.var->dtype));
    const PrimExpr* is_new = make_.Node(NodeKind::kGE, position, make_.Const(axis.overlap, position->dtype));
    const std::vector<const PrimExpr*> args = {make_.Node(NodeKind::kOr, is_first, is_new)};
    const PrimExpr* likely =
        workspace().New<tir::Call>(DataType::Bool(), GetOp(op::kTirLikely), workspace().Copy(args));
    return workspace().New<tir::IfThenElse>(likely, store, nullptr);
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  std::vector<const tir::Var*> loops_;  // around the current statement
  LookupMap<const tir::Buffer*, const tir::BufferRealize*> realizes_;
  LookupMap<const tir::Buffer*, std::vector<const tir::AttrStmt*>> attrs_;
  LookupMap<const tir::Buffer*, RollingBuffer> rolling_;
  LookupMap<const tir::Var*, std::vector<const tir::BufferRealize*>> hoisted_;
};

}  // namespace

Pass CreateInjectRollingBuffer(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    return RollingBufferInjector(context).VisitStmt(func.body);
  });
}

}  // namespace iropt
