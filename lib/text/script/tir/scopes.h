// Finds the statement that encloses all uses of an undefined name.
#pragma once

#include <utility>
#include <vector>

#include "iropt/ir/tir/expr.h"
#include "iropt/support/scoped_hash_table.h"

namespace iropt::text {

// The statements of a function as a tree, and for every variable and buffer the innermost one around all its uses. The
// variables of a buffer count as used at its first use. O(nodes).
class TirScopes {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit TirScopes(const PrimFunc* func);

  // The innermost statement (or the function) around all uses, then what encloses it; kNone if the name is not used.
  uint32_t ScopeOf(const Node* name) const;
  // Returns the scopes in which TVM declares a buffer over memory that has a name, in order. A load that several
  // statements share, as the iterations of an unrolled loop do, counts for TVM only where it occurs first: a
  // declaration is around the uses there, and the buffer is declared again for those that are outside. Each declaration
  // goes to the innermost statement around its uses, so that the text is the same after it was read. O(uses, times the
  // depth).
  std::vector<uint32_t> DeclarationsOf(const tir::Buffer* buffer) const;
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

  struct Uses {
    uint32_t scope = kNone;        // around all of them
    uint32_t first_scope = kNone;  // of a buffer, around those that are not in nodes that occurred before
    std::vector<uint32_t> all;     // of a buffer, the scopes of its uses in order
  };

  // A set of nodes that counts them.
  struct Member {
    const Node* node;
    uint32_t hash;
  };
  using NodeSet = ScopedHashTable<Member>;
  static size_t Find(const NodeSet& set, const Node* node);
  // The index of the node, and whether it was added now.
  static std::pair<size_t, bool> Add(NodeSet& set, const Node* node);
  // Null if the name is not used.
  const Uses* UsesOf(const Node* name) const;

  void Visit(const Node* node);
  void Use(const Node* name);
  // Extends a scope to the statement that is visited.
  void Extend(uint32_t& scope) const;
  // The innermost scope around both.
  uint32_t Common(uint32_t a, uint32_t b) const;
  template <class X>
  void VisitFields(const X* node);
  void Field(const Node* child);
  template <class T>
  void Field(const List<T>& items);
  template <class T>
  void Field(const T&) {}

  std::vector<Scope> scopes_;
  std::vector<uint32_t> stack_;  // from the function to the statement that is visited
  NodeSet names_;
  std::vector<Uses> uses_;  // of each name
  NodeSet seen_;
  int num_repeated_ = 0;  // nodes around the one that is visited that occurred before
};

}  // namespace iropt::text
