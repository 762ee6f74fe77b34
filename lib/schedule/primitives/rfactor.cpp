// Reducing in parts by a loop, and then the parts.
//
//   for i, k0, k1: B[i] += A[i, k0 * 4 + k1]       rfactor k1      for k1, i, k0: B_rf[k1, i] += A[i, k0 * 4 + k1]
//                                                     -->          for i, k1: B[i] += B_rf[k1, i]
//
// Source: TVM's RFactor (src/tir/schedule/primitive/reduction.cc).
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "iropt/analysis/tir/commutative_reducer.h"
#include "iropt/arith/linear_equation.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using VarSet = std::unordered_set<const tir::Var*>;

constexpr std::string_view KindName(tir::ForKind kind) {
  switch (kind) {
    case tir::ForKind::kSerial: return "serial";
    case tir::ForKind::kParallel: return "parallel";
    case tir::ForKind::kVectorized: return "vectorized";
    case tir::ForKind::kUnrolled: return "unroll";
    case tir::ForKind::kThreadBinding: return "thread_binding";
  }
  return {};
}

// One of the two blocks that a reduction becomes.
struct Part {
  std::vector<const tir::IterVar*> axes;
  std::vector<const PrimExpr*> values;
  tir::VarValues renamed;  // the axes of the old block
  std::vector<const tir::Buffer*> buffers;
  std::vector<const PrimExpr*> indices;
  std::vector<const PrimExpr*> lhs, rhs;
  std::vector<const tir::BufferRegion*> reads, writes;
  const tir::Block* block = nullptr;
};

class ScopeSplitter : public ScopeRewriter {
 public:
  ScopeSplitter(const tir::Block* scope, const tir::Stmt* rf_nest, const std::vector<Ref*>& loops,
                const tir::Stmt* rf_loop, const VarSet& reduction_vars, const tir::BlockRealize* old_realize,
                const tir::BlockRealize* new_realize, Workspace& workspace)
      : ScopeRewriter(scope, workspace),
        rf_nest_(rf_nest),
        loops_(loops),
        rf_loop_(rf_loop),
        reduction_vars_(reduction_vars),
        old_realize_(old_realize),
        new_realize_(new_realize) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (std::ranges::find(loops_, loop, &Ref::stmt) == loops_.end()) return loop;
    const tir::Stmt* visited = VisitStmt(loop->body);
    if (loop == rf_loop_ || !reduction_vars_.contains(loop->loop_var)) visited = WithBody(*loop, visited, workspace());
    if (loop != loops_[0]->stmt) return visited;
    const tir::Stmt* both[] = {rf_nest_, visited};
    return tir::MakeSeq(workspace(), both);
  }
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    return realize == old_realize_ ? new_realize_ : realize;
  }

 private:
  const tir::Stmt* rf_nest_;
  const std::vector<Ref*>& loops_;
  const tir::Stmt* rf_loop_;
  const VarSet& reduction_vars_;
  const tir::BlockRealize* old_realize_;
  const tir::BlockRealize* new_realize_;
};

class RFactorer {
 public:
  // With `all_parts`, parts are initialized for all iterations of the loop where sizes are symbolic.
  RFactorer(State& state, Ref* loop, bool all_parts)
      : state_(state),
        workspace_(state.workspace()),
        all_parts_(all_parts),
        loop_(loop),
        rf_loop_(loop->loop()),
        analyzer_(state.make(), arith::Analyzer::SymVars::kAny) {}

  Result<Ref*> Run(int64_t factor_axis) {
    IROPT_ASSIGN_OR_RETURN(realize_, RequireSingleChild(state_, loop_));
    block_ = realize_->block;
    Ref* ref = state_.RefOf(block_);
    IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state_, ref, /*stage_pipeline=*/true));
    IROPT_RETURN_IF_ERROR(CheckReductionBlock(state_, ref, scope));
    if (rf_loop_.for_kind != tir::ForKind::kSerial)
      return state_.Refuse(
          fmt::format("the loop {{0}} is of the kind '{}': expected a serial one", KindName(rf_loop_.for_kind)),
          {&rf_loop_});
    for (size_t i = 0; i < realize_->iter_values.size(); ++i) {
      VarSet& vars = block_->iter_vars[i]->iter_type == tir::IterVarType::kDataPar ? spatial_vars_ : reduction_vars_;
      for (const tir::Var* var : VarsOf(realize_->iter_values[i])) vars.insert(var);
    }
    loops_ = state_.LoopsOf(ref);
    IROPT_RETURN_IF_ERROR(CheckLoops());
    IROPT_RETURN_IF_ERROR(CheckParts());
    std::string problem;
    reduction_ = FindBlockReduction(*block_, analyzer_, workspace_, problem);
    if (!reduction_)
      return state_.Refuse(fmt::format("rfactor cannot be applied to the block {{0}}, because it {}", problem),
                           {block_});
    const auto ndim = static_cast<int64_t>(reduction_->buffers[0]->shape.size());
    if (factor_axis < -(ndim + 1) || factor_axis > ndim)
      return state_.Refuse(fmt::format("invalid `factor_axis` {3} of the buffer {0}: expected one in [{2}, {1}]",
                                       reduction_->buffers[0]->name, ndim, -(ndim + 1), factor_axis));
    axis_ = factor_axis < 0 ? factor_axis + ndim + 1 : factor_axis;
    for (const Ref* around : loops_) {
      const tir::For& loop = around->loop();
      if (&loop != &rf_loop_ && reduction_vars_.contains(loop.loop_var)) first_[loop.loop_var] = loop.min;
    }
    BindLoopsAround(ref->parent, analyzer_);
    IROPT_RETURN_IF_ERROR(FindBackConditions(realize_->predicate));
    MakeBuffers();
    MakeRfPart();
    MakeBackPart();
    return Replace(scope, ref);
  }

 private:
  Status CheckLoops() {
    if (ChildRealizes(*loops_[0]->stmt)[0]->block != block_)
      return state_.Refuse("the first block in the outermost loop {0} is not the reduction", {loops_[0]->stmt});
    bool in_reduction = false;
    for (const Ref* ref : loops_) {
      const tir::Var* var = ref->loop().loop_var;
      const bool spatial = spatial_vars_.contains(var);
      const bool reduces = reduction_vars_.contains(var);
      if (spatial && reduces)
        return state_.Refuse(
            "the loop {0} is used for data parallel axes and for axes of the reduction: expected one kind",
            {ref->stmt});
      if (spatial && ref == loop_)
        return state_.Refuse("the loop {0} is used for a data parallel axis: expected only axes of the reduction",
                             {ref->stmt});
      if (reduces && !in_reduction) {
        IROPT_RETURN_IF_ERROR(RequireSingleChild(state_, ref));
        in_reduction = true;
      }
      if (!spatial && !reduces && in_reduction && !arith::IsInt(ref->loop().extent, 1))
        return state_.Refuse("the loop {0} is not used for any axis, and is under a loop of the reduction",
                             {ref->stmt});
    }
    return {};
  }

  // The parts that the iterations of the rf loop compute are different ones.
  Status CheckParts() {
    if (arith::IsInt(rf_loop_.extent, 1)) return {};
    std::vector<const PrimExpr*> values;
    for (size_t i = 0; i < realize_->iter_values.size(); ++i) {
      if (block_->iter_vars[i]->iter_type == tir::IterVarType::kCommReduce) values.push_back(realize_->iter_values[i]);
    }
    if (reduction_vars_.contains(rf_loop_.loop_var) &&
        DetermineLoops(state_, values, LoopDomain(loops_.back()), realize_->predicate))
      return {};
    return state_.Refuse("the loop {0} repeats parts of the reduction of the block {1}", {&rf_loop_, block_});
  }

  // The buffers with one more dimension, for the parts.
  void MakeBuffers() {
    for (const tir::Buffer* buffer : reduction_->buffers) {
      std::vector<const PrimExpr*> shape(buffer->shape.begin(), buffer->shape.end());
      shape.insert(shape.begin() + axis_, SizesOf(state_, loops_.front(), {&rf_loop_.extent, 1}).front());
      rf_buffers_.push_back(
          CopyBuffer(*buffer, {.name = fmt::format("{}_rf", buffer->name), .shape = &shape}, workspace_));
    }
  }

  const tir::IterVar* AxisOf(const tir::For& loop, tir::IterVarType type) {
    const tir::Var* var = workspace_.NewPrimVar(fmt::format("v{}", loop.loop_var->name), loop.loop_var->dtype);
    return workspace_.New<tir::IterVar>(workspace_.New<tir::Range>(loop.min, loop.extent), var, type);
  }

  void MakeRfPart() {
    const arith::PrimBuilder make = state_.make();
    rf_axis_ = AxisOf(rf_loop_, tir::IterVarType::kDataPar);
    tir::VarValues of_loops{{rf_loop_.loop_var, rf_axis_->var}};
    rf_.axes.push_back(rf_axis_);
    rf_.values.push_back(rf_loop_.loop_var);
    for (size_t i = 0; i < block_->iter_vars.size(); ++i) {
      const tir::IterVar* axis = block_->iter_vars[i];
      const PrimExpr* value = realize_->iter_values[i];
      if (axis->iter_type == tir::IterVarType::kDataPar || !tir::UsesVar(value, rf_loop_.loop_var)) {
        rf_.axes.push_back(axis);
        rf_.values.push_back(value);
        continue;
      }
      // An axis that the loop is part of becomes one axis for each of its loops.
      for (const tir::Var* var : VarsOf(value)) {
        const auto loop = std::ranges::find_if(loops_, [&](const Ref* ref) { return ref->loop().loop_var == var; });
        if (loop == loops_.end() || of_loops.contains(var)) continue;
        const tir::IterVar* part = AxisOf((*loop)->loop(), tir::IterVarType::kCommReduce);
        of_loops[var] = part->var;
        rf_.axes.push_back(part);
        rf_.values.push_back(var);
      }
      rf_.renamed[axis->var] = make.Cast(axis->var->dtype, tir::Substitute(value, of_loops, workspace_));
    }
    rf_.buffers = rf_buffers_;
    rf_.indices.assign(reduction_->indices.begin(), reduction_->indices.end());
    // The buffer has an element for each iteration.
    const PrimExpr* part = rf_axis_->var;
    if (!arith::IsInt(rf_loop_.min, 0)) part = make.Sub(part, rf_loop_.min);
    rf_.indices.insert(rf_.indices.begin() + axis_, part);
    for (size_t i = 0; i < rf_buffers_.size(); ++i) {
      rf_.lhs.push_back(Load(rf_buffers_[i], rf_.indices));
      rf_.rhs.push_back(reduction_->operands[i]);
    }
    for (const tir::BufferRegion* read : block_->reads)
      rf_.reads.push_back(tir::Substitute(read, rf_.renamed, workspace_));
    for (const tir::BufferRegion* write : block_->writes) {
      const auto* renamed = tir::Substitute(write, rf_.renamed, workspace_);
      std::vector<const tir::Range*> ranges(renamed->region.begin(), renamed->region.end());
      ranges.insert(ranges.begin() + axis_, workspace_.New<tir::Range>(part, make.Const(1, part->dtype)));
      const auto buffer = std::ranges::find(reduction_->buffers, write->buffer) - reduction_->buffers.begin();
      rf_.writes.push_back(MakeRegion(rf_buffers_[static_cast<size_t>(buffer)], ranges, workspace_));
    }
    MakeBlock(rf_, fmt::format("{}_rf", block_->name_hint));
  }

  void MakeBackPart() {
    const tir::IterVar* axis = AxisOf(rf_loop_, tir::IterVarType::kCommReduce);
    back_.axes.push_back(axis);
    back_.values.push_back(rf_loop_.loop_var);
    back_.renamed[rf_axis_->var] = axis->var;
    for (size_t i = 0; i < block_->iter_vars.size(); ++i) {
      const tir::IterVar& old = *block_->iter_vars[i];
      if (old.iter_type != tir::IterVarType::kDataPar) continue;
      const tir::Var* var = CopyVar(*old.var, workspace_);
      back_.axes.push_back(workspace_.New<tir::IterVar>(old.dom, var, tir::IterVarType::kDataPar));
      back_.values.push_back(realize_->iter_values[i]);
      back_.renamed[old.var] = var;
    }
    back_.buffers = reduction_->buffers;
    back_.indices.assign(reduction_->indices.begin(), reduction_->indices.end());
    for (size_t i = 0; i < rf_buffers_.size(); ++i) {
      back_.lhs.push_back(Load(reduction_->buffers[i], back_.indices));
      back_.rhs.push_back(PartOrIdentity(i, axis->var));
      back_.reads.push_back(RenamedRegion(rf_buffers_[i], rf_.indices));
      back_.writes.push_back(RenamedRegion(reduction_->buffers[i], back_.indices));
    }
    MakeBlock(back_, std::string(block_->name_hint));
  }

  // What the iteration of the rf loop adds to a result.
  const PrimExpr* PartOrIdentity(size_t i, const tir::Var* iteration) {
    const PrimExpr* part = Load(rf_buffers_[i], rf_.indices);
    if (!part_condition_) return part;
    const PrimExpr* condition = tir::Substitute(part_condition_, {{rf_loop_.loop_var, iteration}}, workspace_);
    return workspace_.New<tir::Call>(
        part->dtype, GetOp(op::kTirIfThenElse),
        workspace_.Copy(std::vector{condition, part, reduction_->reducer->identity_element[i]}));
  }

  const PrimExpr* Load(const tir::Buffer* buffer, const std::vector<const PrimExpr*>& indices) {
    return workspace_.New<tir::BufferLoad>(buffer->dtype, buffer, workspace_.Copy(indices));
  }

  const tir::BufferRegion* RenamedRegion(const tir::Buffer* buffer, const std::vector<const PrimExpr*>& indices) {
    return tir::Substitute(PointRegion(buffer, indices, workspace_), back_.renamed, workspace_);
  }

  const tir::Stmt* Stores(const Part& part, std::span<const PrimExpr* const> values) {
    std::vector<const tir::Stmt*> stores;
    for (size_t i = 0; i < values.size(); ++i)
      stores.push_back(workspace_.New<tir::BufferStore>(part.buffers[i], values[i], workspace_.Copy(part.indices)));
    return tir::MakeSeq(workspace_, stores);
  }

  void MakeBlock(Part& part, const std::string& name) {
    const bool reduces = std::ranges::any_of(
        part.axes, [](const tir::IterVar* axis) { return axis->iter_type == tir::IterVarType::kCommReduce; });
    const tir::Stmt* body = reduces ? Update(part) : Stores(part, part.rhs);
    const tir::Stmt* init = reduces ? Stores(part, reduction_->reducer->identity_element) : nullptr;
    part.block = workspace_.New<tir::Block>(
        workspace_.Copy(part.axes), workspace_.Copy(part.reads), workspace_.Copy(part.writes),
        workspace_.arena().CopyString(name), List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(),
        block_->annotations, init ? tir::Substitute(init, part.renamed, workspace_) : nullptr,
        tir::Substitute(body, part.renamed, workspace_));
  }

  // The new values are all computed before one of them is stored.
  const tir::Stmt* Update(const Part& part) {
    const tir::CommReducer& reducer = *reduction_->reducer;
    tir::VarValues operands;
    for (size_t i = 0; i < part.lhs.size(); ++i) {
      operands[reducer.lhs[i]] = part.lhs[i];
      operands[reducer.rhs[i]] = part.rhs[i];
    }
    std::vector<const PrimExpr*> values;
    for (const PrimExpr* result : reducer.result) values.push_back(tir::Substitute(result, operands, workspace_));
    if (values.size() == 1) return Stores(part, values);
    std::vector<const tir::Var*> vars;
    for (size_t i = 0; i < values.size(); ++i)
      vars.push_back(workspace_.NewPrimVar(fmt::format("v_{}", part.buffers[i]->name), values[i]->dtype));
    const std::vector<const PrimExpr*> names(vars.begin(), vars.end());
    const tir::Stmt* body = Stores(part, names);
    for (size_t i = vars.size(); i > 0; --i) body = workspace_.New<tir::LetStmt>(vars[i - 1], values[i - 1], body);
    return body;
  }

  // The conditions under which there is a part: those on loops of the result, and those that the first iteration of the
  // other loops of the reduction fulfills if any of them does.
  //
  //   for k0, k1, where k0 * 4 + k1 < 10        for k1, where k1 < 10
  //
  // An iteration of the rf loop without any other has no part, not even an initialized one, unless the initialization
  // becomes a block of its own, which has no such condition.
  Status FindBackConditions(const PrimExpr* condition) {
    if (const auto* both = As<tir::And>(condition)) {
      IROPT_RETURN_IF_ERROR(FindBackConditions(both->a));
      return FindBackConditions(both->b);
    }
    if (arith::AsInt(condition)) return {};
    const PrimExpr* at_first = condition;
    if (tir::UsesVar(condition, [&](const tir::Var* var) { return reduction_vars_.contains(var); })) {
      at_first = analyzer_.Simplify(tir::Substitute(condition, first_, workspace_));
      if (analyzer_.CanProve(at_first) || (all_parts_ && HasSymbolicSize(at_first))) return {};
      if (!HoldsFirst(condition))
        return state_.Refuse(
            "the condition of the block {0} may hold without holding for the first iteration of the "
            "loops of its reduction",
            {block_});
    }
    const auto add = [&](const PrimExpr*& all, const PrimExpr* clause) {
      all = all ? state_.make().Binary(NodeKind::kAnd, all, clause) : clause;
    };
    // A reduction without any part is initialized, too.
    const bool is_of_parts = HasSymbolicSize(at_first) &&
                             !tir::UsesVar(at_first, [&](const tir::Var* var) { return spatial_vars_.contains(var); });
    add(is_of_parts ? part_condition_ : back_condition_, at_first);
    return {};
  }

  bool HasSymbolicSize(const PrimExpr* condition) const {
    return tir::UsesVar(condition, [&](const tir::Var* var) {
      return std::ranges::none_of(loops_, [&](const Ref* ref) { return ref->loop().loop_var == var; });
    });
  }

  // Returns whether the condition holds for the first iteration of the loops of the reduction but the rf loop if it
  // holds for any: it bounds a sum of them.
  bool HoldsFirst(const PrimExpr* condition) {
    const auto* order = As<tir::BinaryExpr>(condition);
    const bool is_less = condition->kind == NodeKind::kLT || condition->kind == NodeKind::kLE;
    if (!is_less && condition->kind != NodeKind::kGT && condition->kind != NodeKind::kGE) return false;
    std::vector<const tir::Var*> vars;
    for (const tir::Var* var : VarsOf(condition)) {
      if (first_.contains(var)) vars.push_back(var);
    }
    const PrimExpr* grows =
        is_less ? analyzer_.make().Sub(order->a, order->b) : analyzer_.make().Sub(order->b, order->a);
    const auto coefficients = arith::DetectLinearEquation(grows, vars, analyzer_);
    if (!coefficients) return false;
    for (size_t i = 0; i < vars.size(); ++i) {
      if (!analyzer_.CanProveGreaterEqual((*coefficients)[i], 0)) return false;
    }
    return true;
  }

  Result<Ref*> Replace(Ref* scope, Ref* ref) {
    tir::VarValues renamed;
    for (const Ref* loop : loops_) renamed[loop->loop().loop_var] = CopyVar(*loop->loop().loop_var, workspace_);
    const tir::Stmt* nest =
        tir::Substitute(MakeRealize(rf_.values, realize_->predicate, rf_.block, workspace_), renamed, workspace_);
    rf_.block = To<tir::BlockRealize>(nest)->block;
    for (size_t i = loops_.size(); i > 0; --i) {
      auto* copy = workspace_.New<tir::For>(loops_[i - 1]->loop());
      copy->loop_var = To<tir::Var>(renamed[copy->loop_var]);
      copy->min = tir::Substitute(copy->min, renamed, workspace_);
      copy->extent = tir::Substitute(copy->extent, renamed, workspace_);
      copy->body = nest;
      nest = copy;
    }
    const tir::BlockRealize* back = MakeRealize(back_.values, back_condition_, back_.block, workspace_);
    const tir::Block* old_scope = &scope->block();
    ScopeSplitter splitter(old_scope, nest, loops_, &rf_loop_, reduction_vars_, realize_, back, workspace_);
    const tir::Block* new_scope =
        CopyBlock(*To<tir::Block>(splitter.VisitStmt(old_scope)), workspace_, [&](tir::Block& copy) {
          for (const tir::Buffer* buffer : rf_buffers_)
            copy.alloc_buffers = With(copy.alloc_buffers, buffer, workspace_);
        });
    state_.Replace(scope, new_scope, {{old_scope, new_scope}, {&ref->block(), back_.block}});
    // As TVM takes for granted, though the condition of the first block may be on several of its axes.
    state_.Trust(state_.RefOf(rf_.block));
    state_.Trust(ref);
    return state_.RefOf(rf_.block);
  }

  State& state_;
  Workspace& workspace_;
  const bool all_parts_;
  Ref* loop_;
  const tir::For& rf_loop_;
  arith::Analyzer analyzer_;
  const tir::BlockRealize* realize_ = nullptr;
  const tir::Block* block_ = nullptr;
  std::vector<Ref*> loops_;
  VarSet spatial_vars_, reduction_vars_;
  std::optional<BlockReduction> reduction_;
  int64_t axis_ = 0;
  std::vector<const tir::Buffer*> rf_buffers_;
  const tir::IterVar* rf_axis_ = nullptr;
  tir::VarValues first_;                      // the first values of the loops of the reduction but the rf loop
  const PrimExpr* part_condition_ = nullptr;  // of the parts, where sizes are symbolic
  const PrimExpr* back_condition_ = nullptr;  // of the block that reduces the parts; null without one
  Part rf_, back_;
};

}  // namespace

Status ApplyRFactor(PrimitiveCall& call, const args::RFactor<Resolved>& args) {
  IROPT_ASSIGN_OR_RETURN(Ref * block,
                         RFactorer(call.state(), args.loop, call.schedule().initializes_parts()).Run(args.factor_axis));
  call.Return(block);
  return {};
}

}  // namespace iropt::schedule
