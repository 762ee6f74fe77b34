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

// The digit of an axis that an index is: all of the axis, or what a constant leaves of it.
struct Digit {
  enum class Part : uint8_t { kAll, kQuotient, kRemainder, kNone };
  Part part = Part::kNone;  // none: the index is 0
  const PrimExpr* axis = nullptr;
  int64_t factor = 1;

  bool operator==(const Digit&) const = default;
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

// An index as a digit, or as the sum of a multiple of one digit and another one.
struct IndexDigits {
  std::optional<Digit> high;
  Digit low;
  int64_t factor = 1;
};

std::optional<IndexDigits> IndexDigitsOf(const PrimExpr* index) {
  if (const auto digit = DigitOf(index)) return IndexDigits{std::nullopt, *digit, 1};
  const auto* sum = As<tir::Add>(index);
  const auto* product = sum ? As<tir::Mul>(sum->a) : nullptr;
  const int64_t* factor = product ? arith::AsInt(product->b) : nullptr;
  if (!factor || *factor <= 0) return std::nullopt;
  const auto high = DigitOf(product->a), low = DigitOf(sum->b);
  return high && low ? std::optional(IndexDigits{high, *low, *factor}) : std::nullopt;
}

std::vector<int64_t> ShapeOf(const tir::Buffer& buffer) {
  std::vector<int64_t> shape;
  for (const PrimExpr* dim : buffer.shape) shape.push_back(*arith::AsInt(dim));
  return shape;
}

// Finds the split and the order of axes by which the block copies the parameter, if it copies all of it and each axis
// occurs once, or as a quotient and a remainder.
std::optional<AxisSplit> AxisSplitOf(const tir::Block& block, const tir::Buffer& param) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  if (!load || load->buffer != &param || block.iter_vars.size() != param.shape.size()) return std::nullopt;
  std::vector<Digit> digits;
  std::vector<IndexDigits> indices;
  for (const PrimExpr* index : store->indices) {
    const auto parts = IndexDigitsOf(index);
    if (!parts) return std::nullopt;
    indices.push_back(*parts);
    if (parts->high) digits.push_back(*parts->high);
    digits.push_back(parts->low);
  }
  AxisSplit split{{}, {}, std::vector<int64_t>(digits.size(), -1), ShapeOf(*store->buffer)};
  const auto place = [&](const PrimExpr* axis, Digit::Part part, int64_t factor, int64_t extent) {
    const auto found = std::ranges::find(digits, Digit{part, axis, factor});
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
  size_t at = 0;
  const auto next_extent = [&]() -> int64_t {
    if (split.order[at] < 0) {
      if (digits[at].part != Digit::Part::kNone) return 0;
      split.order[at] = std::ssize(split.shape);
      split.shape.push_back(1);
    }
    return split.shape[static_cast<size_t>(split.order[at++])];
  };
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t high = indices[i].high ? next_extent() : 1;
    const int64_t low = high > 0 ? next_extent() : 0;
    // A copy may have room for more.
    if (high * low != split.joined[i] || low == 0 || (indices[i].high && low != indices[i].factor)) return std::nullopt;
  }
  return split;
}

// Returns whether the condition holds for just those positions at which an index of the parameter is after its end, of
// those for which there are zeros.
bool IsBehindEnd(const PrimExpr* condition, const tir::Block& block, const tir::BufferLoad& load,
                 const std::vector<int64_t>& zeros) {
  constexpr int64_t kMostPositions = 1 << 20;
  std::vector<const tir::IterVar*> axes;
  std::vector<size_t> dims;
  int64_t positions = 1;
  for (const tir::IterVar* axis : block.iter_vars) {
    bool counts = false;
    for (size_t i = 0; i < load.indices.size(); ++i) counts |= zeros[i] > 0 && tir::UsesVar(load.indices[i], axis->var);
    if (!counts) continue;
    axes.push_back(axis);
    if (__builtin_mul_overflow(positions, *arith::AsInt(axis->dom->extent), &positions)) return false;
  }
  for (size_t i = 0; i < load.indices.size(); ++i) {
    if (zeros[i] > 0) dims.push_back(i);
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

bool IsZero(const PrimExpr* value) {
  const auto* real = As<tir::FloatImm>(value);
  return real ? real->value == 0 : arith::IsInt(value, 0);
}

// The digits of the axes of a copy from which it takes the parameter: all of each, or its quotient and its remainder.
std::vector<Digit> CopyDigits(const tir::Block& block, const tir::BufferLoad& load) {
  std::vector<Digit> used;
  for (const PrimExpr* index : load.indices) {
    const auto digits = IndexDigitsOf(index);
    if (!digits) return {};
    if (digits->high) used.push_back(*digits->high);
    used.push_back(digits->low);
  }
  std::vector<Digit> result;
  for (const tir::IterVar* axis : block.iter_vars) {
    const auto found = std::ranges::find(used, axis->var, &Digit::axis);
    if (found == used.end() || found->part == Digit::Part::kAll) {
      result.push_back({Digit::Part::kAll, axis->var});
    } else {
      result.push_back({Digit::Part::kQuotient, axis->var, found->factor});
      result.push_back({Digit::Part::kRemainder, axis->var, found->factor});
    }
  }
  return result;
}

// Finds the split and the order of axes for a block whose axes are those of the copy, and which stores zeros after the
// ends of the parameter's axes.
std::optional<AxisSplit> PaddedSplitOf(const tir::Block& block, const tir::Buffer& param) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* choice = store ? As<tir::Call>(store->value) : nullptr;
  if (!choice || !IsOp(choice->op, op::kTirIfThenElse)) return std::nullopt;
  const auto* load = As<tir::BufferLoad>(choice->args[2]);
  const size_t rank = block.iter_vars.size();
  if (!load || load->buffer != &param || !IsZero(choice->args[1]) || store->indices.size() != rank) return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    const tir::IterVar& axis = *block.iter_vars[i];
    const int64_t* extent = arith::AsInt(axis.dom->extent);
    if (store->indices[i] != axis.var || !extent || !arith::IsInt(store->buffer->shape[i], *extent) ||
        !arith::IsInt(axis.dom->min, 0))
      return std::nullopt;
  }
  const std::vector<Digit> digits = CopyDigits(block, *load);
  if (digits.empty()) return std::nullopt;
  AxisSplit split{{}, {}, std::vector<int64_t>(digits.size(), -1), ShapeOf(*store->buffer)};
  const auto extent_of = [&](const Digit& digit) -> int64_t {
    const auto axis = std::ranges::find(block.iter_vars, digit.axis, &tir::IterVar::var);
    const int64_t extent = *arith::AsInt((*axis)->dom->extent);
    if (digit.part == Digit::Part::kAll) return extent;
    if (extent % digit.factor != 0) return 0;
    return digit.part == Digit::Part::kRemainder ? digit.factor : extent / digit.factor;
  };
  const auto place = [&](const Digit& digit) -> int64_t {
    if (digit.part == Digit::Part::kNone) return 1;
    const auto found = std::ranges::find(digits, digit);
    if (found == digits.end()) return 0;
    int64_t& order = split.order[static_cast<size_t>(found - digits.begin())];
    if (order >= 0) return 0;
    order = std::ssize(split.shape);
    split.shape.push_back(extent_of(digit));
    return split.shape.back();
  };
  for (size_t i = 0; i < param.shape.size(); ++i) {
    const auto parts = IndexDigitsOf(load->indices[i]);
    const int64_t* size = arith::AsInt(param.shape[i]);
    if (!parts || !size) return std::nullopt;
    const int64_t high = parts->high ? place(*parts->high) : 1;
    const int64_t low = place(parts->low);
    if (high == 0 || low == 0 || (parts->high && low != parts->factor)) return std::nullopt;
    const int64_t zeros = high * low - *size;
    if (zeros < 0 || (zeros > 0 && !parts->high)) return std::nullopt;
    split.zeros.push_back(zeros);
  }
  for (size_t i = 0; i < digits.size(); ++i) {
    if (split.order[i] >= 0) continue;
    if (extent_of(digits[i]) != 1) return std::nullopt;
    split.order[i] = std::ssize(split.shape);
    split.shape.push_back(1);
  }
  return IsBehindEnd(choice->args[0], block, *load, split.zeros) ? std::optional(split) : std::nullopt;
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
