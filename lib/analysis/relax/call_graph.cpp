#include "iropt/analysis/relax/call_graph.h"

#include <algorithm>
#include <cstdint>

namespace iropt {

namespace {

// Source: R. Tarjan, Depth-First Search and Linear Graph Algorithms, 1972; with an explicit stack.
class ComponentFinder {
 public:
  ComponentFinder(const Module& module, CalledFunctionsSource called) : callees_(module.size()), nodes_(module.size()) {
    graph_.recursive.resize(module.size(), false);
    for (size_t i = 0; i < module.size(); ++i) {
      const ModuleEntry& entry = module.functions()[i];
      const auto callees = called(entry);
      for (const GlobalVar* callee : *callees) {
        const int index = module.IndexOf(callee);
        if (index < 0) continue;
        callees_[i].push_back(static_cast<size_t>(index));
        if (static_cast<size_t>(index) == i) graph_.recursive[i] = true;
      }
    }
  }

  CallGraph Run() && {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].number == 0) Visit(i);
    }
    return std::move(graph_);
  }

 private:
  struct Node {
    uint32_t number = 0;  // in the order of visits, from 1
    uint32_t lowest = 0;  // of the reachable nodes that are not in a component yet
    uint32_t next = 0;    // of the callees
    bool is_open = false;
  };

  void Enter(size_t i) {
    nodes_[i].number = nodes_[i].lowest = ++count_;
    nodes_[i].is_open = true;
    open_.push_back(i);
    path_.push_back(i);
  }

  void Visit(size_t root) {
    Enter(root);
    while (!path_.empty()) {
      const size_t i = path_.back();
      if (nodes_[i].next < callees_[i].size()) {
        const size_t callee = callees_[i][nodes_[i].next++];
        if (nodes_[callee].number == 0) {
          Enter(callee);
        } else if (nodes_[callee].is_open) {
          nodes_[i].lowest = std::min(nodes_[i].lowest, nodes_[callee].number);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) nodes_[path_.back()].lowest = std::min(nodes_[path_.back()].lowest, nodes_[i].lowest);
      if (nodes_[i].lowest == nodes_[i].number) CloseComponent(i);
    }
  }

  void CloseComponent(size_t first) {
    const bool is_cycle = open_.back() != first;
    size_t i = 0;
    do {
      i = open_.back();
      open_.pop_back();
      nodes_[i].is_open = false;
      if (is_cycle) graph_.recursive[i] = true;
      graph_.post_order.push_back(i);
    } while (i != first);
  }

  std::vector<std::vector<size_t>> callees_;
  std::vector<Node> nodes_;
  CallGraph graph_;
  uint32_t count_ = 0;
  std::vector<size_t> path_;
  std::vector<size_t> open_;
};

}  // namespace

CallGraph MakeCallGraph(const Module& module, CalledFunctionsSource called) {
  return ComponentFinder(module, called).Run();
}

}  // namespace iropt
