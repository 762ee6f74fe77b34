// Inlining blocks into their consumers, or into their producer.
//
//   for i: B[i] = A[i] * 2                 compute_inline B
//   for i: C[i] = B[i] + 1                       -->            for i: C[i] = A[i] * 2 + 1
//
// Source: TVM's src/tir/schedule/primitive/compute_inline.cc.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/analysis/tir/block_access.h"
#include "iropt/ir/map_list.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/op/intrinsic_ids.h"
#include "removal_plan.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/primitives/axis_condition.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

constexpr std::string_view kBodyForm =
    "the body of the inlined block {0} should be in form of\n    'A[f(i, j, k, ...)] = g(i, j, k, ...)',\n"
    "where the store indices mapping f on the left are bijective affine";
constexpr std::string_view kOpaqueAccess =
    "the buffer to be inlined is accessed as a whole, as by `B.data`, or a region of it is matched: {0}";
constexpr std::string_view kReverseBodyForm =
    "the body of the inlined block {0} should be in form of\n    `B[...] = g(i, j, k, A[f(i, j, k, ...)] ...)`,\n"
    "where A is the only buffer the block consumes, whose indices are distinct atomic variables,\n"
    "and there should be no variables other than the index variables), and f is a bijective affine\n"
    "mapping and there should not be predicates in the inlined block. The iter domains of the inlined\n"
    "block should be covered by the producer block";

Status CheckNoInit(State& state, const tir::Block& block) {
  if (!block.init) return {};
  return state.Refuse("the block {0} has an initialization: expected none", {&block});
}

Result<const tir::Buffer*> SingleWrite(State& state, const tir::Block& block) {
  if (block.writes.size() == 1) return block.writes[0]->buffer;
  return state.Refuse(fmt::format("the block {{0}} writes {} regions: expected one", block.writes.size()), {&block});
}

// The only buffer that the block reads and another block of the scope writes.
Result<const tir::Buffer*> SingleRead(State& state, const tir::Block& block, Ref* scope) {
  const BlockScope& info = state.ScopeInfo(scope);
  const tir::Buffer* found = nullptr;
  bool ok = true;
  for (const tir::BufferRegion* read : block.reads) {
    if (read->buffer == found || info.WritersOf(read->buffer).empty()) continue;
    ok = ok && !found;
    found = read->buffer;
  }
  if (ok && found) return found;
  return state.Refuse("the block {0} reads none of what its scope writes, or several buffers: expected one", {&block});
}

// The innermost blocks that write the buffer.
class ProducerFinder : public StmtWalker {
 public:
  explicit ProducerFinder(const tir::Buffer* buffer) : buffer_(buffer) {}
  std::vector<const tir::Block*> found;

 protected:
  void VisitBlock(const tir::Block* block) override {
    const size_t before = found.size();
    StmtWalker::VisitBlock(block);
    if (found.size() == before && UsesBuffer(block->writes, buffer_)) found.push_back(block);
  }

 private:
  const tir::Buffer* buffer_;
};

Result<Ref*> SingleProducer(State& state, const Ref* consumer, Ref* scope, const tir::Buffer* buffer) {
  const BlockScope& info = state.ScopeInfo(scope);
  ProducerFinder finder(buffer);
  const Ref* last = nullptr;
  for (const Ref* writer : info.WritersOf(buffer)) {
    if (writer != last) finder.VisitStmt(writer->stmt);
    last = writer;
  }
  const auto fail = [&](const tir::Stmt* block) {
    return state.Refuse(
        "the block {0} cannot be inlined into a producer: expected a single one, which is complete and has no other "
        "consumers",
        {block});
  };
  for (const tir::Block* block : finder.found) {
    if (!IsCompleteBlock(state, state.RefOf(block), scope)) return fail(block);
  }
  if (finder.found.size() != 1) return fail(consumer->stmt);
  for (const Ref* reader : info.ReadersOf(buffer)) {
    if (reader != consumer) return fail(finder.found[0]);
  }
  return state.RefOf(finder.found[0]);
}

// Rewrites a scope in which a block is removed, and the other blocks that access its buffer.
class Inliner : public tir::StmtExprMutator {
 public:
  Inliner(State& state, const tir::Buffer* buffer, const tir::Block& inlined, const Ref* scope)
      : StmtExprMutator(state.workspace()),
        state_(state),
        analyzer_(state.make(), Analyzer::SymVars::kAny),
        buffer_(buffer),
        store_(As<tir::BufferStore>(inlined.body)),
        scope_(&scope->block()),
        bindings_(state.workspace()) {
    KnowBuffers(inlined);
  }

  Status Apply(Ref* scope, const Ref* inlined) {
    IROPT_ASSIGN_OR_RETURN(removal_, PlanRemoval(state_, inlined));
    const BlockScope& info = state_.ScopeInfo(scope);
    for (const std::vector<Ref*>* blocks : {&info.ReadersOf(buffer_), &info.WritersOf(buffer_)}) {
      for (const Ref* block : *blocks) paths_.Add(block, scope);
    }
    // What a block accesses that states nothing is only known from its statements.
    for (const Ref* child : info.children()) {
      if (child->block().reads.empty() && child->block().writes.empty()) paths_.Add(child, scope);
    }
    paths_.Add(inlined, scope);
    const tir::Stmt* new_scope = VisitStmt(scope->stmt);
    if (!refusal_.empty()) return state_.Refuse(refusal_, {scope->stmt});
    state_.Replace(scope, new_scope, reuse_);
    return {};
  }

 protected:
  // The scope, {0}, has something that cannot be rewritten.
  void NoteRefusal(std::string message) {
    if (refusal_.empty()) refusal_ = std::move(message);
  }
  // What takes the place of an access: other ones may get copies of the same expressions.
  const PrimExpr* WithOwnBindings(const PrimExpr* expr) { return BindsVar(expr) ? bindings_.VisitExpr(expr) : expr; }

  const PrimExpr* VisitVar(const tir::Var* var) override {
    if (var == buffer_->data) NoteRefusal(std::string(kOpaqueAccess));
    return StmtExprMutator::VisitVar(var);
  }

  // Lists of buffers in annotations lose the one that is removed.
  const Attr* VisitAttr(const Attr* attr) override {
    const auto* list = As<ListAttr>(attr);
    const auto* dict = As<DictAttr>(attr);
    if (!attr->func_owned() || (!list && !dict)) return attr;
    const auto names_buffer = [&](const Attr* item) {
      const auto* expr = As<ExprAttr>(item);
      const auto* load = expr ? As<tir::BufferLoad>(expr->value) : nullptr;
      return load && load->buffer == buffer_ && IsMention(*load);
    };
    if (list) {
      std::vector<const Attr*> rest;
      std::ranges::copy_if(list->values, std::back_inserter(rest),
                           [&](const Attr* item) { return !names_buffer(item); });
      return rest.size() == list->values.size() ? list : ListAttr::Get(rest);
    }
    const DictAttr* visited = dict;
    for (uint32_t i = 0; i < dict->size(); ++i) {
      const Attr* value = VisitAttr(dict->values[i]);
      if (value != dict->values[i]) visited = visited->With(dict->keys[i], value);
    }
    return visited;
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (is_outside_ && !paths_.contains(loop)) return loop;
    if (loop == removal_.source) loop = To<tir::For>(removal_.target);
    return StmtExprMutator::VisitFor(loop);
  }
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    if (is_outside_ && realize->block != scope_ && !paths_.contains(realize->block)) return realize;
    return StmtExprMutator::VisitBlockRealize(realize);
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const bool was_outside = std::exchange(is_outside_, block == scope_);
    const auto is_matched = [&](const tir::MatchBufferRegion* match) { return match->source->buffer == buffer_; };
    if (std::ranges::any_of(block->match_buffers, is_matched)) NoteRefusal(std::string(kOpaqueAccess));
    KnowBuffers(*block);
    const tir::Block* source = block;
    if (block == removal_.source) block = To<tir::Block>(removal_.target);
    const tir::Block* visited = Sign(To<tir::Block>(StmtExprMutator::VisitBlock(block)), source == scope_);
    is_outside_ = was_outside;
    if (visited != source) reuse_.emplace_back(source, visited);
    return visited;
  }

  State& state() { return state_; }
  Analyzer& analyzer() { return analyzer_; }
  const tir::Buffer* buffer() const { return buffer_; }
  // Null if the inlined block does something else than a store.
  const tir::BufferStore* store() const { return store_; }
  BlockReuse& reuse() { return reuse_; }

 private:
  void KnowBuffers(const tir::Block& block) {
    for (const auto regions : {block.reads, block.writes}) {
      for (const tir::BufferRegion* region : regions) known_[region->buffer->data] = region->buffer;
    }
    for (const tir::Buffer* buffer : block.alloc_buffers) known_[buffer->data] = buffer;
  }

  // Updates what the block states to allocate and access.
  const tir::Block* Sign(const tir::Block* block, bool is_scope) {
    if (is_scope) {
      return CopyBlock(*block, workspace(), [&](tir::Block& copy) {
        std::vector<const tir::Buffer*> rest;
        std::ranges::copy_if(copy.alloc_buffers, std::back_inserter(rest),
                             [&](const tir::Buffer* buffer) { return buffer != buffer_; });
        copy.alloc_buffers = workspace().Copy(rest);
      });
    }
    if (!UsesBuffer(block->reads, buffer_) && !UsesBuffer(block->writes, buffer_)) return block;
    BlockAccesses accesses = GetBlockReadWriteRegion(*block, known_, workspace());
    for (const tir::Block* inner : BlocksOf(block)) {
      const auto is_own = [&](const tir::BufferRegion* region) {
        return std::ranges::find(inner->alloc_buffers, region->buffer) != inner->alloc_buffers.end();
      };
      std::erase_if(accesses.reads, is_own);
      std::erase_if(accesses.writes, is_own);
    }
    return CopyBlock(*block, workspace(), [&](tir::Block& copy) {
      copy.reads = workspace().Copy(accesses.reads);
      copy.writes = workspace().Copy(accesses.writes);
    });
  }

  State& state_;
  Analyzer analyzer_;
  const tir::Buffer* buffer_;
  const tir::BufferStore* store_;
  const tir::Block* scope_;
  BuffersByPointer known_;
  BindingRenewer bindings_;
  RemovalPlan removal_{};
  BlockReuse reuse_;
  PathSet paths_;           // to the blocks that access the buffer; others stay
  bool is_outside_ = true;  // of the children of the scope
  std::string refusal_;
};

// Loads of the buffer become the value that the block stores there.
class ConsumerInliner : public Inliner {
 public:
  using Inliner::Inliner;

  bool Analyze(const tir::Block& block) {
    if (!store()) return false;
    value_ = store()->value;
    if (HasTrivialIndices(block)) return true;
    arith::IterRanges axes;
    for (const tir::IterVar* axis : block.iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    std::vector<const PrimExpr*> places;
    for (size_t i = 0; i < store()->indices.size(); ++i) {
      vars_.push_back(workspace().NewPrimVar(fmt::format("ph_{}", i), store()->indices[i]->dtype));
      places.push_back(vars_.back());
    }
    auto inverse = arith::InverseIterMap(
        store()->indices, places, axes, {.level = arith::IterMapLevel::kBijective, .simplify_trivial_iterators = false},
        analyzer());
    if (!inverse) return false;
    tir::VarValues values;
    for (const tir::IterVar* axis : block.iter_vars) {
      const bool is_unit = arith::AsInt(axis->dom->min) && arith::IsInt(axis->dom->extent, 1);
      values[axis->var] = is_unit ? axis->dom->min : inverse->values.at(axis->var);
    }
    value_ = tir::Substitute(value_, values, workspace());
    return true;
  }

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(Inliner::VisitBufferLoad(load));
    if (visited->buffer != buffer() || IsMention(*visited)) return visited;
    if (IsVectorAccess(visited->indices)) {
      NoteRefusal(
          fmt::format("vectors of elements of the buffer {} to be inlined are accessed: {{0}}", buffer()->name));
      return visited;
    }
    tir::VarValues values;
    for (size_t i = 0; i < vars_.size(); ++i) values[vars_[i]] = visited->indices[i];
    return WithOwnBindings(tir::Substitute(value_, values, workspace()));
  }

 private:
  // Each axis is the index of its dimension.
  bool HasTrivialIndices(const tir::Block& block) {
    const List<const PrimExpr*> indices = store()->indices;
    if (block.iter_vars.size() != indices.size()) return false;
    for (size_t i = 0; i < indices.size(); ++i) {
      const tir::IterVar& axis = *block.iter_vars[i];
      const bool is_zero = arith::IsInt(analyzer().Simplify(indices[i]), 0) && arith::IsInt(axis.dom->min, 0) &&
                           arith::IsInt(axis.dom->extent, 1);
      if (indices[i] != axis.var && !is_zero) return false;
    }
    for (const tir::IterVar* axis : block.iter_vars) vars_.push_back(axis->var);
    return true;
  }

  std::vector<const tir::Var*> vars_;
  const PrimExpr* value_ = nullptr;
};

// Stores to the buffer become what the block stores for them.
class ProducerInliner : public Inliner {
 public:
  ProducerInliner(State& state, const tir::Buffer* buffer, const tir::BlockRealize& consumer, const Ref* scope,
                  const tir::Block* producer)
      : Inliner(state, buffer, *consumer.block, scope),
        state_(state),
        consumer_(consumer),
        scope_(scope),
        producer_(producer) {
    const arith::PrimBuilder make = state.make();
    in_bound_ = make.Bool(true);
    for (const tir::IterVar* axis : consumer.block->iter_vars) {
      const PrimExpr* end = make.Add(axis->dom->min, axis->dom->extent);
      in_bound_ = make.Binary(NodeKind::kAnd, in_bound_,
                              make.Binary(NodeKind::kAnd, make.Binary(NodeKind::kGE, axis->var, axis->dom->min),
                                          make.Binary(NodeKind::kLT, axis->var, end)));
    }
  }

  bool Analyze() {
    if (!IsTrue(consumer_.predicate) || !store()) return false;
    const auto indices = LoadIndices();
    if (!indices) return false;
    arith::IterRanges axes;
    for (const tir::IterVar* axis : consumer_.block->iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    const tir::BufferStore* stored = ProducerStore();
    if (!stored || IsVectorAccess(stored->indices)) return false;
    const auto inverse = arith::InverseIterMap(
        *indices, stored->indices, axes, {.level = arith::IterMapLevel::kNoCheck, .simplify_trivial_iterators = false},
        analyzer());
    if (!inverse) return false;
    for (const tir::IterVar* axis : consumer_.block->iter_vars) values_[axis->var] = inverse->values.at(axis->var);
    KeepToLoaded(*indices, stored->indices);
    return TakesOnce(*indices, axes) && IsCovered(*indices, stored->indices);
  }

 protected:
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block* source = realize->block;
    const auto* visited = To<tir::BlockRealize>(Inliner::VisitBlockRealize(realize));
    if (source != producer_) return visited;
    visited = AddCondition(visited);
    std::erase_if(reuse(), [&](const auto& pair) { return pair.first == source; });
    if (visited->block != source) reuse().emplace_back(source, visited->block);
    return visited;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* stored) override {
    const auto* visited = To<tir::BufferStore>(Inliner::VisitBufferStore(stored));
    if (visited->buffer != buffer()) return visited;
    // The value may load the buffer itself, as in a reduction.
    const auto* own = workspace().New<tir::BufferLoad>(store()->buffer->dtype, store()->buffer, store()->indices);
    const PrimExpr* value = LoadReplacer(buffer(), Substituted(own), values_, workspace()).VisitExpr(visited->value);
    const auto* inlined = To<tir::BufferStore>(LoadReplacer(buffer(), value, values_, workspace()).VisitStmt(store()));
    auto* copy = workspace().New<tir::BufferStore>(*inlined);
    copy->value = WithOwnBindings(inlined->value);
    copy->indices =
        MapList(inlined->indices, workspace(), [&](const PrimExpr* index) { return WithOwnBindings(index); });
    return copy;
  }

 private:
  // Replaces variables, and all loads of a buffer by a value.
  class LoadReplacer : public tir::StmtExprMutator {
   public:
    LoadReplacer(const tir::Buffer* buffer, const PrimExpr* value, const tir::VarValues& values, Workspace& workspace)
        : StmtExprMutator(workspace), buffer_(buffer), value_(value), values_(values) {}

   protected:
    const PrimExpr* VisitVar(const tir::Var* var) override { return values_.Lookup(var, var); }
    const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
      return load->buffer == buffer_ && !IsMention(*load) ? value_ : StmtExprMutator::VisitBufferLoad(load);
    }

   private:
    const tir::Buffer* buffer_;
    const PrimExpr* value_;
    const tir::VarValues& values_;
  };

  const PrimExpr* Substituted(const PrimExpr* expr) { return tir::Substitute(expr, values_, workspace()); }

  // The indices of the loads of the buffer, which are the same for all; null if there are others.
  std::optional<List<const PrimExpr*>> LoadIndices() {
    std::optional<List<const PrimExpr*>> indices;
    bool ok = true;
    tir::PostOrderVisit(store(), [&](const Node* node) {
      const auto* load = As<tir::BufferLoad>(node);
      if (!load || load->buffer != buffer()) return;
      ok = ok && (!indices || DeepEqual(*indices, load->indices));
      indices = load->indices;
    });
    return ok ? indices : std::nullopt;
  }

  const tir::BufferStore* ProducerStore() const {
    const tir::Stmt* body = producer_->body;
    if (const auto* branch = As<tir::IfThenElse>(body)) {
      if (branch->else_case) return nullptr;
      body = branch->then_case;
    } else if (producer_->annotations->Find(attr::kAutoCopy)) {
      while (const auto* loop = As<tir::For>(body)) body = loop->body;
    }
    return As<tir::BufferStore>(body);
  }

  // Returns whether no two values of the axes of the consumer load the same element.
  bool TakesOnce(List<const PrimExpr*> indices, const arith::IterRanges& axes) {
    if (arith::InverseIterMap(indices, indices, axes, analyzer())) return true;
    const auto inverse = arith::InverseIterMap(
        indices, indices, axes, {.level = arith::IterMapLevel::kNoCheck, .simplify_trivial_iterators = false},
        analyzer());
    const List<const tir::IterVar*> vars = consumer_.block->iter_vars;
    for (const tir::IterVar* axis : vars) analyzer().Bind(axis->var, axis->dom->min, axis->dom->extent);
    return inverse && std::ranges::all_of(vars, [&](const tir::IterVar* axis) {
             return analyzer().CanProveEqual(inverse->values.at(axis->var), axis->var);
           });
  }

  bool UsesOwnAxis(const PrimExpr* index) const {
    const auto is_own = [&](const tir::Var* var) {
      return std::ranges::find(consumer_.block->iter_vars, var, &tir::IterVar::var) != consumer_.block->iter_vars.end();
    };
    return tir::UsesVar(index, is_own);
  }

  // The producer may store elements that the consumer does not load, as for B[2, vj].
  void KeepToLoaded(List<const PrimExpr*> loaded, List<const PrimExpr*> stored) {
    const arith::PrimBuilder& make = analyzer().make();
    for (size_t i = 0; i < loaded.size(); ++i) {
      if (UsesOwnAxis(loaded[i])) continue;
      in_bound_ = make.Binary(NodeKind::kAnd, in_bound_, make.Binary(NodeKind::kEQ, stored[i], loaded[i]));
    }
  }

  // The values of the axes of the producer, of the blocks around that the consumer is not in, and of those loops of a
  // copy whose extents do not depend on them.
  arith::VarDomains ProducerDomains() {
    arith::IterRanges ranges;
    for (const Ref* ref = state_.RefOf(producer_); ref != scope_; ref = ref->parent) {
      if (!ref->is_block()) continue;
      for (const tir::IterVar* axis : ref->block().iter_vars) ranges.insert_or_assign(axis->var, *axis->dom);
    }
    for (const auto* loop = As<tir::For>(producer_->body); loop; loop = As<tir::For>(loop->body)) {
      if (!tir::UsesAnyOf(ranges, loop->extent))
        ranges.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    }
    return DomainsOf(ranges, analyzer().make());
  }

  // Returns whether the producer provides all that the consumer's axes stand for. What it does not compute is not
  // loaded, unless a condition decides that.
  bool IsCovered(List<const PrimExpr*> loaded, List<const PrimExpr*> stored) {
    const arith::PrimBuilder& make = analyzer().make();
    const bool must_prove = LoadsUnderCondition();
    if (must_prove && Is<tir::IfThenElse>(producer_->body)) return false;
    BindAxesAround(scope_, analyzer());
    const auto is_before = [&](const PrimExpr* a, const PrimExpr* b) {
      if (!must_prove) return !a || !b || !analyzer().CanProve(make.Binary(NodeKind::kGT, a, b));
      return a && b && analyzer().CanProve(make.Binary(NodeKind::kLE, a, b));
    };
    const arith::VarDomains domains = ProducerDomains();
    const auto covers = [&](const PrimExpr* provided, const PrimExpr* first, const PrimExpr* last) {
      const arith::IntervalSet set = arith::EvalSet(provided, domains, analyzer());
      return is_before(set.min(), first) && is_before(last, set.max());
    };
    for (size_t i = 0; i < loaded.size(); ++i) {
      if (!UsesOwnAxis(loaded[i]) && !covers(stored[i], loaded[i], loaded[i])) return false;
    }
    return std::ranges::all_of(consumer_.block->iter_vars, [&](const tir::IterVar* axis) {
      const PrimExpr* last = make.Sub(make.Add(axis->dom->min, axis->dom->extent), make.Const(1, axis->var->dtype));
      return covers(values_.at(axis->var), axis->dom->min, last);
    });
  }

  // Returns whether the consumer may do without an element, as in padding.
  bool LoadsUnderCondition() {
    bool found = false;
    const auto look = [&](const Node* node) {
      const auto* call = As<tir::Call>(node);
      const bool chooses = Is<tir::Select>(node) || (call && IsCallTo(call, op::kTirIfThenElse));
      if (!chooses) return;
      tir::PostOrderVisit(node, [&](const Node* part) {
        const auto* load = As<tir::BufferLoad>(part);
        found = found || (load && load->buffer == buffer());
      });
    };
    tir::PostOrderVisit(store()->value, look);
    return found;
  }

  // The producer runs where the axes of the consumer are in their domains.
  const tir::BlockRealize* AddCondition(const tir::BlockRealize* realize) {
    const tir::Block* block = realize->block;
    for (const tir::IterVar* axis : block->iter_vars) analyzer().Bind(axis->var, axis->dom->min, axis->dom->extent);
    if (block->annotations->Find(attr::kAutoCopy)) {
      for (const auto* loop = As<tir::For>(block->body); loop; loop = As<tir::For>(loop->body))
        analyzer().Bind(loop->loop_var, analyzer().make().Const(0, loop->extent->dtype), loop->extent);
    }
    const PrimExpr* condition = analyzer().Simplify(Substituted(in_bound_));
    if (IsTrue(condition)) return realize;
    if (block->annotations->Find(attr::kAutoCopy))
      NoteRefusal(fmt::format("the block inlined into the copy '{}' does not take all that is copied: {{0}}",
                              block->name_hint));
    const auto* branch = As<tir::IfThenElse>(block->body);
    if (branch && !branch->else_case && !DeepEqual(condition, analyzer().Simplify(branch->condition))) {
      condition = analyzer().Simplify(analyzer().make().Binary(NodeKind::kAnd, condition, branch->condition));
      block = To<tir::Block>(WithBody(*block, branch->then_case, workspace()));
    }
    auto* copy = workspace().New<tir::BlockRealize>(*realize);
    copy->block = block;
    condition = analyzer().Simplify(tir::Substitute(condition, BindingsOf(*realize, workspace()), workspace()));
    if (IsTrue(realize->predicate)) {
      copy->predicate = condition;
      return copy;
    }
    const Analyzer::Constraint known(analyzer(), realize->predicate);
    if (!analyzer().CanProve(condition))
      copy->predicate = analyzer().make().Binary(NodeKind::kAnd, realize->predicate, condition);
    return copy;
  }

  State& state_;
  const tir::BlockRealize& consumer_;
  const Ref* scope_;  // of both
  const tir::Block* producer_;
  const PrimExpr* in_bound_ = nullptr;  // in the axes of the consumer and the producer
  tir::VarValues values_;               // of the axes of the consumer
};

}  // namespace

Status ApplyComputeInline(PrimitiveCall& call, const args::ComputeInline<Resolved>& args) {
  State& state = call.state();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  IROPT_RETURN_IF_ERROR(CheckNoInit(state, block));
  IROPT_ASSIGN_OR_RETURN(const tir::Buffer* buffer, SingleWrite(state, block));
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/true));
  IROPT_RETURN_IF_ERROR(CheckNotOutputBlock(state, ref, scope));
  IROPT_RETURN_IF_ERROR(CheckCompleteBlock(state, ref, scope));
  IROPT_RETURN_IF_ERROR(CheckUsesOnlyAxes(state, ref));
  ConsumerInliner inliner(state, buffer, block, scope);
  if (!inliner.Analyze(block)) return state.Refuse(std::string(kBodyForm), {&block});
  return inliner.Apply(scope, ref);
}

Status ApplyReverseComputeInline(PrimitiveCall& call, const args::ReverseComputeInline<Resolved>& args) {
  State& state = call.state();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const tir::BlockRealize& realize = *state.RealizeOf(ref);
  IROPT_RETURN_IF_ERROR(CheckNoInit(state, block));
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/true));
  IROPT_ASSIGN_OR_RETURN(const tir::Buffer* buffer, SingleRead(state, block, scope));
  IROPT_RETURN_IF_ERROR(CheckCompleteBlock(state, ref, scope));
  IROPT_RETURN_IF_ERROR(CheckUsesOnlyAxes(state, ref));
  IROPT_ASSIGN_OR_RETURN(Ref * producer, SingleProducer(state, ref, scope, buffer));
  IROPT_RETURN_IF_ERROR(CheckNotOutputBlock(state, producer, scope));
  ProducerInliner inliner(state, buffer, realize, scope, &producer->block());
  if (!inliner.Analyze()) return state.Refuse(std::string(kReverseBodyForm), {&block});
  // The block runs for all values of its axes then.
  std::vector<const PrimExpr*> axes;
  for (const tir::IterVar* axis : block.iter_vars) axes.push_back(axis->var);
  if (!TakeAllValues(state, ref, axes, nullptr))
    return state.Refuse("the loops around the block {0} may leave out values of its axes", {&block});
  IROPT_RETURN_IF_ERROR(inliner.Apply(scope, ref));
  state.RecheckAffine(producer);
  return {};
}

}  // namespace iropt::schedule
