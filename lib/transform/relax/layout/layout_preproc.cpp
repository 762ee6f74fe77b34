#include "layout_preproc.h"

#include <algorithm>
#include <span>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

namespace {

bool IsPreproc(const tir::Block& block) {
  const auto* value = As<IntAttr>(block.annotations->Find(attr::kLayoutRewritePreproc));
  return value && value->value == 1;
}

// The blocks and buffers of a statement.
class StmtContents : public tir::StmtExprVisitor {
 public:
  std::vector<const tir::Block*> preprocs;
  bool has_other_blocks = false;
  std::vector<const tir::Buffer*> buffers;

 protected:
  void VisitBlock(const tir::Block* block) override {
    if (IsPreproc(*block)) {
      preprocs.push_back(block);
    } else {
      has_other_blocks = true;
    }
    StmtExprVisitor::VisitBlock(block);
  }
  void VisitBufferUse(const tir::Buffer* buffer) override { buffers.push_back(buffer); }
};

class PreprocMarkRemover : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    if (!IsPreproc(*block)) return StmtExprMutator::VisitBlock(block);
    tir::Block copy = *block;
    copy.annotations = block->annotations->Without(attr::kLayoutRewritePreproc);
    return workspace().New<tir::Block>(copy);
  }
};

// A weight: its parameter, the buffer that it is copied to, and the block that copies it.
struct Rewrite {
  uint32_t param;
  const tir::Buffer* copy;
  const tir::Block* block;
};

// The digit of an axis that an index of the copy is: all of the axis, or what a constant leaves of it.
struct Digit {
  enum class Part : uint8_t { kAll, kQuotient, kRemainder, kNone };
  Part part = Part::kNone;  // none: the index is 0
  const PrimExpr* axis = nullptr;
  int64_t factor = 1;
};

std::optional<Digit> DigitOf(const PrimExpr* index) {
  if (arith::IsInt(index, 0)) return Digit();
  if (Is<tir::Var>(index)) return Digit{Digit::Part::kAll, index};
  if (index->kind != NodeKind::kFloorDiv && index->kind != NodeKind::kFloorMod) return std::nullopt;
  const auto* binary = static_cast<const tir::BinaryExpr*>(index);
  const int64_t* factor = arith::AsInt(binary->b);
  if (!Is<tir::Var>(binary->a) || !factor || *factor <= 0) return std::nullopt;
  const bool is_quotient = index->kind == NodeKind::kFloorDiv;
  return Digit{is_quotient ? Digit::Part::kQuotient : Digit::Part::kRemainder, binary->a, *factor};
}

// Finds the split and the order of axes by which the block copies the parameter, if it copies all of it and each axis
// occurs once, or as a quotient and a remainder.
std::optional<AxisSplit> AxisSplitOf(const tir::Block& block, const tir::Buffer& param) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  if (!load || load->buffer != &param || block.iter_vars.size() != param.shape.size()) return std::nullopt;
  std::vector<Digit> digits;
  for (const PrimExpr* index : store->indices) {
    const auto digit = DigitOf(index);
    if (!digit) return std::nullopt;
    digits.push_back(*digit);
  }
  AxisSplit split{{}, {}, std::vector<int64_t>(digits.size(), -1)};
  const auto place = [&](const PrimExpr* axis, Digit::Part part, int64_t factor, int64_t extent) {
    const auto found = std::ranges::find_if(
        digits, [&](const Digit& digit) { return digit.axis == axis && digit.part == part && digit.factor == factor; });
    if (found == digits.end()) return false;
    split.order[static_cast<size_t>(found - digits.begin())] = std::ssize(split.shape);
    split.shape.push_back(extent);
    return true;
  };
  for (size_t i = 0; i < param.shape.size(); ++i) {
    const tir::IterVar& axis = *block.iter_vars[i];
    const int64_t* extent = arith::AsInt(param.shape[i]);
    if (!extent || load->indices[i] != axis.var || !arith::IsInt(axis.dom->extent, *extent)) return std::nullopt;
    if (place(axis.var, Digit::Part::kAll, 1, *extent)) continue;
    const auto digit = std::ranges::find(digits, axis.var, &Digit::axis);
    if (digit == digits.end() || *extent % digit->factor != 0) return std::nullopt;
    if (!place(axis.var, Digit::Part::kQuotient, digit->factor, *extent / digit->factor) ||
        !place(axis.var, Digit::Part::kRemainder, digit->factor, digit->factor))
      return std::nullopt;
  }
  for (size_t i = 0; i < digits.size(); ++i) {
    if (split.order[i] < 0) {
      if (digits[i].part != Digit::Part::kNone) return std::nullopt;
      split.order[i] = std::ssize(split.shape);
      split.shape.push_back(1);
    }
    // A copy may have room for more.
    const int64_t extent = split.shape[static_cast<size_t>(split.order[i])];
    if (!arith::IsInt(store->buffer->shape[i], extent)) return std::nullopt;
  }
  return split;
}

// Index of the parameter in terms of positions in the copy: one of its axes, or the sum of a multiple of one axis and
// another one.
struct IndexDigits {
  const PrimExpr* high = nullptr;  // null for one axis, or none
  const PrimExpr* low = nullptr;   // null if the index is 0
  int64_t factor = 1;
};

std::optional<IndexDigits> IndexDigitsOf(const PrimExpr* index) {
  if (arith::IsInt(index, 0)) return IndexDigits();
  if (Is<tir::Var>(index)) return IndexDigits{nullptr, index, 1};
  const auto* sum = As<tir::Add>(index);
  const auto* product = sum ? As<tir::Mul>(sum->a) : nullptr;
  const int64_t* factor = product ? arith::AsInt(product->b) : nullptr;
  if (!factor || *factor <= 0 || !Is<tir::Var>(product->a) || !Is<tir::Var>(sum->b)) return std::nullopt;
  return IndexDigits{product->a, sum->b, *factor};
}

// Returns whether the condition holds for just those positions at which an index of the parameter is after its end.
bool IsBehindEnd(const PrimExpr* condition, const tir::Block& block, const tir::BufferLoad& load) {
  constexpr int64_t kMostPositions = 1 << 20;
  // Only axes of indices that may be after the end count.
  std::vector<const tir::IterVar*> axes;
  std::vector<size_t> dims;
  int64_t positions = 1;
  for (size_t i = 0; i < load.indices.size(); ++i) {
    const auto digits = IndexDigitsOf(load.indices[i]);
    if (!digits || !digits->high) continue;
    dims.push_back(i);
    for (const tir::IterVar* axis : block.iter_vars) {
      if (axis->var != digits->high && axis->var != digits->low) continue;
      axes.push_back(axis);
      if (__builtin_mul_overflow(positions, *arith::AsInt(axis->dom->extent), &positions)) return false;
    }
  }
  if (positions > kMostPositions) return false;
  ScalarEvaluator evaluator;
  for (int64_t position = 0; position < positions; ++position) {
    int64_t rest = position;
    for (const tir::IterVar* axis : axes) {
      const int64_t extent = *arith::AsInt(axis->dom->extent);
      evaluator.env().Bind(axis->var, Scalar::Int(rest % extent));
      rest /= extent;
    }
    bool holds = false;
    if (!evaluator.EvalBool(condition, &holds)) return false;
    bool is_behind = false;
    for (const size_t dim : dims) {
      int64_t index = 0;
      if (!evaluator.EvalInt(load.indices[dim], &index)) return false;
      is_behind = is_behind || index >= *arith::AsInt(load.buffer->shape[dim]);
    }
    if (holds != is_behind) return false;
  }
  return true;
}

// Finds the split and the order of axes for a block whose axes are those of the copy, and which stores zeros after the
// ends of the parameter's axes.
std::optional<AxisSplit> PaddedSplitOf(const tir::Block& block, const tir::Buffer& param) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* choice = store ? As<tir::Call>(store->value) : nullptr;
  if (!choice || !IsOp(choice->op, op::kTirIfThenElse)) return std::nullopt;
  const auto* load = As<tir::BufferLoad>(choice->args[2]);
  const auto* pad = As<tir::FloatImm>(choice->args[1]);
  const size_t rank = block.iter_vars.size();
  if (!load || load->buffer != &param || !pad || pad->value != 0 || store->indices.size() != rank) return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    const tir::IterVar& axis = *block.iter_vars[i];
    const int64_t* extent = arith::AsInt(axis.dom->extent);
    if (store->indices[i] != axis.var || !extent || !arith::IsInt(store->buffer->shape[i], *extent) ||
        !arith::IsInt(axis.dom->min, 0))
      return std::nullopt;
  }
  AxisSplit split{{}, {}, std::vector<int64_t>(rank, -1)};
  const auto place = [&](const PrimExpr* var) -> int64_t {
    for (size_t i = 0; i < rank; ++i) {
      if (block.iter_vars[i]->var != var || split.order[i] >= 0) continue;
      split.order[i] = std::ssize(split.shape);
      split.shape.push_back(*arith::AsInt(block.iter_vars[i]->dom->extent));
      return split.shape.back();
    }
    return 0;
  };
  for (size_t i = 0; i < param.shape.size(); ++i) {
    const auto digits = IndexDigitsOf(load->indices[i]);
    const int64_t* size = arith::AsInt(param.shape[i]);
    if (!digits || !size) return std::nullopt;
    const int64_t high = digits->high ? place(digits->high) : 1;
    const int64_t low = digits->low ? place(digits->low) : 1;
    if (digits->high && low != digits->factor) return std::nullopt;
    const int64_t zeros = high * low - *size;
    if (zeros < 0 || (zeros > 0 && !digits->high)) return std::nullopt;
    split.zeros.push_back(zeros);
  }
  for (size_t i = 0; i < rank; ++i) {
    if (split.order[i] >= 0) continue;
    if (!arith::IsInt(block.iter_vars[i]->dom->extent, 1)) return std::nullopt;
    split.order[i] = std::ssize(split.shape);
    split.shape.push_back(1);
  }
  return IsBehindEnd(choice->args[0], block, *load) ? std::optional(split) : std::nullopt;
}

class LayoutRewriteSplitter {
 public:
  LayoutRewriteSplitter(const PrimFunc& func, const tir::BlockRealize& root) : func_(func), root_(root) {}

  // False if the function cannot be split.
  bool Collect() {
    const auto* seq = As<tir::SeqStmt>(root_.block->body);
    if (!seq) return false;
    std::vector<const tir::Buffer*> used;
    for (const tir::Stmt* stmt : seq->seq) {
      StmtContents contents;
      contents.VisitStmt(stmt);
      if (contents.preprocs.empty()) {
        compute_.push_back(stmt);
        used.insert(used.end(), contents.buffers.begin(), contents.buffers.end());
        continue;
      }
      if (contents.has_other_blocks || !std::ranges::all_of(contents.preprocs, [&](auto* b) { return Add(*b); }))
        return false;
      prepare_.push_back(stmt);
    }
    std::ranges::sort(rewrites_, {}, &Rewrite::param);
    const auto is_used = [&](const Rewrite& r) { return std::ranges::count(used, func_.param_buffers[r.param]) > 0; };
    return !prepare_.empty() && !compute_.empty() && std::ranges::none_of(rewrites_, is_used);
  }

  const std::vector<Rewrite>& rewrites() const { return rewrites_; }

  const PrimFunc* MakePrepare(Workspace& workspace) const {
    std::vector<const tir::Buffer*> buffers;
    for (const Rewrite& rewrite : rewrites_) buffers.push_back(func_.param_buffers[rewrite.param]);
    for (const Rewrite& rewrite : rewrites_) buffers.push_back(rewrite.copy);
    std::vector<const tir::Var*> params;
    for (const tir::Buffer* buffer : buffers) params.push_back(NewHandle(*buffer, workspace));
    std::vector<const tir::Stmt*> stmts;
    PreprocMarkRemover remover(workspace);
    for (const tir::Stmt* stmt : prepare_) stmts.push_back(remover.VisitStmt(stmt));
    return Make(params, buffers, {}, stmts, workspace);
  }

  const PrimFunc* MakeCompute(Workspace& workspace) const {
    std::vector<const tir::Var*> params(func_.params.begin(), func_.params.end());
    std::vector<const tir::Buffer*> buffers(func_.param_buffers.begin(), func_.param_buffers.end());
    std::vector<const tir::Buffer*> allocs(root_.block->alloc_buffers.begin(), root_.block->alloc_buffers.end());
    for (const Rewrite& rewrite : rewrites_) {
      params[rewrite.param] = NewHandle(*rewrite.copy, workspace);
      buffers[rewrite.param] = rewrite.copy;
      std::erase(allocs, rewrite.copy);
    }
    return Make(params, buffers, allocs, compute_, workspace);
  }

 private:
  // Takes what a block copies; false if it does something else.
  bool Add(const tir::Block& block) {
    if (block.reads.size() != 1 || block.writes.size() != 1) return false;
    if (!block.alloc_buffers.empty() || !block.match_buffers.empty()) return false;
    const auto param = std::ranges::find(func_.param_buffers, block.reads[0]->buffer);
    const tir::Buffer* copy = block.writes[0]->buffer;
    const bool is_local = std::ranges::count(root_.block->alloc_buffers, copy) == 1;
    if (param == func_.param_buffers.end() || !is_local) return false;
    if (!std::ranges::all_of(copy->shape, [](const PrimExpr* dim) { return arith::AsInt(dim) != nullptr; }))
      return false;
    const auto index = static_cast<uint32_t>(param - func_.param_buffers.begin());
    const bool is_new = std::ranges::none_of(
        rewrites_, [&](const Rewrite& other) { return other.param == index || other.copy == copy; });
    if (is_new) rewrites_.push_back({index, copy, &block});
    return is_new;
  }

  static const tir::Var* NewHandle(const tir::Buffer& buffer, Workspace& workspace) {
    return workspace.NewPrimVar(buffer.name, DataType::Handle());
  }

  const PrimFunc* Make(std::span<const tir::Var* const> params, std::span<const tir::Buffer* const> buffers,
                       std::span<const tir::Buffer* const> allocs, std::span<const tir::Stmt* const> stmts,
                       Workspace& workspace) const {
    tir::Block block = *root_.block;
    block.alloc_buffers = workspace.Copy(allocs);
    block.body = tir::MakeSeq(workspace, stmts);
    tir::BlockRealize root = root_;
    root.block = workspace.New<tir::Block>(block);
    PrimFunc func = func_;
    func.params = workspace.Copy(params);
    func.param_buffers = workspace.Copy(buffers);
    func.body = workspace.New<tir::BlockRealize>(root);
    func.attrs = func_.attrs->Without(attr::kLayoutFreeBuffers)->Without(attr::kGlobalSymbol);
    func.type = PrimFuncType(&func);
    return workspace.New<PrimFunc>(func);
  }

  const PrimFunc& func_;
  const tir::BlockRealize& root_;
  std::vector<const tir::Stmt*> prepare_;
  std::vector<const tir::Stmt*> compute_;
  std::vector<Rewrite> rewrites_;
};

const PrimFunc* Copy(const PrimFunc* func, Workspace& workspace) {
  return To<PrimFunc>(CloneFunction(func, workspace));
}

}  // namespace

std::optional<SplitPreproc> SplitLayoutPreproc(const PrimFunc& func, Workspace& prepare, Workspace& compute) {
  const auto* root = As<tir::BlockRealize>(func.body);
  if (!root) return std::nullopt;
  LayoutRewriteSplitter splitter(func, *root);
  if (!splitter.Collect()) return std::nullopt;
  SplitPreproc split{.prepare = Copy(splitter.MakePrepare(prepare), prepare),
                     .compute = Copy(splitter.MakeCompute(compute), compute),
                     .params = {},
                     .types = {},
                     .splits = {}};
  for (const Rewrite& rewrite : splitter.rewrites()) {
    std::vector<const PrimExpr*> dims;
    for (const PrimExpr* dim : rewrite.copy->shape) dims.push_back(IRContext::Current().Int(*arith::AsInt(dim)));
    split.params.push_back(rewrite.param);
    const tir::Buffer& param = *func.param_buffers[rewrite.param];
    const auto axes = AxisSplitOf(*rewrite.block, param);
    split.splits.push_back(axes ? axes : PaddedSplitOf(*rewrite.block, param));
    split.types.push_back(TensorType::Get(dims, rewrite.copy->dtype));
  }
  return split;
}

}  // namespace iropt
