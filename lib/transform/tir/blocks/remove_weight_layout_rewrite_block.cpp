// tir.RemoveWeightLayoutRewriteBlock: lets the caller bring weights into the layout that a schedule chose for them.
//
//   def main(B: T.Buffer((16, 16))):                      def main(W: T.Buffer((16, 4, 4))):
//       W = T.alloc_buffer((16, 4, 4))                        with T.block("layout_rewrite"):
//       with T.block("layout_rewrite"):             -->           T.evaluate(0)
//           T.block_attr({"meta_schedule.layout_...": 1})     ...  # reads W
//           W[j, i // 4, i % 4] = B[i, j]
//       ...  # reads W
//
// A block with the attribute meta_schedule.layout_rewrite_preproc copies a parameter to a buffer in the new layout,
// which becomes the parameter. If it copies a constant, the constant changes its layout; with skip_ndarray_rewrite only
// its shape. O(nodes), plus the elements of the constants.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "iropt/transform/options/RemoveWeightLayoutRewriteBlock.h"

namespace iropt {

namespace {

bool IsLayoutRewrite(const tir::Block& block) {
  const auto* value = As<IntAttr>(block.annotations->Find(attr::kLayoutRewritePreproc));
  return value && value->value == 1;
}

// to[indices] = from[vars], as a block states it.
struct LayoutRewrite {
  const tir::Buffer* from;
  const tir::Buffer* to;
  std::vector<const tir::Var*> vars;
  List<const PrimExpr*> indices;
};

// Nothing if the block does something else.
std::optional<LayoutRewrite> ReadBlock(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  if (!load || !block.alloc_buffers.empty() || !block.match_buffers.empty()) return std::nullopt;
  LayoutRewrite rewrite{load->buffer, store->buffer, {}, store->indices};
  for (const PrimExpr* index : load->indices) {
    const auto* var = As<tir::Var>(index);
    if (!var) return std::nullopt;
    rewrite.vars.push_back(var);
  }
  return rewrite;
}

// The value of an index; nothing if it is not arithmetic on the variables.
std::optional<int64_t> Evaluate(const PrimExpr* e, const LookupMap<const tir::Var*, int64_t>& values) {
  if (const int64_t* value = arith::AsInt(e)) return *value;
  if (const auto* var = As<tir::Var>(e)) {
    const auto* found = values.Find(var);
    return !found ? std::nullopt : std::optional(*found);
  }
  const auto* binary = As<tir::BinaryExpr>(e);
  if (!binary) return std::nullopt;
  return WithStack([&]() -> std::optional<int64_t> {
    const std::optional<int64_t> a = Evaluate(binary->a, values);
    const std::optional<int64_t> b = Evaluate(binary->b, values);
    return a && b ? arith::FoldIntegers(e->kind, *a, *b) : std::nullopt;
  });
}

// The array in the new layout; null if an index is out of bounds.
std::shared_ptr<NDArray> ChangeLayout(const NDArray& array, const LayoutRewrite& rewrite,
                                      std::span<const int64_t> shape, bool skip_data) {
  std::shared_ptr<NDArray> result = NDArray::Make(array.dtype(), shape);
  const auto width = static_cast<size_t>(array.dtype().bytes());
  if (skip_data) {
    std::memcpy(result->mutable_data(), array.data(), std::min(array.num_bytes(), result->num_bytes()));
    return result;
  }
  LookupMap<const tir::Var*, int64_t> values;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    int64_t rest = i;
    for (size_t dim = rewrite.vars.size(); dim > 0; --dim) {
      values[rewrite.vars[dim - 1]] = rest % array.shape()[dim - 1];
      rest /= array.shape()[dim - 1];
    }
    int64_t position = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const std::optional<int64_t> index = Evaluate(rewrite.indices[dim], values);
      if (!index || *index < 0 || *index >= shape[dim]) return nullptr;
      position = position * shape[dim] + *index;
    }
    std::memcpy(result->mutable_data() + static_cast<size_t>(position) * width,
                array.data() + static_cast<size_t>(i) * width, width);
  }
  return result;
}

// The layout rewrites, and the arrays that are constants.
class RewriteCollector : public tir::StmtExprVisitor {
 public:
  explicit RewriteCollector(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}

  std::vector<LayoutRewrite> rewrites;
  LookupMap<const tir::Var*, const tir::AllocateConst*> constants;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitBlock(const tir::Block* block) override {
    if (!IsLayoutRewrite(*block)) return StmtExprVisitor::VisitBlock(block);
    if (Is<tir::Evaluate>(block->body)) return;  // removed before
    if (std::optional<LayoutRewrite> rewrite = ReadBlock(*block)) {
      rewrites.push_back(std::move(*rewrite));
      return;
    }
    diagnostics_.Error(Location(*block), "pass-failed",
                       fmt::format("the block '{}' has the attribute {} but does not copy a buffer", block->name_hint,
                                   attr::kLayoutRewritePreproc));
  }
  void VisitAllocateConst(const tir::AllocateConst* allocate) override {
    constants[allocate->buffer_var] = allocate;
    StmtExprVisitor::VisitAllocateConst(allocate);
  }

 private:
  DiagnosticEngine& diagnostics_;
};

class LayoutRewriteRemover : public tir::StmtExprMutator {
 public:
  LayoutRewriteRemover(const RewriteCollector& collected, bool skip_data, Workspace& workspace,
                       DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), diagnostics_(diagnostics), skip_data_(skip_data) {
    for (const LayoutRewrite& rewrite : collected.rewrites) {
      removed_[rewrite.to] = &rewrite;
      by_source_[rewrite.from->data] = &rewrite;
      // Readers of the copy read the constant in the new layout.
      if (collected.constants.contains(rewrite.from->data)) Remap(rewrite.to->data, rewrite.from->data);
    }
  }

  // The parameters whose buffers are copied get the copies.
  const PrimFunc* Remove(const PrimFunc* func) {
    PrimFunc copy = *func;
    copy.body = VisitStmt(func->body);
    std::vector<const tir::Buffer*> buffers(func->param_buffers.begin(), func->param_buffers.end());
    for (const tir::Buffer*& buffer : buffers) {
      const auto* rewrite = buffer ? by_source_.Find(buffer->data) : nullptr;
      if (rewrite && (*rewrite)->from == buffer) buffer = (*rewrite)->to;
    }
    copy.param_buffers = workspace().Copy(buffers);
    return workspace().New<PrimFunc>(copy);
  }

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    tir::Block copy = *block;
    if (IsLayoutRewrite(*block)) {
      copy.reads = {};
      copy.writes = {};
      copy.body = workspace().New<tir::Evaluate>(workspace().New<tir::IntImm>(DataType::Int(32), 0));
      return workspace().New<tir::Block>(copy);
    }
    std::vector<const tir::Buffer*> kept;
    for (const tir::Buffer* buffer : block->alloc_buffers) {
      if (!removed_.contains(buffer)) kept.push_back(buffer);
    }
    if (kept.size() == block->alloc_buffers.size()) return StmtExprMutator::VisitBlock(block);
    copy.alloc_buffers = workspace().Copy(kept);
    const tir::Stmt* visited = StmtExprMutator::VisitBlock(&copy);
    return visited == &copy ? workspace().New<tir::Block>(copy) : visited;
  }

  const tir::Stmt* VisitAllocateConst(const tir::AllocateConst* allocate) override {
    const auto* visited = To<tir::AllocateConst>(StmtExprMutator::VisitAllocateConst(allocate));
    const auto* rewrite = by_source_.Find(allocate->buffer_var);
    if (!rewrite) return visited;
    std::vector<int64_t> shape;
    std::vector<const PrimExpr*> extents;
    for (const PrimExpr* dim : (*rewrite)->to->shape) {
      const int64_t* value = arith::AsInt(dim);
      if (!value) return Fail(*allocate);
      shape.push_back(*value);
      extents.push_back(workspace().New<tir::IntImm>(DataType::Int(32), *value));
    }
    const std::shared_ptr<NDArray> array =
        allocate->data ? ChangeLayout(*allocate->data, **rewrite, shape, skip_data_) : nullptr;
    if (!array) return Fail(*allocate);
    tir::AllocateConst copy = *visited;
    copy.extents = workspace().Copy(extents);
    workspace().arena().Retain(array);
    copy.data = array.get();
    return workspace().New<tir::AllocateConst>(copy);
  }

 private:
  const tir::Stmt* Fail(const tir::AllocateConst& allocate) {
    diagnostics_.Error(
        Location(allocate), "pass-failed",
        fmt::format("the constant '{}' cannot be brought into the new layout", allocate.buffer_var->name));
    return &allocate;
  }

  DiagnosticEngine& diagnostics_;
  const bool skip_data_;
  LookupMap<const tir::Buffer*, const LayoutRewrite*> removed_;
  LookupMap<const tir::Var*, const LayoutRewrite*> by_source_;
};

}  // namespace

Pass CreateRemoveWeightLayoutRewriteBlock(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [skip = *pass_options::RemoveWeightLayoutRewriteBlock(options).skip_ndarray_rewrite](
                                const PrimFunc* func, FunctionPassContext& context) {
                              RewriteCollector collected(context.diagnostics());
                              collected.VisitStmt(func->body);
                              if (collected.rewrites.empty()) return Result<const PrimFunc*>(func);
                              LayoutRewriteRemover remover(collected, skip, context.workspace(), context.diagnostics());
                              return Result<const PrimFunc*>(remover.Remove(func));
                            });
}

}  // namespace iropt
