#include "axis_graph.h"

#include <algorithm>

namespace iropt {

namespace {

unsigned BitOf(AxisEdge edge) { return 1U << static_cast<unsigned>(edge); }

// The rank of a split by the kinds of edges that it came along.
int RankOf(unsigned path) {
  if (path == 0) return 3;
  if (path == BitOf(AxisEdge::kToResult)) return 2;
  return path == BitOf(AxisEdge::kToOperand) ? 0 : 1;
}

AxisEdge Reverse(AxisEdge edge) {
  if (edge == AxisEdge::kBetween) return edge;
  return edge == AxisEdge::kToResult ? AxisEdge::kToOperand : AxisEdge::kToResult;
}

}  // namespace

uint32_t AxisGraph::NodeOf(TensorAxis axis) {
  const auto [found, is_new] = index_.try_emplace(axis, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.emplace_back();
  return found;
}

const AxisGraph::Node* AxisGraph::FindNode(TensorAxis axis) const {
  const auto* found = index_.Find(axis);
  return !found ? nullptr : &nodes_[*found];
}

void AxisGraph::Join(TensorAxis from, TensorAxis to, AxisEdge edge) {
  const uint32_t a = NodeOf(from);
  const uint32_t b = NodeOf(to);
  nodes_[a].edges.emplace_back(b, edge);
  nodes_[b].edges.emplace_back(a, Reverse(edge));
}

void AxisGraph::AddSource(TensorAxis axis, MeshAxis split) {
  const uint32_t node = NodeOf(axis);
  if (!nodes_[node].source) sources_.push_back(node);
  nodes_[node].source = split;
}

void AxisGraph::Cut(TensorAxis axis) { nodes_[NodeOf(axis)].is_cut = true; }

void AxisGraph::Propagate() {
  for (Node& node : nodes_) node.splits.clear();
  for (const uint32_t source : sources_) PropagateFrom(source);
  for (Node& node : nodes_) {
    int best = 0;
    for (const Split& split : node.splits) best = std::max(best, split.rank);
    std::erase_if(node.splits, [&](const Split& split) { return split.rank < best; });
  }
}

// Depth first, as TVM does it: the first path to a node counts, and edges that were followed from a node before count
// for the later ones.
void AxisGraph::PropagateFrom(uint32_t source) {
  struct Frame {
    uint32_t node;
    unsigned path;
    size_t next = 0;
  };
  const MeshAxis split = *nodes_[source].source;
  std::vector<bool> visited(nodes_.size(), false);
  std::vector<Frame> stack;
  if (Arrive(source, split, 0, visited)) stack.push_back({source, 0});
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == nodes_[frame.node].edges.size()) {
      stack.pop_back();
      continue;
    }
    const auto [to, edge] = nodes_[frame.node].edges[frame.next++];
    frame.path |= BitOf(edge);
    const unsigned path = frame.path;
    if (Arrive(to, split, path, visited)) stack.push_back({to, path});
  }
}

bool AxisGraph::Arrive(uint32_t node, MeshAxis split, unsigned path, std::vector<bool>& visited) {
  Node& at = nodes_[node];
  if (at.is_cut || (at.source && *at.source != split) || visited[node]) return false;
  visited[node] = true;
  const auto known = std::ranges::find(at.splits, split, &Split::split);
  if (known == at.splits.end()) {
    at.splits.push_back({split, RankOf(path)});
  } else {
    known->rank = RankOf(path);
  }
  return true;
}

std::optional<MeshAxis> AxisGraph::Of(TensorAxis axis) const {
  const Node* node = FindNode(axis);
  return node && !node->splits.empty() ? std::optional(node->splits[0].split) : std::nullopt;
}

bool AxisGraph::IsAmbiguous(TensorAxis axis) const {
  const Node* node = FindNode(axis);
  return node && node->splits.size() > 1;
}

}  // namespace iropt
