#include "graph_partitioner.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace iropt {

using NodeId = ForwardGraph::NodeId;

void ForwardGraph::Finish() {
  for (const Use& use : uses_) ++nodes_[use.node].num_uses;
  uint32_t first = 0;
  for (Node& node : nodes_) {
    node.first_use = first;
    first += std::exchange(node.num_uses, 0);
  }
  users_.resize(uses_.size());
  for (const Use& use : uses_) {
    Node& node = nodes_[use.node];
    users_[node.first_use + node.num_uses++] = use.user;
  }
  uses_.clear();
}

PostDominatorTree::PostDominatorTree(const ForwardGraph& graph) : nodes_(graph.size() + 1) {
  nodes_[root()] = {.parent = root(), .jump = root()};
  for (NodeId node = root(); node-- > 0;) {
    const std::span<const NodeId> users = graph.Users(node);
    if (graph[node].is_external || users.empty()) {
      SetParent(node, root(), OpPattern::kOpaque);
      continue;
    }
    NodeId parent = users.front();
    OpPattern pattern = graph[parent].pattern;
    for (const NodeId user : users.subspan(1)) {
      parent = CommonAncestor(parent, user, pattern);
      pattern = std::max(pattern, graph[user].pattern);
    }
    SetParent(node, parent, pattern);
  }
}

void PostDominatorTree::SetParent(NodeId id, NodeId parent, OpPattern pattern) {
  Node& node = nodes_[id];
  const Node& above = nodes_[parent];
  const Node& jump = nodes_[above.jump];
  node = {.parent = parent, .depth = above.depth + 1, .pattern = pattern, .jump = parent, .jump_pattern = pattern};
  if (above.depth - jump.depth != jump.depth - nodes_[jump.jump].depth) return;
  node.jump = jump.jump;
  node.jump_pattern = std::max({pattern, above.jump_pattern, jump.jump_pattern});
}

NodeId PostDominatorTree::Ascend(NodeId node, uint32_t depth, OpPattern& pattern) const {
  while (nodes_[node].depth > depth) {
    const bool jumps = nodes_[nodes_[node].jump].depth >= depth;
    pattern = std::max(pattern, jumps ? nodes_[node].jump_pattern : nodes_[node].pattern);
    node = jumps ? nodes_[node].jump : nodes_[node].parent;
  }
  return node;
}

NodeId PostDominatorTree::CommonAncestor(NodeId a, NodeId b, OpPattern& pattern) const {
  a = Ascend(a, nodes_[b].depth, pattern);
  b = Ascend(b, nodes_[a].depth, pattern);
  while (a != b) {
    // Nodes of one depth jump to one depth.
    const bool jumps = nodes_[a].jump != nodes_[b].jump;
    for (NodeId* node : {&a, &b}) {
      pattern = std::max(pattern, jumps ? nodes_[*node].jump_pattern : nodes_[*node].pattern);
      *node = jumps ? nodes_[*node].jump : nodes_[*node].parent;
    }
  }
  return a;
}

namespace {

class Partitioner {
 public:
  Partitioner(const ForwardGraph& graph, size_t max_depth)
      : graph_(graph), max_depth_(max_depth), groups_(graph.size()), seen_in_(graph.size(), 0) {
    for (NodeId node = 0; node < graph.size(); ++node) {
      groups_[node] = {.parent = node,
                       .pattern = graph[node].pattern,
                       .has_anchor = graph[node].pattern == OpPattern::kOutEWiseFusable};
    }
  }

  std::vector<NodeId> Run() {
    const PostDominatorTree tree(graph_);
    // Injective operations come second, so that reductions get the operations after them.
    for (const Phase phase : {Phase::kReductions, Phase::kInjective}) {
      for (NodeId node = 0; node < graph_.size(); ++node) {
        if (tree.HasParent(node)) TryFuse(node, tree.Parent(node), tree.PatternToParent(node), phase);
      }
    }
    std::vector<NodeId> roots(graph_.size());
    for (NodeId node = 0; node < graph_.size(); ++node) roots[node] = Root(node);
    return roots;
  }

 private:
  enum class Phase : uint8_t { kReductions, kInjective };

  // A union-find forest of nodes; the fields of a root are those of its group.
  struct Group {
    NodeId parent = 0;
    OpPattern pattern = OpPattern::kOpaque;
    bool has_anchor = false;  // has a reduction to which operations were fused
    uint32_t num_nodes = 1;
  };

  NodeId Root(NodeId node) {
    while (groups_[node].parent != node) {
      groups_[node].parent = groups_[groups_[node].parent].parent;
      node = groups_[node].parent;
    }
    return node;
  }

  void TryFuse(NodeId node, NodeId sink, OpPattern pattern_to_sink, Phase phase) {
    const OpPattern pattern = groups_[node].pattern;
    if (pattern == OpPattern::kOpaque || !FindPaths(node, sink) || Root(node) == Root(sink)) return;
    using enum OpPattern;
    if (pattern == kOutEWiseFusable) {
      if (phase != Phase::kReductions || pattern_to_sink != kElemWise) return;
      if (AllBetween(kBroadcast) && SinkPattern() <= kBroadcast) Fuse(node, sink);
    } else if (pattern <= kBroadcast) {
      if (pattern_to_sink > kCommReduce) return;
      if (AllBetween(kInjective) && SinkPattern() <= kOutEWiseFusable) Fuse(node, sink);
    } else if (pattern == kInjective && phase == Phase::kInjective) {
      if (AllBetween(kInjective) && SinkPattern() <= kInjective) Fuse(node, sink);
    }
  }

  // Collects the nodes after `node` on the paths to `sink`, which post-dominates it. False if the group would have too
  // many.
  bool FindPaths(NodeId node, NodeId sink) {
    ++last_search_;
    between_.clear();
    sink_root_ = Root(sink);
    size_t size = groups_[sink_root_].num_nodes + groups_[node].num_nodes;
    const auto enter = [&](NodeId from) {
      for (const NodeId user : graph_.Users(from)) {
        if (user == sink || seen_in_[user] == last_search_) continue;
        seen_in_[user] = last_search_;
        between_.push_back(user);
        size += groups_[user].num_nodes;
        if (size > max_depth_) return false;
      }
      return true;
    };
    if (size > max_depth_ || !enter(node)) return false;
    for (size_t i = 0; i < between_.size(); ++i) {
      if (!enter(between_[i])) return false;
    }
    return true;
  }

  OpPattern SinkPattern() const { return groups_[sink_root_].pattern; }
  bool AllBetween(OpPattern most) {
    return std::ranges::all_of(between_, [&](NodeId node) { return groups_[Root(node)].pattern <= most; });
  }

  void Fuse(NodeId node, NodeId sink) {
    Merge(node, sink);
    for (const NodeId between : between_) Merge(between, sink);
  }

  void Merge(NodeId from, NodeId to) {
    Group& child = groups_[Root(from)];
    Group& parent = groups_[Root(to)];
    if (&child == &parent) return;
    parent.num_nodes += child.num_nodes;
    child.parent = parent.parent;
    if (!child.has_anchor) return;
    parent.has_anchor = true;
    parent.pattern = std::max(parent.pattern, child.pattern);
  }

  const ForwardGraph& graph_;
  const size_t max_depth_;
  std::vector<Group> groups_;
  std::vector<uint32_t> seen_in_;  // by node: the last search that met it
  uint32_t last_search_ = 0;
  // The last search.
  std::vector<NodeId> between_;
  NodeId sink_root_ = 0;
};

}  // namespace

std::vector<NodeId> PartitionGraph(const ForwardGraph& graph, int level, size_t max_depth) {
  if (level > 0) return Partitioner(graph, max_depth).Run();
  std::vector<NodeId> alone(graph.size());
  std::iota(alone.begin(), alone.end(), 0);
  return alone;
}

}  // namespace iropt
