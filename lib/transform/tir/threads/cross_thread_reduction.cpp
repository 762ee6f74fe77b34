#include "transform/tir/threads/cross_thread_reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "transform/tir/util/constant_conditions.h"

namespace iropt {

namespace {

bool IsThreadLoop(const tir::For* loop) { return loop->for_kind == tir::ForKind::kThreadBinding; }

// Accesses to buffers become accesses to the only elements of others.
class AccessReplacer : public tir::StmtExprMutator {
 public:
  AccessReplacer(const std::vector<const tir::Buffer*>& from, const std::vector<const tir::Buffer*>& to,
                 Workspace& workspace)
      : StmtExprMutator(workspace) {
    for (size_t i = 0; i < from.size(); ++i) buffers_.try_emplace(from[i], to[i]);
  }

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* buffer = buffers_.Find(load->buffer);
    if (!buffer) return StmtExprMutator::VisitBufferLoad(load);
    return workspace().New<tir::BufferLoad>(load->dtype, *buffer, Zero());
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const auto* buffer = buffers_.Find(store->buffer);
    if (!buffer) return StmtExprMutator::VisitBufferStore(store);
    return workspace().New<tir::BufferStore>(*buffer, VisitExpr(store->value), Zero());
  }

 private:
  List<const PrimExpr*> Zero() {
    const PrimExpr* zero = arith::PrimBuilder(workspace()).Int(0, DataType::Int(32));
    return workspace().Copy(std::vector{zero});
  }

  LookupMap<const tir::Buffer*, const tir::Buffer*> buffers_;
};

// Finds out whether there are blocks with reduction axes.
class ReductionAxisFinder : public tir::StmtExprVisitor {
 public:
  bool found = false;
  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitBlock(const tir::Block* block) override {
    found |= std::ranges::find(block->iter_vars, tir::IterVarType::kCommReduce, &tir::IterVar::iter_type) !=
             block->iter_vars.end();
    if (!found) StmtExprVisitor::VisitBlock(block);
  }
};

// The operands of nested conjunctions, where the operands of the inner ones come first.
void CollectClauses(const PrimExpr* condition, std::vector<const PrimExpr*>& clauses) {
  const auto* both = As<tir::And>(condition);
  if (!both) return;
  for (const PrimExpr* operand : {both->a, both->b}) WithStack([&] { CollectClauses(operand, clauses); });
  for (const PrimExpr* operand : {both->a, both->b}) {
    if (!Is<tir::And>(operand)) clauses.push_back(operand);
  }
}

}  // namespace

CrossThreadReduction::CrossThreadReduction(const tir::BlockRealize& realize, const BlockReduction& reduction,
                                           const std::vector<const tir::For*>& loops, const arith::PrimBuilder& make,
                                           Workspace& workspace)
    : realize_(realize), reduction_(reduction), loops_(loops), make_(make), workspace_(workspace) {
  cross_thread_ = MakeScratchpads("cross_thread");
  if (!std::ranges::all_of(loops, IsThreadLoop) || !arith::IsInt(realize.predicate, 1))
    in_thread_ = MakeScratchpads("in_thread");
}

std::vector<const tir::Buffer*> CrossThreadReduction::MakeScratchpads(std::string_view prefix) {
  const PrimExpr* one = make_.Int(1, DataType::Int(32));
  std::vector<const tir::Buffer*> buffers;
  for (const tir::Buffer* buffer : reduction_.buffers) {
    const tir::BufferSpec spec = {.shape = {one}, .dtype = buffer->dtype, .strides = {one}, .scope = "local"};
    buffers.push_back(tir::MakeBuffer(workspace_, spec, fmt::format("{}_{}", prefix, buffer->name)));
  }
  scratchpads_.insert(scratchpads_.end(), buffers.begin(), buffers.end());
  return buffers;
}

List<const tir::BufferRegion*> CrossThreadReduction::RegionsOf(const std::vector<const tir::Buffer*>& buffers) {
  const DataType int32 = DataType::Int(32);
  const tir::Range* const range = workspace_.New<tir::Range>(make_.Int(0, int32), make_.Int(1, int32));
  std::vector<const tir::BufferRegion*> regions;
  for (const tir::Buffer* buffer : buffers)
    regions.push_back(
        workspace_.New<tir::BufferRegion>(buffer, workspace_.Copy(std::vector<const tir::Range*>{range})));
  return workspace_.Copy(regions);
}

const tir::Stmt* CrossThreadReduction::Realize(const tir::Block& block, List<const PrimExpr*> values,
                                               const PrimExpr* predicate) {
  return workspace_.New<tir::BlockRealize>(values, predicate, workspace_.New<tir::Block>(block));
}

const tir::Stmt* CrossThreadReduction::Make(const std::vector<const tir::Stmt*>& path) {
  std::vector<const tir::Stmt*> stmts;
  if (!in_thread_.empty()) stmts.push_back(MakeInit());
  if (const tir::Stmt* loops = MakeLoops(path)) stmts.push_back(loops);
  stmts.push_back(MakeAllReduce());
  stmts.push_back(MakeWriteBack());
  const tir::Stmt* result = MakeFlatSeq(workspace_, stmts);
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
    if (!IsThreadLoop(*loop)) continue;
    auto* copy = workspace_.New<tir::For>(**loop);
    copy->body = result;
    result = copy;
  }
  return result;
}

const tir::Stmt* CrossThreadReduction::MakeInit() {
  const PrimExpr* zero = make_.Int(0, DataType::Int(32));
  std::vector<const tir::Stmt*> stores;
  for (size_t i = 0; i < in_thread_.size(); ++i) {
    stores.push_back(workspace_.New<tir::BufferStore>(in_thread_[i], reduction_.reducer->identity_element[i],
                                                      workspace_.Copy(std::vector{zero})));
  }
  const std::string_view name = workspace_.arena().CopyString(fmt::format("{}_in_thread_init", block().name_hint));
  return Realize(tir::Block({}, {}, RegionsOf(in_thread_), name, {}, {}, DictAttr::Empty(), nullptr,
                            MakeFlatSeq(workspace_, stores)),
                 {}, True(workspace_));
}

// The original block, which reduces to memory of the thread.
const tir::BlockRealize* CrossThreadReduction::MakeInThread() {
  AccessReplacer replacer(reduction_.buffers, in_thread_, workspace_);
  auto* copy = workspace_.New<tir::Block>(block());
  copy->writes = RegionsOf(in_thread_);
  copy->name_hint = workspace_.arena().CopyString(fmt::format("{}_in_thread", block().name_hint));
  copy->body = replacer.VisitStmt(block().body);
  copy->init = nullptr;
  auto* realize = workspace_.New<tir::BlockRealize>(realize_);
  realize->block = copy;
  return realize;
}

// The original loops without those over threads, and without the block if a thread has nothing to reduce by itself;
// null if nothing remains.
const tir::Stmt* CrossThreadReduction::MakeLoops(const std::vector<const tir::Stmt*>& path) {
  const tir::Stmt* result = in_thread_.empty() ? nullptr : MakeInThread();
  for (size_t i = path.size() - 1; i > 0; --i) {
    if (const auto* loop = As<tir::For>(path[i - 1])) {
      if (IsThreadLoop(loop)) {
        if (result) result = KeepThreadLoop(*loop, result);
        continue;
      }
      auto* copy = workspace_.New<tir::For>(*loop);
      copy->body = result;
      result = copy;
      continue;
    }
    std::vector<const tir::Stmt*> stmts;
    for (const tir::Stmt* stmt : To<tir::SeqStmt>(path[i - 1])->seq) {
      const tir::Stmt* kept = stmt == path[i] ? result : stmt;
      if (kept) stmts.push_back(kept);
    }
    result = stmts.empty() ? nullptr : MakeFlatSeq(workspace_, stmts);
  }
  return result;
}

// Gives a statement that stays a loop over the threads of its own unless there are reductions in it.
const tir::Stmt* CrossThreadReduction::KeepThreadLoop(const tir::For& loop, const tir::Stmt* body) {
  ReductionAxisFinder finder;
  finder.VisitStmt(body);
  if (finder.found) return body;
  const tir::Var* var = workspace_.NewPrimVar(loop.loop_var->name, loop.loop_var->dtype);
  auto* copy = workspace_.New<tir::For>(loop);
  copy->loop_var = var;
  copy->body = StmtCopier(workspace_).Copy(body, {{loop.loop_var, var}}, OwnDefinitions::kKeep);
  return copy;
}

const tir::Stmt* CrossThreadReduction::MakeAllReduce() {
  const PrimExpr* zero = make_.Int(0, DataType::Int(32));
  const auto load = [&](const tir::Buffer* buffer) -> const PrimExpr* {
    return workspace_.New<tir::BufferLoad>(buffer->dtype, buffer, workspace_.Copy(std::vector{zero}));
  };
  const auto width = static_cast<int64_t>(cross_thread_.size());
  std::vector<const PrimExpr*> args = {make_.Int(width, DataType::UInt(32))};
  if (in_thread_.empty()) {
    args.insert(args.end(), reduction_.operands.begin(), reduction_.operands.end());
  } else {
    std::ranges::transform(in_thread_, std::back_inserter(args), load);
  }
  args.push_back(True(workspace_));
  std::ranges::transform(cross_thread_, std::back_inserter(args), load);
  for (const tir::For* loop : loops_) {
    if (IsThreadLoop(loop)) args.push_back(loop->loop_var);
  }
  const PrimExpr* call =
      workspace_.New<tir::Call>(DataType::Handle(), GetOp(op::kTirTvmThreadAllreduce), workspace_.Copy(args));
  const PrimExpr* scope = make_.Int(0, DataType::Int(32));
  if (!integer_scope_) {
    const PrimExpr* bits = make_.Int(0, DataType::UInt(64));
    scope =
        workspace_.New<tir::Call>(DataType::Handle(), GetOp(op::kTirReinterpret), workspace_.Copy(std::vector{bits}));
  }
  const tir::Stmt* body =
      workspace_.New<tir::AttrStmt>(reduction_.reducer, attr::kReduceScope, scope, workspace_.New<tir::Evaluate>(call));
  const std::string_view name = workspace_.arena().CopyString(fmt::format("{}_cross_thread", block().name_hint));
  tir::Block result({}, RegionsOf(in_thread_), RegionsOf(cross_thread_), name, {}, {}, DictAttr::Empty(), nullptr,
                    body);
  if (!in_thread_.empty()) return Realize(result, {}, True(workspace_));
  result.iter_vars = block().iter_vars;
  result.reads = block().reads;
  result.match_buffers = block().match_buffers;
  return Realize(result, realize_.iter_values, True(workspace_));
}

// The clauses of the condition of the block without the loops of the reduction, and the first thread if others see the
// result.
const PrimExpr* CrossThreadReduction::WriteBackCondition() {
  const auto is_reduced = [&](const PrimExpr* expr) {
    return tir::UsesVar(
        expr, [&](const tir::Var* var) { return std::ranges::find(loops_, var, &tir::For::loop_var) != loops_.end(); });
  };
  std::vector<const PrimExpr*> clauses;
  CollectClauses(realize_.predicate, clauses);
  if (clauses.empty()) clauses.push_back(realize_.predicate);
  const PrimExpr* condition = True(workspace_);
  for (const PrimExpr* clause : clauses) {
    if (!is_reduced(clause)) condition = make_.Binary(NodeKind::kAnd, condition, clause);
  }
  if (reduction_.buffers[0]->scope() == "local") return condition;
  for (const tir::For* loop : loops_) {
    if (!IsThreadLoop(loop)) continue;
    const PrimExpr* zero = make_.Const(0, loop->loop_var->dtype);
    condition = make_.Binary(NodeKind::kAnd, condition, make_.Binary(NodeKind::kEQ, loop->loop_var, zero));
  }
  return condition;
}

const tir::Stmt* CrossThreadReduction::MakeWriteBack() {
  tir::VarValues renamed;
  std::vector<const tir::IterVar*> axes;
  std::vector<const PrimExpr*> values;
  for (size_t i = 0; i < block().iter_vars.size(); ++i) {
    const tir::IterVar& axis = *block().iter_vars[i];
    if (axis.iter_type == tir::IterVarType::kCommReduce) continue;
    const tir::Var* var = workspace_.NewPrimVar(axis.var->name, axis.var->dtype);
    renamed.try_emplace(axis.var, var);
    axes.push_back(workspace_.New<tir::IterVar>(axis.dom, var, axis.iter_type, axis.thread_tag));
    values.push_back(realize_.iter_values[i]);
  }
  std::vector<const PrimExpr*> indices;
  for (const PrimExpr* index : reduction_.indices) indices.push_back(tir::Substitute(index, renamed, workspace_));
  const tir::BufferRegion* region = tir::Substitute(block().writes[0], renamed, workspace_);
  const PrimExpr* zero = make_.Int(0, DataType::Int(32));
  std::vector<const tir::Stmt*> stores;
  std::vector<const tir::BufferRegion*> writes;
  for (size_t i = 0; i < cross_thread_.size(); ++i) {
    const PrimExpr* value =
        workspace_.New<tir::BufferLoad>(cross_thread_[i]->dtype, cross_thread_[i], workspace_.Copy(std::vector{zero}));
    stores.push_back(workspace_.New<tir::BufferStore>(reduction_.buffers[i], value, workspace_.Copy(indices)));
    writes.push_back(workspace_.New<tir::BufferRegion>(reduction_.buffers[i], region->region));
  }
  const std::string_view name = workspace_.arena().CopyString(fmt::format("{}_write_back", block().name_hint));
  return Realize(tir::Block(workspace_.Copy(axes), RegionsOf(cross_thread_), workspace_.Copy(writes), name, {}, {},
                            DictAttr::Empty(), nullptr, MakeFlatSeq(workspace_, stores)),
                 workspace_.Copy(values), WriteBackCondition());
}

}  // namespace iropt
