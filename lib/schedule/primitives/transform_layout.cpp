// Giving a buffer another layout.
//
//   lambda i: (i // 4, i % 4)        B[i] = A[i]      -->      B[i // 4, i % 4] = A[i]
//
// If the new shape has positions that the old one has not, the padding gets a value: facts about an input are assumed
// before the scope (prologue); a loop nest that stores all elements in order becomes one over the new positions, which
// stores the value in padding (replacement); or a block after the last store does it (epilogue).
//
// Source: TVM's TransformLayout (src/tir/schedule/primitive/layout_transformation.cc).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "buffer_sites.h"
#include "iropt/analysis/tir/block_access.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/map_list.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "schedule/checks.h"
#include "schedule/index_map_tools.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;
using Exprs = std::vector<const PrimExpr*>;

// The new layout of a buffer, and its inverse.
struct Layout {
  const tir::Buffer* old_buffer = nullptr;
  const tir::Buffer* new_buffer = nullptr;
  const IndexMapAttr* map = nullptr;
  std::vector<const tir::Var*> axes;        // new positions
  Exprs positions;                          // the old ones of these
  const PrimExpr* padding = nullptr;        // where new positions are padding; null: nowhere
  const IndexMapAttr* pad_value = nullptr;  // of the new positions; null if none was given
};

Exprs AsExprs(const std::vector<const tir::Var*>& vars) { return {vars.begin(), vars.end()}; }

// Loops over the new positions around a statement.
const tir::Stmt* LoopOverAxes(const Layout& layout, const tir::Stmt* body, Workspace& workspace) {
  for (size_t i = layout.axes.size(); i > 0; --i)
    body = MakeLoop(layout.axes[i - 1], layout.new_buffer->shape[i - 1], body, workspace);
  return body;
}

// ---- Stores that can be replaced

struct WriteInfo {
  const tir::BufferStore* store;
  const tir::BlockRealize* realize;    // the innermost block around it; null if there is none
  std::vector<const tir::For*> loops;  // from the first to the last that its indices depend on
  bool is_row_major = false;           // the loops run through all elements in order
};

class WriteFinder : public tir::StmtExprVisitor {
 public:
  WriteFinder(const tir::Buffer* buffer, Workspace& workspace) : buffer_(buffer), values_(workspace) {}
  std::vector<WriteInfo> writes;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitFor(const tir::For* loop) override {
    depths_[loop->loop_var] = {loops_.size(), loops_.size()};
    loops_.push_back(loop);
    StmtExprVisitor::VisitFor(loop);
    loops_.pop_back();
    depths_.erase(loop->loop_var);
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    Bind(let->var, let->value);
    StmtExprVisitor::VisitLetStmt(let);
    Unbind(let->var);
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::BlockRealize* outer = std::exchange(realize_, realize);
    for (size_t i = 0; i < realize->iter_values.size(); ++i)
      Bind(realize->block->iter_vars[i]->var, realize->iter_values[i]);
    StmtExprVisitor::VisitBlockRealize(realize);
    for (const tir::IterVar* axis : realize->block->iter_vars) Unbind(axis->var);
    realize_ = outer;
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    if (store->buffer != buffer_) return;
    std::optional<Depths> depths;
    for (const PrimExpr* index : store->indices) Widen(depths, DepthsOf(index));
    WriteInfo& info = writes.emplace_back(WriteInfo{store, realize_, {}, false});
    if (depths)
      info.loops.assign(loops_.begin() + static_cast<std::ptrdiff_t>(depths->first),
                        loops_.begin() + static_cast<std::ptrdiff_t>(depths->last) + 1);
    info.is_row_major = IsRowMajor(info);
  }

 private:
  struct Depths {
    size_t first;
    size_t last;
  };

  static void Widen(std::optional<Depths>& depths, const std::optional<Depths>& other) {
    if (!other) return;
    depths = depths ? Depths{std::min(depths->first, other->first), std::max(depths->last, other->last)} : *other;
  }
  // The loops that the expression depends on.
  std::optional<Depths> DepthsOf(const PrimExpr* expr) const {
    std::optional<Depths> depths;
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      const auto* found = depths_.Find(var);
      if (found) Widen(depths, *found);
    });
    return depths;
  }
  void Bind(const tir::Var* var, const PrimExpr* value) {
    const std::optional<Depths> depths = DepthsOf(value);
    if (!depths) return;
    depths_[var] = *depths;
    values_.Bind(var, value);
  }
  void Unbind(const tir::Var* var) {
    depths_.erase(var);
    values_.Unbind(var);
  }
  bool IsRowMajor(const WriteInfo& info) const {
    const List<const PrimExpr*> indices = info.store->indices;
    if (info.loops.empty() || info.loops.size() != buffer_->shape.size() || info.loops.size() != indices.size())
      return false;
    for (size_t i = 0; i < info.loops.size(); ++i) {
      const tir::For& loop = *info.loops[i];
      if (values_.Of(indices[i]) != loop.loop_var || !arith::IsInt(loop.min, 0) ||
          !DeepEqual(loop.extent, buffer_->shape[i]) || loop.for_kind != tir::ForKind::kSerial)
        return false;
    }
    return true;
  }

  const tir::Buffer* buffer_;
  std::vector<const tir::For*> loops_;
  const tir::BlockRealize* realize_ = nullptr;
  LookupMap<const tir::Var*, Depths> depths_;
  tir::WrittenValues values_;
};

// Makes the body of a row-major loop nest one over the new positions.
class NestReplacer : public tir::StmtExprMutator {
 public:
  NestReplacer(const WriteInfo& info, const Layout& layout, Analyzer& analyzer, Workspace& workspace)
      : StmtExprMutator(workspace),
        info_(info),
        layout_(layout),
        analyzer_(analyzer),
        indices_(AsExprs(layout.axes)),
        padding_(layout.padding) {
    for (size_t i = 0; i < info.loops.size(); ++i) renamed_[info.loops[i]->loop_var] = layout.positions[i];
    if (info.realize) {
      axes_.assign(info.realize->block->iter_vars.begin(), info.realize->block->iter_vars.end());
      values_.assign(info.realize->iter_values.begin(), info.realize->iter_values.end());
      MakeAxes();
    }
  }

  bool replaced_all = true;
  BlockReuse reuse;

 protected:
  const PrimExpr* VisitVar(const tir::Var* var) override { return renamed_.Lookup(var, var); }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    if (store->buffer != info_.store->buffer || !DeepEqual(store->indices, info_.store->indices)) {
      replaced_all = false;
      return StmtExprMutator::VisitBufferStore(store);
    }
    const PrimExpr* pad = MapIndices(*layout_.pad_value, indices_, analyzer_)[0];
    const PrimExpr* value =
        Intrinsic(op::kTirIfThenElse, store->value->dtype, {padding_, pad, store->value}, workspace());
    const auto* replaced = workspace().New<tir::BufferStore>(layout_.new_buffer, value, workspace().Copy(indices_));
    return StmtExprMutator::VisitBufferStore(replaced);
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const auto* visited = To<tir::BlockRealize>(StmtExprMutator::VisitBlockRealize(realize));
    if (realize != info_.realize) return visited;
    auto* copy = workspace().New<tir::BlockRealize>(*visited);
    copy->iter_values = workspace().Copy(values_);
    copy->block =
        CopyBlock(*visited->block, workspace(), [&](tir::Block& block) { block.iter_vars = workspace().Copy(axes_); });
    reuse.emplace_back(realize->block, copy->block);
    return copy;
  }

 private:
  // Axes of the block for the new positions, if the indices of the store are axes that follow each other.
  void MakeAxes() {
    const List<const PrimExpr*> old = info_.store->indices;
    const List<const tir::IterVar*> axes = info_.realize->block->iter_vars;
    if (old.empty() || axes.size() < old.size()) return;
    size_t start = 0;
    while (start < axes.size() - old.size() && old[0] != axes[start]->var) ++start;
    for (size_t i = 0; i < old.size(); ++i) {
      if (old[i] != axes[start + i]->var || axes[start + i]->iter_type != tir::IterVarType::kDataPar) return;
    }
    const arith::PrimBuilder make(workspace());
    std::vector<const tir::IterVar*> new_axes(axes.begin(), axes.begin() + start);
    Exprs new_values(info_.realize->iter_values.begin(), info_.realize->iter_values.begin() + start);
    tir::VarValues of_loops;
    indices_.clear();
    for (size_t i = 0; i < layout_.axes.size(); ++i) {
      const PrimExpr* dim = layout_.new_buffer->shape[i];
      const tir::Var* var = workspace().NewPrimVar(fmt::format("v_{}", layout_.axes[i]->name), layout_.axes[i]->dtype);
      new_axes.push_back(workspace().New<tir::IterVar>(workspace().New<tir::Range>(make.Const(0, dim->dtype), dim), var,
                                                       tir::IterVarType::kDataPar));
      new_values.push_back(layout_.axes[i]);
      indices_.push_back(var);
      of_loops[layout_.axes[i]] = var;
    }
    for (size_t i = start + old.size(); i < axes.size(); ++i) {
      new_axes.push_back(axes[i]);
      new_values.push_back(info_.realize->iter_values[i]);
    }
    for (size_t i = 0; i < old.size(); ++i)
      renamed_[To<tir::Var>(old[i])] = tir::Substitute(layout_.positions[i], of_loops, workspace());
    padding_ = tir::Substitute(padding_, of_loops, workspace());
    axes_ = std::move(new_axes);
    values_ = std::move(new_values);
  }

  const WriteInfo& info_;
  const Layout& layout_;
  Analyzer& analyzer_;
  Exprs indices_;
  const PrimExpr* padding_;
  tir::VarValues renamed_;
  std::vector<const tir::IterVar*> axes_;
  Exprs values_;
};

// ---- The plan for padding

struct PaddingPlan {
  const tir::Stmt* prologue = nullptr;
  LookupMap<const tir::Stmt*, const tir::Stmt*> replacements;
  const tir::Stmt* insert_after = nullptr;
  const tir::Stmt* epilogue = nullptr;
  BlockReuse reuse;
};

class Planner {
 public:
  Planner(const Layout& layout, const tir::Block* scope, Analyzer& analyzer, Workspace& workspace)
      : layout_(layout), scope_(scope), analyzer_(analyzer), workspace_(workspace) {}

  PaddingPlan Plan() {
    PaddingPlan plan;
    if (!layout_.padding || !layout_.pad_value) return plan;
    WriteFinder finder(layout_.old_buffer, workspace_);
    finder.VisitStmt(scope_);
    if (finder.writes.empty()) {
      plan.prologue = Prologue();
      return plan;
    }
    for (const WriteInfo& info : finder.writes) {
      if (!info.is_row_major) continue;
      NestReplacer replacer(info, layout_, analyzer_, workspace_);
      const tir::Stmt* body = replacer.VisitStmt(info.loops.back()->body);
      if (!replacer.replaced_all) continue;
      plan.replacements[info.loops[0]] = LoopOverAxes(layout_, body, workspace_);
      plan.reuse.insert(plan.reuse.end(), replacer.reuse.begin(), replacer.reuse.end());
    }
    if (!plan.replacements.empty()) return plan;
    const WriteInfo& last = finder.writes.back();
    plan.insert_after = !last.loops.empty() ? static_cast<const tir::Stmt*>(last.loops[0]) : last.realize;
    if (plan.insert_after) plan.epilogue = Epilogue();
    return plan;
  }

 private:
  // A block with an axis for each new position, around a statement.
  const tir::Stmt* OverAllPositions(const std::string& name, const PrimExpr* condition, bool writes,
                                    const std::vector<const tir::Var*>& vars, const tir::Stmt* body) {
    const arith::PrimBuilder make(workspace_);
    std::vector<const tir::IterVar*> axes;
    std::vector<const tir::Range*> point;
    for (size_t i = 0; i < vars.size(); ++i) {
      const PrimExpr* dim = layout_.new_buffer->shape[i];
      axes.push_back(workspace_.New<tir::IterVar>(
          workspace_.New<tir::Range>(make.Const(0, vars[i]->dtype), make.Cast(vars[i]->dtype, dim)), vars[i],
          tir::IterVarType::kDataPar));
      point.push_back(workspace_.New<tir::Range>(vars[i], make.Const(1, vars[i]->dtype)));
    }
    const tir::BufferRegion* region[] = {MakeRegion(layout_.new_buffer, point, workspace_)};
    const auto regions = workspace_.Copy(std::span<const tir::BufferRegion* const>(region));
    const List<const tir::BufferRegion*> none;
    const auto* block = workspace_.New<tir::Block>(
        workspace_.Copy(axes), writes ? none : regions, writes ? regions : none, workspace_.arena().CopyString(name),
        List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
    return LoopOverAxes(layout_, MakeRealize(AsExprs(layout_.axes), condition, block, workspace_), workspace_);
  }

  std::vector<const tir::Var*> BlockVars(tir::VarValues& of_loops) {
    std::vector<const tir::Var*> vars;
    for (const tir::Var* axis : layout_.axes) {
      vars.push_back(workspace_.NewPrimVar(fmt::format("v_{}", axis->name), axis->dtype));
      of_loops[axis] = vars.back();
    }
    return vars;
  }

  const tir::Stmt* Prologue() {
    const arith::PrimBuilder make(workspace_);
    tir::VarValues of_loops;
    const std::vector<const tir::Var*> vars = BlockVars(of_loops);
    const Exprs indices = AsExprs(vars);
    const PrimExpr* padding = tir::Substitute(layout_.padding, of_loops, workspace_);
    const PrimExpr* pad = MapIndices(*layout_.pad_value, indices, analyzer_)[0];
    const auto* load =
        workspace_.New<tir::BufferLoad>(layout_.new_buffer->dtype, layout_.new_buffer, workspace_.Copy(indices));
    const PrimExpr* known = make.Binary(NodeKind::kOr, make.Not(padding), make.Binary(NodeKind::kEQ, load, pad));
    const auto* assume =
        workspace_.New<tir::Evaluate>(Intrinsic(op::kTirAssume, DataType::Bool(), {known}, workspace_));
    return OverAllPositions(fmt::format("buffer_{}_assumptions", layout_.new_buffer->name), nullptr, /*writes=*/false,
                            vars, assume);
  }

  const tir::Stmt* Epilogue() {
    tir::VarValues of_loops;
    const std::vector<const tir::Var*> vars = BlockVars(of_loops);
    const Exprs indices = AsExprs(vars);
    const PrimExpr* pad = MapIndices(*layout_.pad_value, indices, analyzer_)[0];
    const auto* store = workspace_.New<tir::BufferStore>(layout_.new_buffer, pad, workspace_.Copy(indices));
    return OverAllPositions(fmt::format("buffer_{}_padding", layout_.new_buffer->name), layout_.padding,
                            /*writes=*/true, vars, store);
  }

  const Layout& layout_;
  const tir::Block* scope_;
  Analyzer& analyzer_;
  Workspace& workspace_;
};

// ---- Rewriting

class LayoutRewriter : public arith::StmtExprMutatorWithAnalyzer {
 public:
  LayoutRewriter(const Layout& layout, const PaddingPlan& plan, Analyzer& analyzer, Workspace& workspace)
      : StmtExprMutatorWithAnalyzer(analyzer, workspace, {.mutator = {}}),
        layout_(layout),
        plan_(plan),
        simplifier_(arith::PrimBuilder(workspace), Analyzer::SymVars::kAny),
        bindings_(workspace) {
    known_[layout.new_buffer->data] = layout.new_buffer;
  }
  BlockReuse reuse;
  bool has_vector_access = false;  // which stays as it was

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    const tir::Stmt* visited = StmtExprMutatorWithAnalyzer::VisitStmt(stmt);
    if (!plan_.epilogue || stmt != plan_.insert_after) return visited;
    const tir::Stmt* both[] = {visited, plan_.epilogue};
    return tir::MakeSeq(workspace(), both);
  }

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* found = plan_.replacements.Find(loop);
    return !found ? StmtExprMutatorWithAnalyzer::VisitFor(loop) : VisitStmt(*found);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(StmtExprMutatorWithAnalyzer::VisitBufferLoad(load));
    if (visited->buffer != layout_.old_buffer || IsVector(visited->indices)) return visited;
    auto* copy = workspace().New<tir::BufferLoad>(*visited);
    copy->buffer = layout_.new_buffer;
    if (!IsMention(*visited)) copy->indices = NewIndices(visited->indices);
    return copy;
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const auto* visited = To<tir::BufferStore>(StmtExprMutatorWithAnalyzer::VisitBufferStore(store));
    if (visited->buffer != layout_.old_buffer || IsVector(visited->indices)) return visited;
    auto* copy = workspace().New<tir::BufferStore>(*visited);
    copy->buffer = layout_.new_buffer;
    copy->indices = NewIndices(visited->indices);
    return copy;
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(StmtExprMutatorWithAnalyzer::VisitBlock(block));
    const BlockAccesses found = GetBlockReadWriteRegion(*visited, known_, workspace());
    const tir::Block* result = CopyBlock(*visited, workspace(), [&](tir::Block& copy) {
      if (!found.reads.empty()) copy.reads = ReplaceRegion(copy.reads, layout_.old_buffer, found.reads[0], workspace());
      if (!found.writes.empty())
        copy.writes = ReplaceRegion(copy.writes, layout_.old_buffer, found.writes[0], workspace());
      std::vector<const tir::Buffer*> buffers(copy.alloc_buffers.begin(), copy.alloc_buffers.end());
      std::ranges::replace(buffers, layout_.old_buffer, layout_.new_buffer);
      copy.alloc_buffers = workspace().Copy(buffers);
    });
    const auto replaced = std::ranges::find(plan_.reuse, block, &BlockReuse::value_type::second);
    reuse.emplace_back(replaced == plan_.reuse.end() ? block : replaced->first, result);
    return result;
  }

 private:
  bool IsVector(List<const PrimExpr*> indices) {
    const bool is_vector = IsVectorAccess(indices);
    has_vector_access = has_vector_access || is_vector;
    return is_vector;
  }

  List<const PrimExpr*> NewIndices(List<const PrimExpr*> indices) {
    List<const PrimExpr*> mapped =
        workspace().Copy(SimplifyIndices(workspace().Copy(MapIndices(*layout_.map, indices, simplifier_))));
    if (std::ranges::none_of(indices, BindsVar)) return mapped;
    // An index may become several.
    return MapList(mapped, workspace(), [&](const PrimExpr* index) { return bindings_.VisitExpr(index); });
  }

  const Layout& layout_;
  const PaddingPlan& plan_;
  Analyzer simplifier_;
  BuffersByPointer known_;
  BindingRenewer bindings_;
};

// The old positions of new ones, and where these are padding; false if the map cannot be inverted.
bool Invert(Layout& layout, Analyzer& analyzer, Workspace& workspace) {
  const arith::PrimBuilder& make = analyzer.make();
  const IndexMapAttr& map = *layout.map;
  const List<const PrimExpr*> shape = layout.old_buffer->shape;
  if (map.inverse) {
    for (size_t i = 0; i < map.inverse->params.size(); ++i)
      layout.axes.push_back(workspace.NewPrimVar(map.inverse->param_names[i], layout.new_buffer->shape[i]->dtype));
    layout.positions = ApplyMap(*map.inverse, AsExprs(layout.axes), make);
    return layout.axes.size() == map.results.size();
  }
  Exprs params;
  arith::IterRanges ranges;
  for (size_t i = 0; i < shape.size(); ++i) {
    const tir::Var* var = workspace.NewPrimVar(map.param_names[i], shape[i]->dtype);
    params.push_back(var);
    ranges.insert_or_assign(var, tir::Range(make.Const(0, shape[i]->dtype), shape[i]));
  }
  const Exprs results = ApplyMap(map, params, make);
  for (size_t i = 0; i < results.size(); ++i)
    layout.axes.push_back(workspace.NewPrimVar(fmt::format("axis{}", i), results[i]->dtype));
  const auto inverse =
      arith::InverseIterMap(results, AsExprs(layout.axes), ranges,
                            {.level = arith::IterMapLevel::kNoCheck, .simplify_trivial_iterators = false}, analyzer);
  if (!inverse) return false;
  for (const PrimExpr* param : params)
    layout.positions.push_back(analyzer.Simplify(inverse->values.at(To<tir::Var>(param))));
  if (!inverse->padding_predicate) return true;
  Analyzer with_ranges(make, Analyzer::SymVars::kAny);
  for (size_t i = 0; i < layout.axes.size(); ++i)
    with_ranges.Bind(layout.axes[i], make.Const(0, layout.axes[i]->dtype), layout.new_buffer->shape[i]);
  const PrimExpr* padding = tir::Substitute(inverse->padding_predicate, inverse->values, workspace);
  padding = with_ranges.Simplify(padding, 10);
  if (!arith::IsInt(padding, 0)) layout.padding = padding;
  return true;
}

Status CheckPadValue(State& state, const tir::Buffer& buffer, const IndexMapAttr& pad_value) {
  if (pad_value.results.size() != 1)
    return state.Refuse(
        fmt::format("the pad value {} has {} results: expected one", ToPython(pad_value), pad_value.results.size()));
  if (pad_value.results[0]->dtype != buffer.dtype)
    return state.Refuse(fmt::format("the pad value {2} is of {3}: expected {1}, as in the buffer {0}", buffer.name,
                                    buffer.dtype.ToString(), ToPython(pad_value),
                                    pad_value.results[0]->dtype.ToString()));
  return {};
}

}  // namespace

Status ApplyTransformLayout(PrimitiveCall& call, const args::TransformLayout<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BindShapes(*state.func(), analyzer);
  IROPT_ASSIGN_OR_RETURN(const BufferSite site,
                         FindBufferSite(state, args.block, args.buffer_index, args.buffer_index_type));
  Layout layout;
  layout.old_buffer = site.buffer;
  layout.map = args.index_map;
  layout.pad_value = args.pad_value;
  const tir::Buffer& old_buffer = *site.buffer;
  if (layout.map->params.size() != old_buffer.shape.size())
    return call.Refuse(fmt::format("the index map {} has {} parameters, but the buffer {} has {} dimensions",
                                   ToPython(*layout.map), layout.map->params.size(), old_buffer.name,
                                   old_buffer.shape.size()));
  if (layout.pad_value) IROPT_RETURN_IF_ERROR(CheckPadValue(state, old_buffer, *layout.pad_value));
  const auto shape = MapShape(*layout.map, old_buffer.shape, analyzer, workspace);
  if (!shape) return call.Refuse(fmt::format("the index map {} does not begin with 0", ToPython(*layout.map)));
  if (layout.pad_value && layout.pad_value->params.size() != shape->size())
    return call.Refuse("the pad value needs one parameter for each dimension of the new layout");
  auto* new_buffer = workspace.New<tir::Buffer>(old_buffer);
  new_buffer->id = workspace.NextVarId();
  new_buffer->shape = workspace.Copy(*shape);
  new_buffer->strides = {};  // the new layout is that of the whole memory
  layout.new_buffer = new_buffer;
  if (!args.assume_injective_transform) {
    if (!Invert(layout, analyzer, workspace))
      return call.Refuse(fmt::format("could not parse the mapping {} as sums of iterators", ToPython(*layout.map)));
    if (layout.padding && !layout.pad_value)
      return call.Refuse(fmt::format("the index map {} adds elements to the buffer {}: expected a pad value",
                                     ToPython(*layout.map), old_buffer.name));
  }
  const tir::Block* scope = &site.scope->block();
  const PaddingPlan plan = Planner(layout, scope, analyzer, workspace).Plan();
  LayoutRewriter rewriter(layout, plan, analyzer, workspace);
  const auto* new_scope = To<tir::Block>(rewriter.VisitStmt(scope));
  if (rewriter.has_vector_access)
    return state.Refuse(fmt::format("vectors of elements of the buffer {} are accessed: {{0}}", old_buffer.name),
                        {scope});
  if (plan.prologue) {
    const tir::Stmt* both[] = {plan.prologue, new_scope->body};
    const auto* with_prologue = To<tir::Block>(WithBody(*new_scope, tir::MakeSeq(workspace, both), workspace));
    rewriter.reuse.emplace_back(scope, with_prologue);
    std::erase_if(rewriter.reuse, [&](const auto& pair) { return pair.second == new_scope; });
    new_scope = with_prologue;
  }
  if (site.is_param) ReplaceParamBuffer(state, site.buffer, new_buffer);
  state.Replace(site.scope, new_scope, rewriter.reuse);
  return {};
}

}  // namespace iropt::schedule
