#include "iropt/schedule/state.h"

#include <algorithm>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/support/check.h"
#include "iropt/support/lookup.h"
#include "stmt_tools.h"

namespace iropt::schedule {

// The references of a tree of statements.
class State::Builder : public StmtWalker {
 public:
  Builder(State& state, Ref* parent) : state_(state), parent_(parent) {}

  // References that are taken over: by the variable of a loop, or by the new block.
  LookupMap<const Node*, Ref*> reused;

 protected:
  void VisitFor(const tir::For* loop) override { Enter(loop, loop->loop_var, loop->body); }
  void VisitBlock(const tir::Block* block) override { Enter(block, block, block->body); }

 private:
  void Enter(const tir::Stmt* stmt, const Node* key, const tir::Stmt* body) {
    if (Ref* intact = state_.Find(stmt)) {
      intact->parent = parent_;
      return;
    }
    const auto* taken = reused.Find(key);
    Ref* ref = taken ? *taken : state_.NewRef(stmt, parent_);
    if (taken) {
      ref->parent = parent_;
      state_.Renew(ref, stmt);
      reused.erase(key);
    }
    std::swap(ref, parent_);
    VisitStmt(body);
    std::swap(ref, parent_);
  }

  State& state_;
  Ref* parent_;
};

namespace {

// Finds the loops and blocks of a new tree that are in the state, and the variables of its new loops.
class CommonPartsFinder : public StmtWalker {
 public:
  explicit CommonPartsFinder(const State& state) : state_(state) {}

  LookupSet<const tir::Stmt*> intact;
  LookupSet<const tir::Var*> loop_vars;

 protected:
  void VisitFor(const tir::For* loop) override {
    if (state_.Find(loop)) {
      intact.insert(loop);
      return;
    }
    loop_vars.insert(loop->loop_var);
    StmtWalker::VisitFor(loop);
  }
  void VisitBlock(const tir::Block* block) override {
    if (state_.Find(block)) {
      intact.insert(block);
      return;
    }
    StmtWalker::VisitBlock(block);
  }

 private:
  const State& state_;
};

// The references of an old tree that are not in the new one.
class RemovedPartsFinder : public StmtWalker {
 public:
  RemovedPartsFinder(const State& state, const CommonPartsFinder& common) : state_(state), common_(common) {}

  std::vector<Ref*> refs;

 protected:
  void VisitFor(const tir::For* loop) override {
    if (Enter(loop)) StmtWalker::VisitFor(loop);
  }
  void VisitBlock(const tir::Block* block) override {
    if (Enter(block)) StmtWalker::VisitBlock(block);
  }

 private:
  bool Enter(const tir::Stmt* stmt) {
    if (common_.intact.contains(stmt)) return false;
    refs.push_back(state_.RefOf(stmt));
    return true;
  }

  const State& state_;
  const CommonPartsFinder& common_;
};

// Replaces one child in the body of a block or loop, without entering other loops and blocks.
class ChildReplacer : public tir::StmtExprMutator {
 public:
  ChildReplacer(const tir::Stmt* old_child, const tir::Stmt* new_child, Workspace& workspace)
      : StmtExprMutator(workspace), old_(old_child), new_(new_child) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    if (stmt == old_) return new_;
    if (Is<tir::For>(stmt)) return stmt;
    if (const auto* realize = As<tir::BlockRealize>(stmt)) {
      if (realize->block != old_) return stmt;
      const auto* block = As<tir::Block>(new_);
      if (!block) return new_;
      auto* copy = workspace().New<tir::BlockRealize>(*realize);
      copy->block = block;
      return copy;
    }
    return StmtExprMutator::VisitStmt(stmt);
  }

 private:
  const tir::Stmt* old_;
  const tir::Stmt* new_;
};

// Finds the realization of a block among the children of a block or loop.
class RealizeFinder : public StmtWalker {
 public:
  explicit RealizeFinder(const tir::Block* block) : block_(block) {}
  const tir::BlockRealize* found = nullptr;

 protected:
  void VisitFor(const tir::For*) override {}
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    if (realize->block == block_) found = realize;
  }

 private:
  const tir::Block* block_;
};

}  // namespace

State::State(const Module& module, const PrimFunc* func, const FuncStorageRef& storage)
    : func_(func), workspace_(module, storage) {
  const auto* realize = To<tir::BlockRealize>(func->body);
  Builder(*this, nullptr).VisitStmt(realize);
  root_ = RefOf(realize->block);
  Recheck(root_);
}

Ref* State::NewRef(const tir::Stmt* stmt, Ref* parent) {
  Ref* ref = &refs_.emplace_back(Ref{nullptr, parent});
  Renew(ref, stmt);
  return ref;
}

void State::Renew(Ref* ref, const tir::Stmt* stmt) {
  const std::string_view old_name = ref->is_block() ? ref->block().name_hint : std::string_view();
  if (ref->stmt) {
    const auto* entry = by_stmt_.Find(ref->stmt);
    if (entry && *entry == ref) by_stmt_.erase(ref->stmt);
  }
  ref->stmt = stmt;
  if (!stmt) return;
  by_stmt_[stmt] = ref;
  if (ref->is_block() && (old_name.data() == nullptr || ref->block().name_hint != old_name))
    by_name_[ref->block().name_hint].push_back(ref);
}

Ref* State::Find(const tir::Stmt* stmt) const { return by_stmt_.Lookup(stmt); }

Ref* State::RefOf(const tir::Stmt* stmt) const {
  Ref* ref = Find(stmt);
  IROPT_CHECK(ref != nullptr, "a statement that is not part of the schedule");
  return ref;
}

const tir::BlockRealize* State::RealizeOf(const Ref* block) const {
  if (!block->parent) return To<tir::BlockRealize>(func_->body);
  RealizeFinder finder(&block->block());
  finder.VisitStmt(BodyOf(*block->parent->stmt));
  IROPT_CHECK(finder.found != nullptr, "a block without a realization");
  return finder.found;
}

Ref* State::ScopeOf(const Ref* ref) const {
  Ref* scope = ref->parent;
  while (scope && !scope->is_block()) scope = scope->parent;
  return scope;
}

std::vector<Ref*> State::LoopsOf(const Ref* ref) const {
  std::vector<Ref*> loops;
  for (Ref* loop = ref->parent; loop && loop->is_loop(); loop = loop->parent) loops.push_back(loop);
  std::ranges::reverse(loops);
  return loops;
}

std::vector<Ref*> State::ChildrenOf(const Ref* ref) const {
  std::vector<Ref*> children;
  for (const tir::BlockRealize* realize : ChildRealizes(*ref->stmt)) children.push_back(RefOf(realize->block));
  return children;
}

std::vector<Ref*> State::BlocksNamed(std::string_view name) {
  std::vector<Ref*>* named = by_name_.Find(name);
  if (!named) return {};
  std::erase_if(*named, [&](const Ref* ref) { return !ref->is_block() || ref->block().name_hint != name; });
  std::ranges::sort(*named);
  named->erase(std::unique(named->begin(), named->end()), named->end());
  return *named;
}

std::vector<std::string_view> State::BlockNames() const {
  std::vector<std::string_view> names;
  by_name_.ForEachInAnyOrder([&](std::string_view name, const std::vector<Ref*>& refs) {
    const auto has_name = [&](const Ref* ref) { return ref->is_block() && ref->block().name_hint == name; };
    if (std::ranges::any_of(refs, has_name)) names.push_back(name);
  });
  std::ranges::sort(names);
  return names;
}

struct State::Difference {
  std::vector<const tir::Stmt*> before, after;
  bool is_inside;  // the block or loop itself keeps its reference, and these are statements of its body
};

State::Difference State::DifferenceOf(const Ref* at, const tir::Stmt* target, const BlockReuse& reuse) const {
  const tir::Stmt* source = at->stmt;
  const auto* loop = As<tir::For>(source);
  const auto* new_loop = As<tir::For>(target);
  const auto is_pair = [&](const auto& pair) { return pair.first == source && pair.second == target; };
  const bool keeps_ref = loop ? new_loop && loop->loop_var == new_loop->loop_var : std::ranges::any_of(reuse, is_pair);
  if (!keeps_ref || Find(target)) return {{source}, {target}, false};
  std::vector<const tir::Stmt*> before = StatementsOf(BodyOf(*source));
  std::vector<const tir::Stmt*> after = StatementsOf(BodyOf(*target));
  const auto [begin, new_begin] = std::ranges::mismatch(before, after);
  before.erase(before.begin(), begin);
  after.erase(after.begin(), new_begin);
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    before.pop_back();
    after.pop_back();
  }
  return {std::move(before), std::move(after), true};
}

std::vector<Ref*> State::ChildrenIn(const std::vector<const tir::Stmt*>& stmts) const {
  std::vector<Ref*> children;
  for (const tir::Stmt* stmt : stmts) {
    for (const tir::BlockRealize* realize : RealizesIn(stmt)) children.push_back(RefOf(realize->block));
  }
  return children;
}

void State::Replace(Ref* at, const tir::Stmt* target, const BlockReuse& reuse) {
  const tir::Stmt* source = at->stmt;
  if (source == target) return;
  Ref* parent = at->parent;
  const auto [before, after, is_inside] = DifferenceOf(at, target, reuse);
  // A block is replaced as a child of the scope around it.
  const bool is_child = at->is_block() && !is_inside;
  Ref* scope = at->is_block() && is_inside ? at : ScopeOf(at);
  const std::vector<Ref*> children = is_child ? std::vector<Ref*>{at} : ChildrenIn(before);
  CommonPartsFinder common(*this);
  for (const tir::Stmt* part : after) common.VisitStmt(part);
  RemovedPartsFinder removed(*this, common);
  for (const tir::Stmt* part : before) removed.VisitStmt(part);
  Builder builder(*this, is_inside ? at : parent);
  std::vector<Ref*> expired;
  for (Ref* ref : removed.refs) {
    const Node* key = nullptr;
    if (ref->is_loop()) {
      if (common.loop_vars.contains(ref->loop().loop_var)) key = ref->loop().loop_var;
    } else {
      infos_.erase(ref);
      const auto pair = std::ranges::find(reuse, &ref->block(), &BlockReuse::value_type::first);
      if (pair != reuse.end()) key = pair->second;
    }
    if (key)
      builder.reused.try_emplace(key, ref);
    else
      expired.push_back(ref);
  }
  for (Ref* ref : expired) Renew(ref, nullptr);
  if (is_inside) Renew(at, target);
  for (const tir::Stmt* part : after) builder.VisitStmt(part);
  const std::vector<Ref*> new_children = is_child ? std::vector<Ref*>{RefOf(target)} : ChildrenIn(after);
  ReplaceInAncestors(parent, source, target);
  UpdateInfos(scope, children, new_children);
}

void State::ReplaceRealize(Ref* block, const tir::BlockRealize* realize) {
  const tir::BlockRealize* old = RealizeOf(block);
  IROPT_CHECK(realize->block == old->block, "the realization of another block");
  if (!block->parent) {
    func_ = tir::WithBody(func_, realize, workspace_);
    return;
  }
  ReplaceInAncestors(block->parent, old, realize);
}

Ref* State::WrapRealize(Ref* block, const tir::For* loop) {
  const tir::BlockRealize* realize = RealizeOf(block);
  Ref* parent = block->parent;
  Builder(*this, parent).VisitStmt(loop);
  ReplaceInAncestors(parent, realize, loop);
  return RefOf(loop);
}

void State::ReplaceInAncestors(Ref* parent, const tir::Stmt* old_child, const tir::Stmt* new_child) {
  for (; parent; parent = parent->parent) {
    const tir::Stmt* old_parent = parent->stmt;
    const tir::Stmt* body = ChildReplacer(old_child, new_child, workspace_).VisitStmt(BodyOf(*old_parent));
    Renew(parent, WithBody(*old_parent, body, workspace_));
    old_child = old_parent;
    new_child = parent->stmt;
  }
  auto* realize = workspace_.New<tir::BlockRealize>(*To<tir::BlockRealize>(func_->body));
  realize->block = To<tir::Block>(new_child);
  func_ = tir::WithBody(func_, realize, workspace_);
}

Failure State::Refuse(std::string message, std::vector<const Node*> parts) {
  refusal_ = {std::move(message), std::move(parts)};
  return Failure{ErrorCode::PassFailed};
}

arith::IterRanges LoopDomain(const Ref* low, const Ref* high, std::string_view scope) {
  arith::IterRanges ranges;
  const Ref* ref = low;
  for (; ref && ref != high && ref->is_loop(); ref = ref->parent)
    ranges.insert_or_assign(ref->loop().loop_var, tir::Range(ref->loop().min, ref->loop().extent));
  const StorageScope storage = StorageScope::Of(scope);
  if (storage.rank == StorageRank::kGlobal) return ranges;
  for (; ref; ref = ref->parent) {
    if (!ref->is_loop() || ref->loop().for_kind != tir::ForKind::kThreadBinding) continue;
    if (IsSharedBy(storage, ThreadTag::Of(ref->loop().thread_binding->thread_tag)))
      ranges.insert_or_assign(ref->loop().loop_var, tir::Range(ref->loop().min, ref->loop().extent));
  }
  return ranges;
}

}  // namespace iropt::schedule
