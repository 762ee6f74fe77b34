#include "iropt/analysis/tir/reshape_pattern.h"

#include <algorithm>
#include <unordered_set>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"

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

// Proofs about the positions of elements in row-major order.
class ReshapeProver {
 public:
  explicit ReshapeProver(const tir::Block& block)
      : block_(block), analyzer_(arith::PrimBuilder(workspace_.arena()), arith::Analyzer::SymVars::kNonNegative) {
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
      position = make().Add(make().Mul(position, buffer.shape[i]), indices[i]);
    return analyzer_.Simplify(position);
  }

  // The same proof with the axes as parts of one variable, which counts their iterations.
  bool SameAsPositionOfAxes(const PrimExpr* from, const PrimExpr* to) {
    if (block_.iter_vars.empty()) return false;
    const DataType dtype = block_.iter_vars[0]->var->dtype;
    const tir::Var* iteration = workspace_.NewPrimVar("iteration", dtype);
    const PrimExpr* stride = make().Const(1, dtype);
    std::unordered_map<const tir::Var*, const PrimExpr*> parts;
    for (size_t i = block_.iter_vars.size(); i-- > 0;) {
      const tir::IterVar& axis = *block_.iter_vars[i];
      if (!arith::IsInt(axis.dom->min, 0)) return false;
      parts[axis.var] = make().FloorMod(make().FloorDiv(iteration, stride), axis.dom->extent);
      stride = make().Mul(stride, axis.dom->extent);
    }
    analyzer_.Bind(iteration, make().Const(0, dtype), stride);
    const auto part = [&](const tir::Var* var) -> const PrimExpr* {
      const auto found = parts.find(var);
      return found == parts.end() ? nullptr : found->second;
    };
    return analyzer_.CanProveEqual(tir::Substitute(from, part, workspace_), tir::Substitute(to, part, workspace_));
  }

  const tir::Block& block_;
  Workspace workspace_;
  arith::Analyzer analyzer_;
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
  std::unordered_set<const tir::Var*> used;  // never iterated
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
