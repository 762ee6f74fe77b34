// Finds the statement that encloses all uses of an undefined name.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "iropt/ir/tir/expr.h"

namespace iropt::text {

// The statements of a function as a tree, and for every variable and buffer the innermost one around all its uses. The
// variables of a buffer count as used at its first use. O(nodes).
class TirScopes {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit TirScopes(const PrimFunc* func);

  // The innermost statement (or the function) around all uses, then what encloses it; kNone if the name is not used.
  uint32_t ScopeOf(const Node* name) const;
  const Node* node(uint32_t scope) const { return scopes_[scope].node; }
  // kNone for the function.
  uint32_t parent(uint32_t scope) const { return scopes_[scope].parent; }
  // Returns whether all uses of the name are inside the statement.
  bool Encloses(const Node* stmt, const Node* name) const;

 private:
  struct Scope {
    const Node* node;
    uint32_t parent;
    uint32_t depth;
  };

  void Visit(const Node* node);
  void Use(const Node* name);
  template <class X>
  void VisitFields(const X* node);
  void Field(const Node* child);
  template <class T>
  void Field(const List<T>& items);
  template <class T>
  void Field(const T&) {}

  std::vector<Scope> scopes_;
  std::vector<uint32_t> stack_;  // from the function to the statement that is visited
  std::unordered_map<const Node*, uint32_t> uses_;
  std::unordered_set<const Node*> seen_;  // parts that several nodes share
};

}  // namespace iropt::text
