// A walk over what code refers to.
#pragma once

#include <type_traits>

#include "iropt/ir/dispatch.h"
#include "iropt/ir/node.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::python {

// Calls f for every node below a node but those of types and attributes, each once: variables and buffers among them.
template <class F>
class NameWalk {
 public:
  NameWalk(LookupSet<const Node*>& seen, F found) : seen_(seen), found_(found) {}

  void Visit(const Node* node) {
    if (node == nullptr || GroupOf(node->kind) == NodeGroup::kType || GroupOf(node->kind) == NodeGroup::kAttr) return;
    // Bindings have one parent, and these have no names in them.
    if (Is<Op>(node) || Is<GlobalVar>(node) || Is<tir::IntImm>(node)) return;
    if (GroupOf(node->kind) != NodeGroup::kBinding && !seen_.insert(node)) return;
    found_(node);
    Dispatch(node, [this](const auto* exact) {
      ForEachField(exact, [this](auto, const auto& value) { VisitField(value); });
    });
  }

 private:
  template <class T>
  void VisitField(const T& value) {
    if constexpr (requires {
                    value.first;
                    value.count;
                  }) {
      for (const auto& item : value) VisitField(item);
    } else if constexpr (std::is_convertible_v<T, const Node*>) {
      Visit(value);
    }
  }

  LookupSet<const Node*>& seen_;
  F found_;
};

}  // namespace iropt::python
