// Divides the operations of a function into groups that can each become one function.
//
// The algorithm of T. Chen et al., TVM (2018), as in TVM 0.18's graph_partitioner.cc: an operation is fused with its
// immediate post-dominator, the first operation through which all uses of its result go, if the patterns of all
// operations on the paths between the two allow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "iropt/analysis/tir/op_pattern.h"

namespace iropt {

// The operations of a function in program order, and the uses of their results.
class ForwardGraph {
 public:
  using NodeId = uint32_t;
  struct Node {
    OpPattern pattern = OpPattern::kOpaque;
    bool is_external = false;  // the result is used by what is not in the graph
    uint32_t first_use = 0;
    uint32_t num_uses = 0;
  };

  NodeId AddNode(OpPattern pattern, bool is_external) {
    nodes_.push_back({.pattern = pattern, .is_external = is_external});
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  void SetExternal(NodeId node) { nodes_[node].is_external = true; }
  void AddUse(NodeId node, NodeId user) { uses_.push_back({node, user}); }
  // To be called when all uses are there.
  void Finish();

  size_t size() const { return nodes_.size(); }
  const Node& operator[](NodeId node) const { return nodes_[node]; }
  // The operations that use the result of the node. After Finish.
  std::span<const NodeId> Users(NodeId node) const {
    return {users_.data() + nodes_[node].first_use, nodes_[node].num_uses};
  }

 private:
  struct Use {
    NodeId node = 0;
    NodeId user = 0;
  };
  std::vector<Node> nodes_;
  std::vector<Use> uses_;
  std::vector<NodeId> users_;
};

// The immediate post-dominators of a graph. O((nodes + uses) * log(nodes)).
class PostDominatorTree {
 public:
  using NodeId = ForwardGraph::NodeId;

  explicit PostDominatorTree(const ForwardGraph& graph);

  // Returns whether all uses of the node's results lead to one operation in the end.
  bool HasParent(NodeId node) const { return nodes_[node].parent != root(); }
  NodeId Parent(NodeId node) const { return nodes_[node].parent; }
  // The greatest pattern of the operations that use the node or what depends on it, up to and including the parent.
  OpPattern PatternToParent(NodeId node) const { return nodes_[node].pattern; }

 private:
  struct Node {
    NodeId parent = 0;
    uint32_t depth = 0;
    OpPattern pattern = OpPattern::kElemWise;
    // Skips ancestors, so that a common ancestor is found in O(log(depth)). Source: E. W. Myers, An Applicative
    // Random-Access Stack, 1983.
    NodeId jump = 0;
    OpPattern jump_pattern = OpPattern::kElemWise;  // the greatest pattern of the nodes from this one to before `jump`
  };

  NodeId root() const { return static_cast<NodeId>(nodes_.size() - 1); }
  // The lowest common ancestor; raises `pattern` to that of the nodes on the ways to it.
  NodeId CommonAncestor(NodeId a, NodeId b, OpPattern& pattern) const;
  NodeId Ascend(NodeId node, uint32_t depth, OpPattern& pattern) const;
  void SetParent(NodeId node, NodeId parent, OpPattern pattern);

  std::vector<Node> nodes_;  // the last one is the root of all trees
};

// For each node the number of its group, which is that of one of its members. Groups have at most `max_depth` nodes, on
// which the time depends: O((nodes + uses) * max_depth) at worst, linear for graphs without long parallel paths. With
// `level` 0 each node is a group of its own.
std::vector<ForwardGraph::NodeId> PartitionGraph(const ForwardGraph& graph, int level, size_t max_depth);

}  // namespace iropt
