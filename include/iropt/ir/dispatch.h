// From a node of unknown kind to its struct: Dispatch calls a generic function with the exact type. Generated from the
// table of node kinds; the function must accept every struct of the group, or the build fails.
#pragma once

#include "iropt/ir/attr.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/type.h"

#define IROPT_NAMESPACE_Type ::iropt::
#define IROPT_NAMESPACE_Attr ::iropt::
#define IROPT_NAMESPACE_Expr ::iropt::
#define IROPT_NAMESPACE_Binding ::iropt::
#define IROPT_NAMESPACE_Block ::iropt::
#define IROPT_NAMESPACE_Prim ::iropt::tir::
#define IROPT_NAMESPACE_Stmt ::iropt::tir::
#define IROPT_NAMESPACE_Part ::iropt::tir::
// The struct of a row of node_kinds.def with its namespace.
#define IROPT_NODE_CLASS(Class, Group) IROPT_NAMESPACE_##Group Class

namespace iropt {

// f(const X*) for the node's struct X, which is of group G.
template <NodeGroup G, class F>
decltype(auto) DispatchIn(const Node* n, F&& f) {
  switch (n->kind) {
#define IROPT_NODE(Kind, Class, Group)                                                                                 \
  case NodeKind::k##Kind:                                                                                              \
    if constexpr (NodeGroup::k##Group == G)                                                                            \
      return f(static_cast<const IROPT_NODE_CLASS(Class, Group)*>(n));                                                 \
    else                                                                                                               \
      break;
#include "iropt/ir/node_kinds.def"
  }
  IROPT_UNREACHABLE("{} is not of this group", NodeKindName(n->kind));
}

// Calls f with the node as its class, whatever its group is.
template <class F>
decltype(auto) Dispatch(const Node* n, F&& f) {
  switch (n->kind) {
#define IROPT_NODE(Kind, Class, Group)                                                                                 \
  case NodeKind::k##Kind:                                                                                              \
    return f(static_cast<const IROPT_NODE_CLASS(Class, Group)*>(n));
#include "iropt/ir/node_kinds.def"
  }
  IROPT_UNREACHABLE("node kind {}", n->kind);
}

}  // namespace iropt
