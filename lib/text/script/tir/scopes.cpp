#include "scopes.h"

#include "iropt/ir/dispatch.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt::text {
namespace {

uint32_t HashOf(const Node* node) { return static_cast<uint32_t>(HashMix(reinterpret_cast<uintptr_t>(node))); }

}  // namespace

TirScopes::TirScopes(const PrimFunc* func) {
  scopes_.push_back({func, kNone, 0});
  stack_.push_back(0);
  for (const tir::Var* param : func->params) Use(param);
  Visit(func->body);
  for (const tir::Buffer* buffer : func->param_buffers) {
    if (buffer) Visit(buffer);
  }
}

size_t TirScopes::Find(const NodeSet& set, const Node* node) {
  return set.Find(HashOf(node), [node](const Member& member) { return member.node == node; });
}

std::pair<size_t, bool> TirScopes::Add(NodeSet& set, const Node* node) {
  if (const size_t known = Find(set, node); known != NodeSet::kNone) return {known, false};
  set.Add({node, HashOf(node)});
  return {set.size() - 1, true};
}

const TirScopes::Uses* TirScopes::UsesOf(const Node* name) const {
  const size_t index = Find(names_, name);
  return index == NodeSet::kNone ? nullptr : &uses_[index];
}

void TirScopes::Use(const Node* name) {
  const auto [index, added] = Add(names_, name);
  if (added) uses_.emplace_back();
  Uses& uses = uses_[index];
  Extend(uses.scope);
  if (name->kind != NodeKind::kBuffer) return;
  if (num_repeated_ == 0) Extend(uses.first_scope);
  if (uses.all.empty() || uses.all.back() != stack_.back()) uses.all.push_back(stack_.back());
}

void TirScopes::Extend(uint32_t& scope) const {
  if (scope == kNone) {
    scope = stack_.back();
    return;
  }
  // Only ever moves towards the function, so that the steps are paid for by the depth of the first use.
  while (scopes_[scope].depth >= stack_.size() || stack_[scopes_[scope].depth] != scope) scope = scopes_[scope].parent;
}

uint32_t TirScopes::Common(uint32_t a, uint32_t b) const {
  while (a != b) {
    uint32_t& deeper = scopes_[a].depth >= scopes_[b].depth ? a : b;
    deeper = scopes_[deeper].parent;
  }
  return a;
}

std::vector<uint32_t> TirScopes::DeclarationsOf(const tir::Buffer* buffer) const {
  const Uses* uses = UsesOf(buffer);
  if (!uses) return {};
  if (uses->first_scope == uses->scope || uses->first_scope == kNone) return {uses->scope};
  LookupSet<const Node*> around_first;
  for (uint32_t s = uses->first_scope; s != kNone; s = scopes_[s].parent) around_first.insert(scopes_[s].node);
  std::vector<uint32_t> declarations;
  uint32_t frame = kNone;  // of the last declaration
  for (const uint32_t use : uses->all) {
    if (frame != kNone && Common(frame, use) == frame) {
      declarations.back() = Common(declarations.back(), use);
      continue;
    }
    for (frame = use; !around_first.contains(scopes_[frame].node);) frame = scopes_[frame].parent;
    declarations.push_back(use);
  }
  return declarations;
}

template <class T>
void TirScopes::Field(const List<T>& items) {
  if constexpr (std::is_convertible_v<T, const Node*>) {
    for (const T& item : items) Field(static_cast<const Node*>(item));
  }
}

void TirScopes::Field(const Node* child) {
  if (child) Visit(child);
}

template <class X>
void TirScopes::VisitFields(const X* node) {
  ForEachField(node, [&](const auto&, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_convertible_v<T, const Node*>) {
      Field(static_cast<const Node*>(value));
    } else {
      Field(value);
    }
  });
}

void TirScopes::Visit(const Node* node) {
  const NodeGroup group = GroupOf(node->kind);
  // Types and operators have no names of the function in them.
  if (group == NodeGroup::kType || group == NodeGroup::kExpr) return;
  if (tir::Var::ClassOf(node->kind)) return Use(node);
  const bool is_buffer = node->kind == NodeKind::kBuffer;
  if (is_buffer) Use(node);
  // Other expressions contain buffers only in loads, which are shared where they are.
  const bool may_repeat = group != NodeGroup::kPrim || node->kind == NodeKind::kBufferLoad;
  const bool is_repeated = may_repeat && !Add(seen_, node).second;
  if (is_repeated && (is_buffer || node->kind == NodeKind::kIterVar)) return;
  num_repeated_ += is_repeated;
  WithStack([&] {
    const bool scope = group == NodeGroup::kStmt || node->kind == NodeKind::kCommReducer;
    if (scope) {
      scopes_.push_back({node, stack_.back(), static_cast<uint32_t>(stack_.size())});
      stack_.push_back(static_cast<uint32_t>(scopes_.size() - 1));
    }
    Dispatch(node, [&](const auto* n) { VisitFields(n); });
    if (scope) stack_.pop_back();
  });
  num_repeated_ -= is_repeated;
}

uint32_t TirScopes::ScopeOf(const Node* name) const {
  const Uses* uses = UsesOf(name);
  return uses ? uses->scope : kNone;
}

bool TirScopes::Encloses(const Node* stmt, const Node* name) const {
  for (uint32_t s = ScopeOf(name); s != kNone; s = scopes_[s].parent) {
    if (scopes_[s].node == stmt) return true;
  }
  return false;
}

}  // namespace iropt::text
