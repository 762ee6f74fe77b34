#include "scopes.h"

#include "iropt/ir/dispatch.h"
#include "iropt/support/stack.h"

namespace iropt::text {

TirScopes::TirScopes(const PrimFunc* func) {
  scopes_.push_back({func, kNone, 0});
  stack_.push_back(0);
  for (const tir::Var* param : func->params) Use(param);
  Visit(func->body);
  for (const tir::Buffer* buffer : func->param_buffers) {
    if (buffer) Visit(buffer);
  }
}

void TirScopes::Use(const Node* name) {
  const auto [it, first] = uses_.try_emplace(name, stack_.back());
  if (first) return;
  // Only ever moves towards the function, so that the steps are paid for by the depth of the first use.
  uint32_t& scope = it->second;
  while (scopes_[scope].depth >= stack_.size() || stack_[scopes_[scope].depth] != scope) scope = scopes_[scope].parent;
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
  if ((is_buffer || node->kind == NodeKind::kIterVar) && !seen_.insert(node).second) return;
  WithStack([&] {
    const bool scope = group == NodeGroup::kStmt || node->kind == NodeKind::kCommReducer;
    if (scope) {
      scopes_.push_back({node, stack_.back(), static_cast<uint32_t>(stack_.size())});
      stack_.push_back(static_cast<uint32_t>(scopes_.size() - 1));
    }
    Dispatch(node, [&](const auto* n) { VisitFields(n); });
    if (scope) stack_.pop_back();
  });
}

uint32_t TirScopes::ScopeOf(const Node* name) const {
  const auto it = uses_.find(name);
  return it == uses_.end() ? kNone : it->second;
}

bool TirScopes::Encloses(const Node* stmt, const Node* name) const {
  for (uint32_t s = ScopeOf(name); s != kNone; s = scopes_[s].parent) {
    if (scopes_[s].node == stmt) return true;
  }
  return false;
}

}  // namespace iropt::text
