#include "stmt_tools.h"

#include <algorithm>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/map_list.h"
#include "iropt/support/check.h"

namespace iropt::schedule {

namespace {

class ChildCollector : public StmtWalker {
 public:
  std::vector<const tir::BlockRealize*> found;

 protected:
  void VisitBlockRealize(const tir::BlockRealize* realize) override { found.push_back(realize); }
};

class BlockCollector : public StmtWalker {
 public:
  std::vector<const tir::Block*> found;

 protected:
  void VisitBlock(const tir::Block* block) override {
    found.push_back(block);
    StmtWalker::VisitBlock(block);
  }
};

class BufferReplacer : public tir::StmtExprMutator {
 public:
  BufferReplacer(const BufferMap& buffers, Workspace& workspace) : StmtExprMutator(workspace), buffers_(buffers) {
    buffers.ForEachInAnyOrder([&](const tir::Buffer* from, const tir::Buffer* to) {
      Remap(from, to);
      if (from->data != to->data) Remap(from->data, to->data);
    });
  }

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override {
    const auto* found = buffers_.Find(buffer);
    return found ? *found : StmtExprMutator::VisitBufferDef(buffer);
  }
  const tir::MatchBufferRegion* VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override {
    const tir::Buffer* source = RemapOf(match->source->buffer);
    if (!source || source->scope() == match->buffer->scope()) return StmtExprMutator::VisitMatchBufferRegion(match);
    const tir::Buffer* view = CopyBuffer(*match->buffer, {.scope = source->scope(), .is_view = true}, workspace());
    Remap(match->buffer, view);
    Remap(match->buffer->data, view->data);
    return workspace().New<tir::MatchBufferRegion>(view, VisitBufferRegion(match->source));
  }

 private:
  const BufferMap& buffers_;
};

class BindingSimplifier : public tir::StmtExprMutator {
 public:
  BindingSimplifier(arith::IterRanges loops, bool preserve_unit_iters, Workspace& workspace)
      : StmtExprMutator(workspace),
        loops_(std::move(loops)),
        preserve_unit_iters_(preserve_unit_iters),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    loops_.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    loops_.erase(loop->loop_var);
    return visited;
  }
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    if (realize->iter_values.empty()) return StmtExprMutator::VisitBlockRealize(realize);
    const auto values =
        arith::SimplifyIterMaps(realize->iter_values, loops_, realize->predicate, !preserve_unit_iters_, analyzer_);
    if (std::ranges::equal(values, realize->iter_values)) return realize;
    auto* copy = workspace().New<tir::BlockRealize>(*realize);
    copy->iter_values = workspace().Copy(values);
    return copy;
  }

 private:
  arith::IterRanges loops_;
  const bool preserve_unit_iters_;
  arith::Analyzer analyzer_;
};

// Statements that are not in a block.
class BareStmtFinder : public StmtWalker {
 public:
  bool found = false;

 protected:
  void VisitBlock(const tir::Block*) override {}
  void VisitBufferStore(const tir::BufferStore*) override { found = true; }
  void VisitEvaluate(const tir::Evaluate* stmt) override { found = found || !arith::IsPure(stmt->value); }
};

}  // namespace

const tir::Stmt* BodyOf(const tir::Stmt& stmt) {
  if (const auto* loop = As<tir::For>(&stmt)) return loop->body;
  return To<tir::Block>(&stmt)->body;
}

const tir::Stmt* WithBody(const tir::Stmt& stmt, const tir::Stmt* body, Workspace& workspace) {
  if (const auto* loop = As<tir::For>(&stmt)) {
    auto* copy = workspace.New<tir::For>(*loop);
    copy->body = body;
    return copy;
  }
  auto* copy = workspace.New<tir::Block>(*To<tir::Block>(&stmt));
  copy->body = body;
  return copy;
}

std::vector<const tir::BlockRealize*> ChildRealizes(const tir::Stmt& stmt) { return RealizesIn(BodyOf(stmt)); }

std::vector<const tir::BlockRealize*> RealizesIn(const tir::Stmt* stmt) {
  ChildCollector collector;
  collector.VisitStmt(stmt);
  return std::move(collector.found);
}

bool HasBareStmts(const tir::Stmt& block_or_loop) {
  BareStmtFinder finder;
  finder.VisitStmt(BodyOf(block_or_loop));
  return finder.found;
}

std::vector<const tir::Stmt*> StatementsOf(const tir::Stmt* body) {
  if (const auto* seq = As<tir::SeqStmt>(body)) return {seq->seq.begin(), seq->seq.end()};
  return {body};
}

const tir::Stmt* BelowDeclarations(const tir::Stmt* body) {
  if (const auto* constant = As<tir::AllocateConst>(body)) return BelowDeclarations(constant->body);
  if (const auto* decl = As<tir::DeclBuffer>(body)) return BelowDeclarations(decl->body);
  return body;
}

const tir::Stmt* WithBelowDeclarations(const tir::Stmt* body, const tir::Stmt* below, Workspace& workspace) {
  if (const auto* decl = As<tir::DeclBuffer>(body))
    return workspace.New<tir::DeclBuffer>(decl->buffer, WithBelowDeclarations(decl->body, below, workspace));
  const auto* constant = As<tir::AllocateConst>(body);
  if (!constant) return below;
  auto* copy = workspace.New<tir::AllocateConst>(*constant);
  copy->body = WithBelowDeclarations(constant->body, below, workspace);
  return copy;
}

std::vector<const tir::Block*> BlocksOf(const tir::Stmt* stmt) {
  BlockCollector collector;
  collector.VisitStmt(stmt);
  return std::move(collector.found);
}

BlockReuse PairBlocks(const tir::Stmt* old_stmt, const tir::Stmt* new_stmt) {
  const auto old_blocks = BlocksOf(old_stmt);
  const auto new_blocks = BlocksOf(new_stmt);
  IROPT_CHECK(old_blocks.size() == new_blocks.size(), "trees of different structure");
  BlockReuse reuse;
  for (size_t i = 0; i < old_blocks.size(); ++i) {
    if (old_blocks[i] != new_blocks[i]) reuse.emplace_back(old_blocks[i], new_blocks[i]);
  }
  return reuse;
}

tir::VarValues BindingsOf(const tir::BlockRealize& realize, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  tir::VarValues values;
  for (size_t i = 0; i < realize.iter_values.size(); ++i) {
    const tir::Var* var = realize.block->iter_vars[i]->var;
    values[var] = make.Cast(var->dtype, realize.iter_values[i]);
  }
  return values;
}

bool IsTrue(const PrimExpr* condition) { return arith::IsInt(condition, 1); }

bool UsesBuffer(List<const tir::BufferRegion*> regions, const tir::Buffer* buffer) {
  return std::ranges::any_of(regions, [&](const tir::BufferRegion* region) { return region->buffer == buffer; });
}

std::string_view KindWord(const tir::Stmt& stmt) { return Is<tir::For>(&stmt) ? "loop" : "block"; }

const tir::For* MakeLoop(const tir::Var* var, const PrimExpr* extent, const tir::Stmt* body, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  if (extent->dtype != var->dtype) extent = make.Cast(var->dtype, extent);
  return workspace.New<tir::For>(var, make.Const(0, var->dtype), extent, tir::ForKind::kSerial, body, nullptr,
                                 DictAttr::Empty());
}

const tir::BlockRealize* MakeRealize(std::span<const PrimExpr* const> values, const PrimExpr* predicate,
                                     const tir::Block* block, Workspace& workspace) {
  if (!predicate) predicate = arith::PrimBuilder(workspace).Bool(true);
  return workspace.New<tir::BlockRealize>(workspace.Copy(values), predicate, block);
}

const tir::BufferRegion* MakeRegion(const tir::Buffer* buffer, std::span<const tir::Range* const> ranges,
                                    Workspace& workspace) {
  return workspace.New<tir::BufferRegion>(buffer, workspace.Copy(ranges));
}

std::vector<const tir::Range*> Points(std::span<const PrimExpr* const> indices, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  std::vector<const tir::Range*> ranges;
  for (const PrimExpr* index : indices) ranges.push_back(workspace.New<tir::Range>(index, make.Const(1, index->dtype)));
  return ranges;
}

const tir::BufferRegion* PointRegion(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                                     Workspace& workspace) {
  return MakeRegion(buffer, Points(indices, workspace), workspace);
}

const tir::BufferRegion* FullRegion(const tir::Buffer* buffer, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  std::vector<const tir::Range*> ranges;
  for (const PrimExpr* dim : buffer->shape)
    ranges.push_back(workspace.New<tir::Range>(make.Const(0, DataType::Int(32)), dim));
  return MakeRegion(buffer, ranges, workspace);
}

const tir::Block* CopyBlock(const tir::Block& block, Workspace& workspace,
                            const std::function<void(tir::Block&)>& change) {
  auto* copy = workspace.New<tir::Block>(block);
  change(*copy);
  return copy;
}

const tir::Var* CopyVar(const tir::Var& var, Workspace& workspace, std::string_view suffix) {
  return workspace.NewPrimVar(std::string(var.name) + std::string(suffix), var.dtype, var.pointer);
}

const tir::Buffer* CopyBuffer(const tir::Buffer& buffer, const BufferChange& change, Workspace& workspace) {
  auto* copy = workspace.New<tir::Buffer>(buffer);
  copy->id = workspace.NextVarId();
  if (!change.name.empty()) copy->name = workspace.arena().CopyString(change.name);
  if (!change.dtype.is_void()) copy->dtype = change.dtype;
  const tir::PointerInfo* pointer = buffer.data->pointer;
  std::string_view scope = change.scope.empty() ? (pointer ? pointer->scope : std::string_view()) : change.scope;
  // Memory of truth values is typed as bytes.
  const DataType stored = copy->dtype == DataType::Bool() ? DataType::Int(8) : copy->dtype;
  copy->data = workspace.NewPrimVar(copy->name, DataType::Handle(), tir::PointerInfo::Get(stored, scope));
  if (change.shape) {
    copy->shape = workspace.Copy(*change.shape);
    copy->strides = {};
  }
  if (change.is_view) return copy;
  const auto is_constant = [](const PrimExpr* e) { return arith::AsInt(e) != nullptr; };
  if (!std::ranges::all_of(copy->strides, is_constant)) copy->strides = {};
  if ((change.shape || !is_constant(copy->elem_offset)) && !copy->shape.empty())
    copy->elem_offset = arith::PrimBuilder(workspace).Const(0, copy->shape.front()->dtype);
  return copy;
}

const tir::Stmt* ReplaceBuffers(const tir::Stmt* stmt, const BufferMap& buffers, Workspace& workspace) {
  return BufferReplacer(buffers, workspace).VisitStmt(stmt);
}

List<const tir::BufferRegion*> ReplaceBuffers(List<const tir::BufferRegion*> regions, const BufferMap& buffers,
                                              Workspace& workspace) {
  return MapList(regions, workspace, [&](const tir::BufferRegion* old) -> const tir::BufferRegion* {
    const auto* found = buffers.Find(old->buffer);
    return found ? workspace.New<tir::BufferRegion>(*found, old->region) : old;
  });
}

List<const tir::BufferRegion*> ReplaceRegion(List<const tir::BufferRegion*> regions, const tir::Buffer* buffer,
                                             const tir::BufferRegion* region, Workspace& workspace) {
  return MapList(regions, workspace,
                 [&](const tir::BufferRegion* old) { return old->buffer == buffer ? region : old; });
}

List<const tir::MatchBufferRegion*> ReplaceRegion(List<const tir::MatchBufferRegion*> matches,
                                                  const tir::Buffer* buffer, const tir::BufferRegion* region,
                                                  Workspace& workspace) {
  return MapList(matches, workspace, [&](const tir::MatchBufferRegion* old) -> const tir::MatchBufferRegion* {
    return old->source->buffer == buffer ? workspace.New<tir::MatchBufferRegion>(old->buffer, region) : old;
  });
}

bool IsAffineBinding(const tir::BlockRealize& realize, const arith::IterRanges& iters, arith::Analyzer& analyzer) {
  if (iters.empty()) return true;
  if (!arith::AreIndependentRanges(iters)) return false;
  const PrimExpr* condition = IsTrue(realize.predicate) ? nullptr : realize.predicate;
  const auto found =
      arith::DetectIterMap(realize.iter_values, iters, condition,
                           {.level = arith::IterMapLevel::kSurjective, .simplify_trivial_iterators = false}, analyzer);
  if (!found || found->indices.empty()) return false;
  return std::ranges::all_of(found->indices,
                             [](const arith::IterMapIndex& index) { return arith::IsInt(index.scale, 1); });
}

const tir::Stmt* SimplifyBindings(const tir::Stmt* stmt, arith::IterRanges loops, bool preserve_unit_iters,
                                  Workspace& workspace) {
  return BindingSimplifier(std::move(loops), preserve_unit_iters, workspace).VisitStmt(stmt);
}

const tir::Stmt* SubstituteCast(const tir::Stmt* stmt, const tir::VarValues& values, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  tir::VarValues cast;
  values.ForEachInAnyOrder([&](const tir::Var* var, const PrimExpr* value) {
    cast[var] = value->dtype == var->dtype ? value : make.Cast(var->dtype, value);
  });
  return tir::Substitute(stmt, cast, workspace);
}

bool BindsVar(const PrimExpr* expr) {
  bool found = false;
  tir::PostOrderVisit(expr, [&](const Node* node) { found = found || Is<tir::Let>(node); });
  return found;
}

const PrimExpr* BindingRenewer::VisitLet(const tir::Let* let) {
  const PrimExpr* value = VisitExpr(let->value);
  const tir::Var* var = known_.insert(let->var) ? let->var : CopyVar(*let->var, workspace());
  known_.insert(var);
  const tir::Var* outer = current_.Lookup(let->var);
  current_[let->var] = var;
  const PrimExpr* body = VisitExpr(let->body);
  if (outer)
    current_[let->var] = outer;
  else
    current_.erase(let->var);
  const bool is_same = var == let->var && value == let->value && body == let->body;
  return is_same ? let : workspace().New<tir::Let>(var, value, body);
}

std::vector<const tir::Var*> VarsOf(const PrimExpr* expr) {
  std::vector<const tir::Var*> vars;
  tir::ForEachVar(expr, [&](const tir::Var* var) {
    if (std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
  });
  return vars;
}

const PrimExpr* SimplifyUnlessConstant(const PrimExpr* expr, arith::Analyzer& analyzer) {
  const PrimExpr* simple = analyzer.Simplify(expr);
  return arith::AsInt(simple) ? expr : simple;
}

bool IsCallTo(const PrimExpr* expr, OpId op) {
  const auto* call = As<tir::Call>(expr);
  return call && IsOp(call->op, op);
}

const PrimExpr* Intrinsic(OpId op, DataType dtype, std::initializer_list<const PrimExpr*> args, Workspace& workspace) {
  return workspace.New<tir::Call>(dtype, GetOp(op), workspace.Copy(std::span(args.begin(), args.size())));
}

}  // namespace iropt::schedule
