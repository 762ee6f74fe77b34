// Parallel loops: the body is outlined to a function, which the runtime calls for chunks of the iterations.
//
// A T.parallel loop runs sequentially if its iterations may write to the same elements: every store must be to memory
// that the body allocates, or have an index that differs between iterations. T.atomic_add may be to any element.
#include <algorithm>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "stmt_emitter.h"

namespace iropt::codegen {

namespace {

// The minimum work of a chunk in evaluated nodes, about two microseconds; less does not pay for waking a thread.
constexpr int64_t kGrainWork = 10000;
// The assumed trip count of loops with an unknown extent.
constexpr int64_t kUnknownExtent = 32;

// Finds dependences between iterations.
class ShareFinder : public tir::StmtExprVisitor {
 public:
  explicit ShareFinder(const tir::Var* loop_var) { dependent_.insert(loop_var); }
  bool shares = false;

 protected:
  void VisitLetStmt(const tir::LetStmt* let) override {
    if (DependsOnLoop(let->value)) dependent_.insert(let->var);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitLet(const tir::Let* let) override {
    if (DependsOnLoop(let->value)) dependent_.insert(let->var);
    StmtExprVisitor::VisitLet(let);
  }
  void VisitFor(const tir::For* loop) override {
    if (DependsOnLoop(loop->min)) dependent_.insert(loop->loop_var);
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    for (size_t i = 0; i < std::min(block.iter_vars.size(), realize->iter_values.size()); ++i) {
      if (!DependsOnLoop(realize->iter_values[i])) continue;
      dependent_.insert(block.iter_vars[i]->var);
      // Iterations accumulate into the same element.
      shares = shares || block.iter_vars[i]->iter_type == tir::IterVarType::kCommReduce;
    }
    for (const tir::Buffer* buffer : block.alloc_buffers) dependent_.insert(buffer->data);
    for (const tir::MatchBufferRegion* match : block.match_buffers) {
      const auto& region = match->source->region;
      const bool own =
          DependsOnLoop(match->source->buffer->data) ||
          std::any_of(region.begin(), region.end(), [&](const tir::Range* r) { return DependsOnLoop(r->min); });
      if (own) dependent_.insert(match->buffer->data);
    }
    StmtExprVisitor::VisitBlockRealize(realize);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    dependent_.insert(allocate->buffer_var);
    StmtExprVisitor::VisitAllocate(allocate);
  }
  void VisitBufferRealize(const tir::BufferRealize* realize) override {
    dependent_.insert(realize->buffer->data);
    StmtExprVisitor::VisitBufferRealize(realize);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    const bool own =
        DependsOnLoop(store->buffer->data) ||
        (store->buffer->elem_offset && DependsOnLoop(store->buffer->elem_offset)) ||
        std::any_of(store->indices.begin(), store->indices.end(), [&](const PrimExpr* i) { return DependsOnLoop(i); });
    shares = shares || !own;
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    const bool harmless =
        op && (EffectOf(op) <= CallEffect::kReadState || EffectOf(op) == CallEffect::kSpecialCallArg ||
               EffectOf(op) == CallEffect::kEmbedInfo || op->id == op::kTirAtomicAdd);
    shares = shares || !harmless;
    StmtExprVisitor::VisitCall(call);
  }

 private:
  bool DependsOnLoop(const PrimExpr* expr) { return tir::UsesAnyOf(dependent_, expr); }

  std::unordered_set<const tir::Var*> dependent_;
};

// Estimates the number of nodes that a statement evaluates.
class WorkEstimator : public tir::StmtExprVisitor {
 public:
  int64_t work = 1;

  void VisitExpr(const PrimExpr* expr) override {
    Add(1);
    StmtExprVisitor::VisitExpr(expr);
  }

 protected:
  void VisitFor(const tir::For* loop) override {
    const int64_t before = work;
    work = 1;
    StmtExprVisitor::VisitFor(loop);
    const auto* extent = As<tir::IntImm>(loop->extent);
    int64_t inner = 0;
    if (__builtin_mul_overflow(work, std::max<int64_t>(extent ? extent->value : kUnknownExtent, 1), &inner))
      inner = kGrainWork;
    work = before;
    Add(inner);
  }

 private:
  void Add(int64_t more) { work = std::min<int64_t>(work + std::min<int64_t>(more, kGrainWork), kGrainWork); }
};

// Collects the variables and buffers that a statement refers to.
class NameCollector : public tir::StmtExprVisitor {
 public:
  std::vector<const tir::Var*> vars;
  std::vector<const tir::Buffer*> buffers;

 protected:
  void VisitVar(const tir::Var* var) override { Add(var); }
  void VisitBufferUse(const tir::Buffer* buffer) override {
    if (!seen_buffers_.insert(buffer).second) return;
    buffers.push_back(buffer);
    Add(buffer->data);
    for (const auto& list : {buffer->shape, buffer->strides}) {
      for (const PrimExpr* expr : list) VisitExpr(expr);
    }
    if (buffer->elem_offset) VisitExpr(buffer->elem_offset);
  }
  void VisitBufferDef(const tir::Buffer* buffer) override { VisitBufferUse(buffer); }

 private:
  void Add(const tir::Var* var) {
    if (seen_.insert(var).second) vars.push_back(var);
  }
  std::unordered_set<const tir::Var*> seen_;
  std::unordered_set<const tir::Buffer*> seen_buffers_;
};

}  // namespace

// The values of the enclosing function that a parallel loop uses.
struct StmtEmitter::Captures {
  std::vector<std::pair<const tir::Var*, TypedValue>> vars;
  std::vector<std::pair<const tir::Buffer*, View>> views;
  std::vector<llvm::Value*> values;  // all but constants, each once
  llvm::StructType* type = nullptr;  // of the values

  void Add(llvm::Value* value) {
    if (value && !llvm::isa<llvm::Constant>(value) && std::ranges::find(values, value) == values.end())
      values.push_back(value);
  }
  // Returns the value in the outlined function.
  llvm::Value* In(llvm::Function* task, llvm::Value* value) const {
    const auto at = std::ranges::find(values, value);
    return at == values.end() ? value : task->getArg(static_cast<unsigned>(3 + (at - values.begin())));
  }
};

bool StmtEmitter::EmitParallel(const tir::For& loop, const LoopRange& range) {
  if (in_parallel_ || lockstep_.is_running() || memory_.has_copies() || exprs_.thread_axes != 0) return false;
  ShareFinder finder(loop.loop_var);
  finder.VisitStmt(loop.body);
  if (finder.shares) return false;
  WorkEstimator estimator;
  estimator.VisitStmt(loop.body);
  Captures captures;
  CollectCaptures(loop, captures);
  for (llvm::Value* part : {range.min, range.extent}) captures.Add(part);
  llvm::SmallVector<llvm::Type*, 8> types;
  for (llvm::Value* value : captures.values) types.push_back(value->getType());
  captures.type = llvm::StructType::get(b().getContext(), types);
  llvm::Function* thunk = EmitThunk(EmitTask(loop, range, captures), captures);
  llvm::Value* values = frame_.StackSlot(captures.type, 1, 64);
  for (size_t i = 0; i < captures.values.size(); ++i)
    b().CreateStore(captures.values[i], b().CreateStructGEP(captures.type, values, static_cast<unsigned>(i)));
  const int64_t grain = std::max<int64_t>(1, kGrainWork / std::max<int64_t>(estimator.work, 1));
  frame_.FailWith(frame_.CallRuntime("iropt_parallel", b().getInt32Ty(),
                                     {frame_.context(), thunk, values, range.extent, frame_.Int64(grain)}));
  return true;
}

void StmtEmitter::CollectCaptures(const tir::For& loop, Captures& captures) {
  NameCollector names;
  names.VisitStmt(loop.body);
  for (const tir::Var* var : names.vars) {
    const TypedValue* value = exprs_.scope().Find(var);
    if (!value || var == loop.loop_var) continue;
    captures.vars.emplace_back(var, *value);
    for (llvm::Value* part : {value->value, value->origin, value->size}) captures.Add(part);
  }
  for (const tir::Buffer* buffer : names.buffers) {
    const View* view = exprs_.scope().Find(buffer);
    if (!view) continue;
    captures.views.emplace_back(buffer, *view);
    captures.Add(view->offset);
    for (const auto* list : {&view->shape, &view->strides, &view->mins}) {
      for (llvm::Value* value : *list) captures.Add(value);
    }
  }
}

// i32 task(context, begin, end, values...): runs the iterations in [begin, end).
llvm::Function* StmtEmitter::EmitTask(const tir::For& loop, const LoopRange& range, const Captures& captures) {
  llvm::SmallVector<llvm::Type*, 16> types = {b().getPtrTy(), b().getInt64Ty(), b().getInt64Ty()};
  for (llvm::Value* value : captures.values) types.push_back(value->getType());
  auto* task = llvm::Function::Create(llvm::FunctionType::get(b().getInt32Ty(), types, false),
                                      llvm::Function::InternalLinkage, "loop", frame_.state().module);
  task->addFnAttr(llvm::Attribute::NoInline);
  task->setDoesNotThrow();
  // Pointers to different allocations do not alias, if none is derived from another.
  const bool all_roots = std::ranges::all_of(
      captures.vars, [](const auto& var) { return !var.first->dtype.is_handle() || var.second.is_root; });
  Frame frame(frame_.state(), task, frame_.prefix());
  ExprEmitter exprs(frame, exprs_.functions());
  exprs.ranges() = exprs_.ranges();
  for (const auto& [var, value] : captures.vars) {
    TypedValue inner = value;
    inner.value = captures.In(task, value.value);
    inner.origin = captures.In(task, value.origin);
    inner.size = captures.In(task, value.size);
    inner.array = nullptr;
    if (auto* arg = llvm::dyn_cast<llvm::Argument>(inner.value); arg && all_roots && var->dtype.is_handle())
      arg->addAttr(llvm::Attribute::NoAlias);
    exprs.scope().Bind(var, std::move(inner));
  }
  for (const auto& [buffer, view] : captures.views) {
    View inner = view;
    inner.offset = captures.In(task, view.offset);
    for (auto* list : {&inner.shape, &inner.strides, &inner.mins}) {
      for (llvm::Value*& value : *list) value = captures.In(task, value);
    }
    exprs.scope().Declare(buffer, std::move(inner));
  }
  StmtEmitter inner(exprs, constants_);
  inner.in_parallel_ = true;
  inner.inits_.Continue(inits_);
  inner.plan_ = plan_;
  const LoopRange part{range.var, captures.In(task, range.min), captures.In(task, range.extent), range.min_expr,
                       range.extent_expr};
  llvm::Value* begin = task->getArg(1);
  frame.Loop(frame.b().CreateSub(task->getArg(2), begin), LoopHint::kNone, [&](llvm::Value* i) {
    const IndexRanges::Assumption assumption(exprs.ranges(), IndexRanges::LoopExtent{range.extent_expr});
    inner.loops_.BindLoopVar(part, frame.b().CreateAdd(begin, i, "", /*HasNUW=*/true, /*HasNSW=*/true));
    inner.Emit(loop.body);
  });
  frame.Finish();
  return task;
}

// i32 thunk(context, frame, begin, end), see LoopTask.
llvm::Function* StmtEmitter::EmitThunk(llvm::Function* task, const Captures& captures) {
  llvm::Type* word = b().getInt64Ty();
  llvm::Type* pointer = b().getPtrTy();
  auto* thunk = llvm::Function::Create(llvm::FunctionType::get(b().getInt32Ty(), {pointer, pointer, word, word}, false),
                                       llvm::Function::InternalLinkage, "part", frame_.state().module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(b().getContext(), "entry", thunk));
  llvm::SmallVector<llvm::Value*, 16> args = {thunk->getArg(0), thunk->getArg(2), thunk->getArg(3)};
  for (size_t i = 0; i < captures.values.size(); ++i) {
    llvm::Value* place = builder.CreateStructGEP(captures.type, thunk->getArg(1), static_cast<unsigned>(i));
    args.push_back(builder.CreateLoad(captures.values[i]->getType(), place));
  }
  builder.CreateRet(builder.CreateCall(task, args));
  return thunk;
}

}  // namespace iropt::codegen
