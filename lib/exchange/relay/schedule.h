// The order in which the nodes of a function become bindings. An expression with several users is evaluated once, in
// the innermost scope around all of them; the order within a scope is that of the operands, not of the text, so that
// texts of the same graph give the same bindings.
#pragma once

#include <cstdint>
#include <vector>

#include "graph.h"

namespace iropt::relay {

// The body of a function or a branch.
struct ScheduledScope {
  uint32_t parent = UINT32_MAX;
  uint32_t depth = 0;
  NodeId owner = kNoNode;  // the function or conditional
  NodeId result = kNoNode;
  std::vector<NodeId> order;    // nodes that get a binding
  std::vector<bool> is_output;  // for each of them: whether it is used outside of its block of bindings
};

class Schedule {
 public:
  // For the function node and everything in it. Linear in the nodes that it uses, and iterative.
  Schedule(const Graph& graph, NodeId function);

  const ScheduledScope& Body(NodeId function) const { return scopes_[BodyIndex(function)]; }
  // The two branches of a conditional.
  const ScheduledScope& Then(NodeId conditional) const { return scopes_[BodyIndex(conditional)]; }
  const ScheduledScope& Else(NodeId conditional) const { return scopes_[BodyIndex(conditional) + 1]; }
  // All nodes of the function have numbers from here to its own.
  NodeId low() const { return low_; }
  // Returns whether a node is used.
  bool IsUsed(NodeId id) const { return PlaceOf(id).placed; }
  // Returns whether a tuple gets a binding: if it is the field of another one, so that tuples of shared tuples do not
  // grow. Others are written where they are used.
  bool IsBoundTuple(NodeId id) const { return PlaceOf(id).bound_tuple; }
  // The node that a node stands for: the value of a variable of a let, the body of lets, the field of a tuple.
  NodeId Resolve(NodeId id) const;
  // Bindings before and after such a node are in different blocks.
  static bool IsBarrier(const GraphNode& node) { return node.kind == GraphKind::kIf; }

 private:
  struct Place {
    uint32_t scope = UINT32_MAX;
    uint32_t block = 0;     // of the binding in its scope; blocks are numbered from 0, barriers included
    uint32_t position = 0;  // in the order of the scope
    bool placed = false;
    bool bound_tuple = false;
    uint32_t first_scope = UINT32_MAX;  // of the node, if it has scopes
  };

  uint32_t BodyIndex(NodeId node) const { return PlaceOf(node).first_scope; }
  const Place& PlaceOf(NodeId id) const { return places_[id - low_]; }
  Place& PlaceOf(NodeId id) { return places_[id - low_]; }
  NodeId FindLowest(NodeId function) const;
  NodeId Step(NodeId id) const;
  // Nodes that are written where they are used.
  bool IsInline(NodeId id) const;
  void AssignScopes(NodeId function);
  void Use(NodeId id, uint32_t scope);
  uint32_t NewScope(uint32_t parent, NodeId owner, NodeId result);
  uint32_t CommonScope(uint32_t a, uint32_t b) const;
  void Order(NodeId function);
  void Append(NodeId id);
  void FindOutputs();
  void MarkUse(NodeId operand, uint32_t scope, uint32_t block);

  const Graph& graph_;
  NodeId low_ = 0;             // the smallest number of a node that is used
  std::vector<Place> places_;  // by number - low_
  std::vector<ScheduledScope> scopes_;
  mutable std::vector<NodeId> resolved_;  // what Resolve has found, in the same order
  std::vector<uint32_t> current_block_;   // by scope, while the order is found
};

}  // namespace iropt::relay
