#include "schedule.h"

#include <algorithm>
#include <set>

#include "iropt/support/stack.h"

namespace iropt::relay {

Schedule::Schedule(const Graph& graph, NodeId function) : graph_(graph), low_(FindLowest(function)) {
  places_.resize(function - low_ + 1);
  resolved_.assign(places_.size(), kNoNode);
  AssignScopes(function);
  Order(function);
  FindOutputs();
}

bool Schedule::IsInline(NodeId id) const {
  switch (graph_[id].kind) {
    case GraphKind::kError:
    case GraphKind::kVar:
    case GraphKind::kGlobal:
    case GraphKind::kConstant:
    case GraphKind::kLets: return true;
    case GraphKind::kTuple: return !IsBoundTuple(id);
    default: return false;
  }
}

// The next node of the way to the one that `id` stands for; `id` if it is that one itself.
NodeId Schedule::Step(NodeId id) const {
  const GraphNode& node = graph_[id];
  if (node.kind == GraphKind::kVar && graph_.vars[node.index].value != kNoNode) return graph_.vars[node.index].value;
  if (node.kind == GraphKind::kLets) return node.operands.back();
  if (node.kind != GraphKind::kItem) return id;
  const NodeId tuple = WithStack([&] { return Resolve(node.operands.front()); });
  if (graph_[tuple].kind != GraphKind::kTuple || node.index >= graph_[tuple].operands.size()) return id;
  return graph_[tuple].operands[node.index];
}

NodeId Schedule::Resolve(NodeId id) const {
  std::vector<NodeId> way;
  NodeId next = Step(id);
  // A variable stands for itself only in a text with errors.
  while (next != id && way.size() <= graph_.nodes.size()) {
    way.push_back(id);
    id = next;
    const bool known = id >= low_ && id - low_ < resolved_.size() && resolved_[id - low_] != kNoNode;
    next = known ? resolved_[id - low_] : Step(id);
  }
  for (const NodeId passed : way) {
    if (passed >= low_ && passed - low_ < resolved_.size()) resolved_[passed - low_] = id;
  }
  return id;
}

// A function may use nodes of earlier ones, whose text comes first.
NodeId Schedule::FindLowest(NodeId function) const {
  const NodeId first = graph_.functions[graph_[function].index].first_node;
  std::set<NodeId> earlier;
  std::vector<NodeId> pending;
  const auto add_operands = [&](NodeId id) {
    for (const NodeId operand : graph_[id].operands) {
      if (operand < first && earlier.insert(operand).second) pending.push_back(operand);
    }
  };
  for (NodeId id = first; id <= function; ++id) add_operands(id);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    add_operands(id);
  }
  return earlier.empty() ? first : *earlier.begin();
}

uint32_t Schedule::NewScope(uint32_t parent, NodeId owner, NodeId result) {
  const uint32_t depth = parent == UINT32_MAX ? 0 : scopes_[parent].depth + 1;
  scopes_.push_back({parent, depth, owner, result, {}, {}});
  return static_cast<uint32_t>(scopes_.size() - 1);
}

uint32_t Schedule::CommonScope(uint32_t a, uint32_t b) const {
  while (a != b) {
    if (scopes_[a].depth < scopes_[b].depth) std::swap(a, b);
    a = scopes_[a].parent;
  }
  return a;
}

void Schedule::Use(NodeId id, uint32_t scope) {
  Place& place = PlaceOf(id);
  place.scope = place.scope == UINT32_MAX ? scope : CommonScope(place.scope, scope);
}

// Users have greater numbers than what they use, so that all users of a node are known when its turn comes.
void Schedule::AssignScopes(NodeId function) {
  for (NodeId id = function + 1; id-- > low_;) {
    const GraphNode& node = graph_[id];
    const uint32_t scope = PlaceOf(id).scope;
    if (id != function && scope == UINT32_MAX) continue;
    if (node.kind == GraphKind::kFunction) {
      if (node.operands.empty()) continue;
      const uint32_t body = NewScope(scope, id, node.operands.front());
      PlaceOf(id).first_scope = body;
      Use(node.operands.front(), body);
    } else if (node.kind == GraphKind::kIf) {
      const uint32_t branch = NewScope(scope, id, node.operands[1]);
      NewScope(scope, id, node.operands[2]);
      PlaceOf(id).first_scope = branch;
      Use(node.operands[0], scope);
      Use(node.operands[1], branch);
      Use(node.operands[2], branch + 1);
    } else {
      for (const NodeId operand : node.operands) {
        Use(operand, scope);
        const NodeId field = node.kind == GraphKind::kTuple ? Resolve(operand) : operand;
        const bool is_tuple = graph_[field].kind == GraphKind::kTuple && !graph_[field].operands.empty();
        if (node.kind == GraphKind::kTuple && is_tuple && field >= low_) PlaceOf(field).bound_tuple = true;
      }
    }
  }
}

void Schedule::Append(NodeId id) {
  const GraphNode& node = graph_[id];
  Place& place = PlaceOf(id);
  uint32_t& block = current_block_[place.scope];
  if (IsBarrier(node)) ++block;
  place.block = block;
  if (IsBarrier(node)) ++block;
  if (IsInline(id)) return;
  place.position = static_cast<uint32_t>(scopes_[place.scope].order.size());
  scopes_[place.scope].order.push_back(id);
}

// Operands before users. Everything in a conditional comes before it, each node in the order of its own scope.
void Schedule::Order(NodeId function) {
  current_block_.assign(scopes_.size(), 0);
  struct Visit {
    NodeId id;
    uint32_t next;
  };
  std::vector<Visit> stack{{function, 0}};
  PlaceOf(function).placed = true;
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const List<NodeId> operands = graph_[visit.id].operands;
    if (visit.next < operands.size()) {
      const NodeId operand = operands[visit.next++];
      Place& place = PlaceOf(operand);
      if (place.placed) continue;
      place.placed = true;
      stack.push_back({operand, 0});
      continue;
    }
    if (visit.id != function) Append(visit.id);
    stack.pop_back();
  }
}

void Schedule::MarkUse(NodeId operand, uint32_t scope, uint32_t block) {
  operand = Resolve(operand);
  if (operand < low_ || operand - low_ >= places_.size()) return;
  const Place& place = PlaceOf(operand);
  if (place.scope == UINT32_MAX) return;
  const GraphNode& node = graph_[operand];
  if (node.kind == GraphKind::kTuple && IsInline(operand)) {
    // The fields are used where the tuple is; their own uses say the same of the place of the tuple.
    if (place.scope == scope && place.block == block) return;
    for (const NodeId field : node.operands) MarkUse(field, scope, block);
    return;
  }
  if (IsInline(operand) || place.position >= scopes_[place.scope].is_output.size()) return;
  uint32_t at = block;
  for (uint32_t inner = scope; inner != place.scope && inner != UINT32_MAX; inner = scopes_[inner].parent)
    at = PlaceOf(scopes_[inner].owner).block;
  if (at != place.block) scopes_[place.scope].is_output[place.position] = true;
}

void Schedule::FindOutputs() {
  for (ScheduledScope& scope : scopes_) scope.is_output.assign(scope.order.size(), false);
  for (uint32_t s = 0; s < scopes_.size(); ++s) MarkUse(scopes_[s].result, s, UINT32_MAX);
  for (NodeId id = low_; id - low_ < places_.size(); ++id) {
    const Place& place = PlaceOf(id);
    if (!place.placed || place.scope == UINT32_MAX) continue;
    const GraphNode& node = graph_[id];
    if (node.kind == GraphKind::kIf) {
      MarkUse(node.operands.front(), place.scope, place.block);
    } else if (node.kind != GraphKind::kFunction && node.kind != GraphKind::kLets) {
      for (const NodeId operand : node.operands) MarkUse(operand, place.scope, place.block);
    }
  }
}

}  // namespace iropt::relay
