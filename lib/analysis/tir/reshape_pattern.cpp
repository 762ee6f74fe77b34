#include "iropt/analysis/tir/reshape_pattern.h"

#include <algorithm>
#include <unordered_map>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// The one block that stores, under loops and blocks that contain nothing else. Null if the function has another form.
const tir::Block* InnermostBlock(const tir::Stmt* stmt) {
  while (true) {
    if (const auto* loop = As<tir::For>(stmt)) {
      stmt = loop->body;
      if (!Is<tir::For>(stmt) && !Is<tir::BlockRealize>(stmt)) return nullptr;
    } else if (const auto* realize = As<tir::BlockRealize>(stmt)) {
      const tir::Block* block = realize->block;
      const auto is_parallel = [](const tir::IterVar* axis) { return axis->iter_type == tir::IterVarType::kDataPar; };
      if (!std::ranges::all_of(block->iter_vars, is_parallel)) return nullptr;
      if (!Is<tir::For>(block->body)) return block;
      stmt = block->body;
    } else {
      return nullptr;
    }
  }
}

// Simplifies divisions by symbolic sizes: (i * n + j) // n to i and (i * n + j) % n to j if j is an axis of extent n,
// and p % n to p where p is the number of the iteration, or that divided by a size, which is always less than n.
class AxisDivisions : public tir::ExprMutator {
 public:
  AxisDivisions(const tir::Block& block, arith::Analyzer& analyzer, Workspace& workspace)
      : ExprMutator(workspace), analyzer_(analyzer) {
    const arith::PrimBuilder& make = analyzer.make();
    for (const tir::IterVar* axis : block.iter_vars) {
      const bool from_zero = arith::IsInt(axis->dom->min, 0);
      counts_all_ &= from_zero;
      if (from_zero) extents_[axis->var] = axis->dom->extent;
      iteration_ = iteration_ ? make.Add(make.Mul(iteration_, axis->dom->extent), axis->var) : axis->var;
      count_ = count_ ? make.Mul(count_, axis->dom->extent) : axis->dom->extent;
    }
    counts_all_ &= iteration_ != nullptr;
  }

 protected:
  const PrimExpr* VisitFloorDiv(const tir::FloorDiv* old) override {
    const auto& e = *To<tir::BinaryExpr>(ExprMutator::VisitFloorDiv(old));
    const Parts parts = Divide(analyzer_.Simplify(e.a), e.b);
    return IsBelow(parts.rest, e.b) ? parts.quotient : &e;
  }

  const PrimExpr* VisitFloorMod(const tir::FloorMod* old) override {
    const auto& e = *To<tir::BinaryExpr>(ExprMutator::VisitFloorMod(old));
    const Parts parts = Divide(analyzer_.Simplify(e.a), e.b);
    if (IsBelow(parts.rest, e.b)) return parts.rest;
    return IsPartOfIteration(e.a, e.b) ? e.a : &e;
  }

 private:
  // quotient * divisor + rest
  struct Parts {
    const PrimExpr* quotient = nullptr;
    const PrimExpr* rest = nullptr;
  };

  Parts Divide(const PrimExpr* e, const PrimExpr* divisor) {
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* zero = make.Const(0, e->dtype);
    if (const auto* sum = As<tir::Add>(e)) {
      return WithStack([&] {
        const Parts a = Divide(sum->a, divisor);
        const Parts b = Divide(sum->b, divisor);
        return Parts{make.Add(a.quotient, b.quotient), make.Add(a.rest, b.rest)};
      });
    }
    if (const auto* product = As<tir::Mul>(e)) {
      if (DeepEqual(product->b, divisor)) return {product->a, zero};
      if (DeepEqual(product->a, divisor)) return {product->b, zero};
    }
    return {zero, e};
  }

  bool IsBelow(const PrimExpr* e, const PrimExpr* size) const {
    const auto* axis = As<tir::Var>(e);
    const auto extent = axis ? extents_.find(axis) : extents_.end();
    return arith::IsInt(e, 0) || (extent != extents_.end() && DeepEqual(extent->second, size));
  }

  // Returns whether it is the number of the iteration, or that number divided, and there are `size` of those.
  bool IsPartOfIteration(const PrimExpr* e, const PrimExpr* size) {
    if (!counts_all_) return false;
    const auto* quotient = As<tir::FloorDiv>(e);
    const PrimExpr* covered = quotient ? analyzer_.make().Mul(size, quotient->b) : size;
    return analyzer_.CanProveEqual(quotient ? quotient->a : e, iteration_) && analyzer_.CanProveEqual(covered, count_);
  }

  arith::Analyzer& analyzer_;
  std::unordered_map<const tir::Var*, const PrimExpr*> extents_;  // of axes that begin at 0
  const PrimExpr* iteration_ = nullptr;                           // its number in row-major order
  const PrimExpr* count_ = nullptr;                               // of iterations
  bool counts_all_ = true;                                        // all axes begin at 0
};

// Proofs about the positions of elements in row-major order.
class ReshapeProver {
 public:
  explicit ReshapeProver(const tir::Block& block)
      : block_(block),
        analyzer_(arith::PrimBuilder(workspace_), arith::Analyzer::SymVars::kNonNegative),
        divisions_(block, analyzer_, workspace_) {
    for (const tir::IterVar* axis : block.iter_vars) analyzer_.Bind(axis->var, axis->dom->min, axis->dom->extent);
  }

  bool SamePosition(const tir::BufferLoad& load, const tir::BufferStore& store) {
    const PrimExpr* from = Position(*load.buffer, load.indices);
    const PrimExpr* to = Position(*store.buffer, store.indices);
    return analyzer_.CanProveEqual(from, to) || SameAsPositionOfAxes(from, to);
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  const PrimExpr* Position(const tir::Buffer& buffer, List<const PrimExpr*> indices) {
    const PrimExpr* position = make().Int(0, DataType::Int(32));
    for (uint32_t i = 0; i < indices.size(); ++i)
      position = make().Add(make().Mul(position, buffer.shape[i]), divisions_.VisitExpr(indices[i]));
    return analyzer_.Simplify(position);
  }

  // Proves that the positions are the same with the axes as parts of one variable, which counts their iterations.
  bool SameAsPositionOfAxes(const PrimExpr* from, const PrimExpr* to) {
    if (block_.iter_vars.empty()) return false;
    const DataType dtype = block_.iter_vars[0]->var->dtype;
    const tir::Var* iteration = workspace_.NewPrimVar("iteration", dtype);
    const PrimExpr* stride = make().Const(1, dtype);
    LookupMap<const tir::Var*, const PrimExpr*> parts;
    for (size_t i = block_.iter_vars.size(); i-- > 0;) {
      const tir::IterVar& axis = *block_.iter_vars[i];
      if (!arith::IsInt(axis.dom->min, 0)) return false;
      parts[axis.var] = make().FloorMod(make().FloorDiv(iteration, stride), axis.dom->extent);
      stride = make().Mul(stride, axis.dom->extent);
    }
    analyzer_.Bind(iteration, make().Const(0, dtype), stride);
    const auto part = [&](const tir::Var* var) -> const PrimExpr* { return parts.Lookup(var); };
    return analyzer_.CanProveEqual(tir::Substitute(from, part, workspace_), tir::Substitute(to, part, workspace_));
  }

  const tir::Block& block_;
  Workspace workspace_;
  arith::Analyzer analyzer_;
  AxisDivisions divisions_;
};

}  // namespace

bool HasReshapePattern(const PrimFunc& function) {
  std::vector<const tir::Buffer*> buffers;
  for (const tir::Buffer* buffer : function.param_buffers) {
    if (buffer) buffers.push_back(buffer);
  }
  if (buffers.size() < 2 || !Is<tir::BlockRealize>(function.body)) return false;
  const tir::Block* block = InnermostBlock(function.body);
  const auto* store = block ? As<tir::BufferStore>(block->body) : nullptr;
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  if (!load || store->buffer != buffers.back() || load->buffer != buffers.front()) return false;
  return ReshapeProver(*block).SamePosition(*load, *store);
}

std::vector<bool> UsedBufferParams(const PrimFunc& function) {
  LookupSet<const tir::Var*> used;
  tir::PostOrderVisit(function.body, [&](const Node* node) {
    if (const auto* store = As<tir::BufferStore>(node)) {
      used.insert(store->buffer->data);
    } else if (const auto* load = As<tir::BufferLoad>(node)) {
      used.insert(load->buffer->data);
    } else if (const auto* var = As<tir::Var>(node)) {
      used.insert(var);
    }
  });
  std::vector<bool> result;
  for (const tir::Buffer* buffer : function.param_buffers) result.push_back(buffer && used.contains(buffer->data));
  return result;
}

}  // namespace iropt
