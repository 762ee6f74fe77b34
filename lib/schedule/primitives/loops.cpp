// Splitting, fusing and reordering loops.
//
//   for i in range(64):        split [None, 16]       for i_0, i_1 in T.grid(4, 16):
//       B[i] = A[i]                 -->                   B[i_0 * 16 + i_1] = A[i_0 * 16 + i_1]
//
// Source: TVM's src/tir/schedule/primitive/loop_transformation.cc.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "iropt/arith/side_effect.h"
#include "iropt/support/lookup.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using Analyzer = arith::Analyzer;

// Adds a condition to the blocks directly inside a statement.
class PredicateAppender : public tir::StmtExprMutator {
 public:
  PredicateAppender(const PrimExpr* condition, Workspace& workspace)
      : StmtExprMutator(workspace), condition_(condition) {}
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    auto* copy = workspace().New<tir::BlockRealize>(*realize);
    copy->predicate = arith::PrimBuilder(workspace()).Binary(NodeKind::kAnd, realize->predicate, condition_);
    return copy;
  }

 private:
  const PrimExpr* condition_;
};

// Looks for what happens outside of blocks, where their conditions do not prevent it: accesses and effects.
class BareAccessFinder : public tir::StmtExprVisitor {
 public:
  bool found = false;
  void VisitExpr(const PrimExpr* expr) override { found = found || !arith::IsPure(expr); }

 protected:
  void VisitBlock(const tir::Block*) override {}
  void VisitBufferStore(const tir::BufferStore*) override { found = true; }
};

// The body of a loop, only where the condition holds.
const tir::Stmt* Guard(const tir::Stmt* body, const PrimExpr* condition, Workspace& workspace) {
  BareAccessFinder bare;
  bare.VisitStmt(body);
  if (bare.found) return workspace.New<tir::IfThenElse>(condition, body, nullptr);
  return PredicateAppender(condition, workspace).VisitStmt(body);
}

// At least `bits`, and as many as numbers up to `most` need. Narrow loops of unknown extents get 32.
int BitsFor(std::optional<int64_t> most, int bits) {
  if (!most) return std::max(bits, 32);
  for (const int wide : {32, 64}) {
    if (bits < wide && *most >= int64_t{1} << (bits - 1)) bits = wide;
  }
  return bits;
}

// The product of positive numbers; saturates.
int64_t ProductOf(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// The bits of the loops that a loop is split into: the product of their extents may be greater than its extent.
int BitsOfParts(const tir::For& loop, const Factors& given) {
  int64_t product = 1;
  for (const std::optional<int64_t> factor : given)
    product = factor && *factor > 0 ? ProductOf(product, *factor) : product;
  // The extent is rounded up to a multiple of the product. An unknown one is taken as half of what 32 bits hold.
  const int64_t* known = arith::AsInt(loop.extent);
  const int64_t extent = known ? *known : int64_t{1} << 30;
  int64_t most = 0;
  if (__builtin_add_overflow(extent, product - 1, &most)) most = std::numeric_limits<int64_t>::max();
  return BitsFor(std::max(most, product), loop.loop_var->dtype.bits);
}

// The bits of the loop that loops of at most `bits` are fused to.
int BitsOfFused(std::span<const tir::For* const> loops, int bits) {
  int64_t product = 1;
  for (const tir::For* loop : loops) {
    const int64_t* extent = arith::AsInt(loop->extent);
    if (!extent) return BitsFor(std::nullopt, bits);
    product = ProductOf(product, *extent);
  }
  return BitsFor(product, bits);
}

// The factors as expressions of at most `bits`, -1 where one is to be found; `missing` is its position.
struct LoopFactors {
  std::vector<const PrimExpr*> values;
  int missing = -1;
};

Result<LoopFactors> ReadFactors(State& state, const Factors& given, int bits) {
  const arith::PrimBuilder make = state.make();
  LoopFactors factors;
  for (const std::optional<int64_t> factor : given) {
    if (!factor) {
      if (factors.missing >= 0) return state.Refuse("several factors are missing: expected one at most");
      factors.missing = static_cast<int>(factors.values.size());
      factors.values.push_back(make.Int(-1, DataType::Int(32)));
      continue;
    }
    if (*factor <= 0)
      return state.Refuse(fmt::format("invalid factor {1} at position {0}: expected a positive number",
                                      factors.values.size(), *factor));
    factors.values.push_back(make.Int(*factor, DataType::Int(std::min(bits, BitsFor(*factor, 32)))));
  }
  return factors;
}

// The loop around the whole statement, with the bindings of the blocks in it simplified by it and the loops around.
const tir::Stmt* Simplified(const tir::Stmt* stmt, State& state, const Ref* old_loop, bool preserve_unit_iters) {
  return SimplifyBindings(stmt, LoopDomain(old_loop->parent), preserve_unit_iters, state.workspace());
}

void ReturnNest(PrimitiveCall& call, const tir::Stmt* stmt, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    call.Return(call.state().RefOf(stmt));
    stmt = To<tir::For>(stmt)->body;
  }
}

}  // namespace

Status ApplySplit(PrimitiveCall& call, const args::Split<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.loop;
  const tir::For& loop = ref->loop();
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  const int bits = BitsOfParts(loop, args.factors);
  IROPT_ASSIGN_OR_RETURN(LoopFactors factors, ReadFactors(state, args.factors, bits));
  const PrimExpr* product = make.Int(1, DataType::Int(std::max(bits, 32)));
  for (size_t i = 0; i < factors.values.size(); ++i) {
    if (static_cast<int>(i) != factors.missing) product = make.Mul(product, factors.values[i]);
  }
  if (factors.missing >= 0) {
    factors.values[static_cast<size_t>(factors.missing)] = analyzer.Simplify(
        make.FloorDiv(make.Sub(make.Add(loop.extent, product), make.Const(1, product->dtype)), product));
  } else if (!analyzer.CanProve(make.Binary(NodeKind::kGE, product, loop.extent))) {
    return state.Refuse("the product of the factors may be less than the extent of the loop {0}", {&loop});
  }
  IROPT_RETURN_IF_ERROR(CheckPlainLoop(state, ref));
  IROPT_RETURN_IF_ERROR(CheckStartsWithZero(state, ref, analyzer));

  int index_bits = bits;
  for (const PrimExpr* factor : factors.values) index_bits = std::max<int>(index_bits, factor->dtype.bits);
  const DataType dtype = DataType::Int(index_bits);
  const PrimExpr* value = make.Const(0, dtype);
  std::vector<const tir::Var*> vars;
  arith::VarDomains domains;
  for (size_t i = 0; i < factors.values.size(); ++i) {
    const tir::Var* var = workspace.NewPrimVar(fmt::format("{}_{}", loop.loop_var->name, i), dtype);
    const PrimExpr* extent = make.Cast(dtype, factors.values[i]);
    value = make.Add(make.Mul(value, factors.values[i]), var);
    analyzer.Bind(var, make.Const(0, dtype), extent);
    domains.insert_or_assign(var, arith::IntervalSet::FromRange(tir::Range(make.Const(0, dtype), extent), make));
    vars.push_back(var);
  }
  const tir::Stmt* stmt = SubstituteCast(loop.body, {{loop.loop_var, value}}, workspace);
  const PrimExpr* in_range = make.Binary(NodeKind::kLT, value, loop.extent);
  if (!args.disable_predication && !analyzer.CanProve(in_range) && !CanProveByExtremes(in_range, domains, analyzer))
    stmt = Guard(stmt, in_range, workspace);
  for (size_t i = vars.size(); i > 0; --i) stmt = MakeLoop(vars[i - 1], factors.values[i - 1], stmt, workspace);
  stmt = Simplified(stmt, state, ref, args.preserve_unit_iters);
  const BlockReuse reuse = PairBlocks(loop.body, stmt);
  state.Replace(ref, stmt, reuse);
  ReturnNest(call, stmt, vars.size());
  return {};
}

// A reduction over nothing is initialized by the other loops of its block, which it must not be fused with, as the
// fused loop has no iterations then.
Status CheckFusedReductions(State& state, const std::vector<Ref*>& refs, Analyzer& analyzer) {
  const BlocksInLoops blocks = FindBlocksInLoops(refs.back()->loop().body, {}, state.workspace());
  for (const BlockInLoops& item : blocks.found) {
    if (!item.realize->block->init) continue;
    const auto is_used = [&](const tir::For& loop, bool by_reduction) {
      for (size_t i = 0; i < item.values.size(); ++i) {
        const bool reduces = item.realize->block->iter_vars[i]->iter_type == tir::IterVarType::kCommReduce;
        if (reduces == by_reduction && tir::UsesVar(item.values[i], loop.loop_var)) return true;
      }
      return false;
    };
    const auto may_be_empty = [&](const Ref* ref) {
      return is_used(ref->loop(), /*by_reduction=*/true) && !analyzer.CanProveGreaterEqual(ref->loop().extent, 1);
    };
    const auto is_spatial = [&](const Ref* ref) {
      return !arith::IsInt(ref->loop().extent, 1) && is_used(ref->loop(), /*by_reduction=*/false);
    };
    if (std::ranges::any_of(refs, may_be_empty) && std::ranges::any_of(refs, is_spatial))
      return state.Refuse(
          "the reduction of the block {0} may be over nothing, and would not be initialized: expected loops of one "
          "kind",
          {item.realize->block});
  }
  return {};
}

Status ApplyFuse(PrimitiveCall& call, const args::Fuse<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  const std::vector<Ref*> refs = args.loops;
  if (refs.empty()) return call.Refuse("'fuse' needs at least one loop");
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  LookupSet<const tir::Var*> outer_vars;
  std::vector<const tir::For*> loops;
  for (size_t i = 0; i < refs.size(); ++i) {
    const tir::For& loop = refs[i]->loop();
    IROPT_RETURN_IF_ERROR(CheckPlainLoop(state, refs[i]));
    if (i > 0) {
      const tir::For& outer = *loops.back();
      if (refs[i]->parent != refs[i - 1])
        return state.Refuse("the loops cannot be fused: {1} is not directly in {0}", {&outer, &loop});
      if (outer.body != &loop)
        return state.Refuse("the loops cannot be fused: {1} is not all that is in {0}", {&outer, &loop});
    }
    IROPT_RETURN_IF_ERROR(CheckStartsWithZero(state, refs[i], analyzer));
    for (const tir::Var* var : VarsOf(loop.extent)) {
      if (outer_vars.contains(var))
        return state.Refuse(fmt::format("the extent of the loop {{0}} depends on the loop {}", var->name), {&loop});
    }
    outer_vars.insert(loop.loop_var);
    loops.push_back(&loop);
  }

  IROPT_RETURN_IF_ERROR(CheckFusedReductions(state, refs, analyzer));
  std::string name(loops[0]->loop_var->name);
  int bits = loops[0]->loop_var->dtype.bits;
  for (size_t i = 1; i < loops.size(); ++i) {
    name += fmt::format("_{}", loops[i]->loop_var->name);
    bits = std::max<int>(bits, loops[i]->loop_var->dtype.bits);
  }
  const DataType number = DataType::Int(std::max(32, BitsOfFused(loops, bits)));
  const tir::Var* fused = workspace.NewPrimVar(name + "_fused", DataType::Int(BitsOfFused(loops, bits)));
  tir::VarValues values;
  const PrimExpr* lower = make.Int(1, number);
  const PrimExpr* zero = make.Int(0, number);
  for (size_t i = loops.size(); i > 0; --i) {
    const PrimExpr* extent = loops[i - 1]->extent;
    const PrimExpr* next = make.version() >= TextVersion::kV0_24 ? analyzer.CanonicalSimplify(make.Mul(extent, lower))
                                                                 : make.Mul(lower, extent);
    const PrimExpr* digits = i == 1 ? fused : make.FloorMod(fused, next);
    values[loops[i - 1]->loop_var] = arith::IsInt(extent, 1) ? zero : make.FloorDiv(digits, lower);
    lower = next;
  }
  const PrimExpr* extent = make.Int(1, number);
  for (const tir::For* loop : loops) extent = make.Mul(extent, loop->extent);
  const tir::Stmt* body = loops.back()->body;
  const tir::Stmt* stmt =
      MakeLoop(fused, analyzer.Simplify(extent), SubstituteCast(body, values, workspace), workspace);
  stmt = Simplified(stmt, state, refs[0], args.preserve_unit_iters);
  const BlockReuse reuse = PairBlocks(body, stmt);
  state.Replace(refs[0], stmt, reuse);
  ReturnNest(call, stmt, 1);
  return {};
}

// ---- Reorder

namespace {

class BlockChecker : public StmtWalker {
 public:
  BlockChecker(State& state, const Ref* high) : state_(state), high_(high) {}
  Status status;

 protected:
  void VisitBlock(const tir::Block* block) override {
    if (status.ok()) status = Check(block);
  }

 private:
  Status Check(const tir::Block* block) {
    if (!HasOnlySpatialAndReductionAxes(*block))
      return state_.Refuse("the block {0} under the loops has axes that are neither data parallel nor of a reduction",
                           {block});
    return block->iter_vars.empty() ? Status{} : CheckAffineBinding(state_, state_.RefOf(block), high_);
  }

  State& state_;
  const Ref* high_;
};

// The loops from the innermost of them outwards to the outermost of them, where each is the only child of the next.
Result<std::vector<Ref*>> ChainOf(State& state, const std::vector<Ref*>& loops) {
  const LookupSet<const Ref*> wanted(loops.begin(), loops.end());
  LookupSet<const Ref*> visited;
  Ref* top = nullptr;
  Ref* bottom = loops[0];
  bool scope_visited = false;
  for (Ref* loop : loops) {
    if (visited.contains(loop)) continue;
    const bool is_first = visited.empty();
    for (Ref* ref = loop;; ref = ref->parent) {
      if (ref->is_block()) {
        if (scope_visited) return state.Refuse("the loops are not in a chain: they are in several scopes");
        scope_visited = true;
        break;
      }
      if (visited.contains(ref)) {
        if (ref != bottom)
          return state.Refuse("the loops are not in a chain: there are other statements in {0}", {ref->stmt});
        bottom = loop;
        break;
      }
      visited.insert(ref);
      if (is_first && wanted.contains(ref)) top = ref;
    }
  }
  std::vector<Ref*> chain;
  for (Ref* ref = bottom; ref != top; ref = ref->parent) {
    if (ref->parent->loop().body != ref->stmt)
      return state.Refuse("the loops are not in a chain: there are other statements in {0}", {ref->parent->stmt});
    chain.push_back(ref);
  }
  chain.push_back(top);
  return chain;
}

// A reduction is done again by loops that its axes do not determine: each time, all of it has to be done before it
// begins again. So these loops and those of its axes stay in their order. A reduction that no loop divides is done at
// once, wherever its block runs.
Status CheckRepeatedReductions(State& state, const std::vector<Ref*>& chain,
                               const std::vector<const tir::For*>& order) {
  const arith::IterRanges around = LoopDomain(chain.front(), chain.back()->parent);
  const Ref* outer = chain.back()->parent;
  const BlocksInLoops blocks = FindBlocksInLoops(chain.front()->stmt, around, state.workspace());
  for (const BlockInLoops& item : blocks.found) {
    if (!item.realize->block->init || item.writes_own_buffers) continue;
    const auto uses = [](const std::vector<const PrimExpr*>& values, const tir::For* loop) {
      return std::ranges::any_of(values, [&](const PrimExpr* v) { return tir::UsesVar(v, loop->loop_var); });
    };
    std::vector<const PrimExpr*> reduced;
    for (size_t i = 0; i < item.values.size(); ++i) {
      if (item.realize->block->iter_vars[i]->iter_type == tir::IterVarType::kCommReduce)
        reduced.push_back(item.values[i]);
    }
    const auto is_divided = [](const PrimExpr* value) {
      return tir::UsesVar(value, [](const tir::Var*) { return true; });
    };
    if (std::ranges::none_of(reduced, is_divided)) continue;
    const bool is_determined =
        DetermineInnerLoops(state, item.values, item.values, blocks.loops, outer, item.condition);
    // The loops of the reduction, and those that repeat it, in both orders.
    const auto concerns = [&](const tir::For* loop) {
      return !arith::IsInt(loop->extent, 1) && (uses(reduced, loop) || !is_determined || !uses(item.values, loop));
    };
    std::vector<const tir::Var*> before, after;
    bool repeats = !is_determined;
    for (const Ref* ref : chain) {
      const tir::For* loop = &ref->loop();
      if (concerns(loop)) before.push_back(loop->loop_var);
      repeats = repeats || (!arith::IsInt(loop->extent, 1) && !uses(item.values, loop));
    }
    for (const tir::For* loop : order) {
      if (concerns(loop)) after.push_back(loop->loop_var);
    }
    if (!repeats || before == after) continue;
    return state.Refuse("the loops repeat the reduction of the block {0}, which would begin again before it is done",
                        {item.realize->block});
  }
  return {};
}

}  // namespace

Status ApplyReorder(PrimitiveCall& call, const args::Reorder<Resolved>& args) {
  const std::vector<Ref*> loops = args.ordered_loops;
  if (loops.size() <= 1) return {};
  State& state = call.state();
  LookupSet<const Ref*> wanted;
  for (const Ref* loop : loops) {
    if (!wanted.insert(loop)) return state.Refuse("the loop {0} is given several times", {loop->stmt});
  }
  IROPT_ASSIGN_OR_RETURN(const std::vector<Ref*> chain, ChainOf(state, loops));
  if (HasBareStmts(*chain.front()->stmt))
    return state.Refuse("the loop {0} has statements that are not in a block, so that its dependences are not known",
                        {chain.front()->stmt});
  Ref* top = chain.back();
  BlockChecker checker(state, top->parent);
  checker.VisitStmt(chain.front()->stmt);
  IROPT_RETURN_IF_ERROR(std::move(checker.status));

  LookupSet<const tir::Var*> inner;
  const tir::Stmt* nest = chain.front()->loop().body;
  std::vector<const tir::For*> order;  // the new one, innermost first as in the chain
  size_t next = loops.size();
  for (const Ref* place : chain) order.push_back(&(wanted.contains(place) ? loops[--next] : place)->loop());
  IROPT_RETURN_IF_ERROR(CheckRepeatedReductions(state, chain, order));
  for (const tir::For* at : order) {
    const tir::For& loop = *at;
    for (const PrimExpr* bound : {loop.min, loop.extent}) {
      for (const tir::Var* var : VarsOf(bound)) {
        if (inner.contains(var))
          return state.Refuse(
              fmt::format("the range of the loop {{0}} depends on the loop {}, which would be inside of it", var->name),
              {&loop});
      }
    }
    inner.insert(loop.loop_var);
    nest = WithBody(loop, nest, state.workspace());
  }
  state.Replace(top, nest);
  return {};
}

Status ApplyAddUnitLoop(PrimitiveCall& call, const args::AddUnitLoop<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block_or_loop;
  const tir::Var* var = workspace.NewPrimVar("u", DataType::Int(32));
  const PrimExpr* one = state.make().Int(1, DataType::Int(32));
  if (ref->is_loop()) {
    const tir::For* loop = MakeLoop(var, one, ref->stmt, workspace);
    state.Replace(ref, loop);
    call.Return(state.RefOf(loop));
    return {};
  }
  if (!ref->parent) return call.Refuse("cannot add loops on top of the root block");
  const tir::BlockRealize* realize = state.RealizeOf(ref);
  const tir::For* loop = MakeLoop(var, one, realize, workspace);
  call.Return(state.WrapRealize(ref, loop));
  return {};
}

}  // namespace iropt::schedule
