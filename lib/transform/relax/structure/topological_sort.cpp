// TopologicalSort: sorts the bindings of dataflow blocks topologically.
//
//   order      "depth-first": users of the latest value come next; "breadth-first": values that can be
//              computed earliest come first
//   direction  "from-inputs": from the parameters on, as early as the operands allow; "from-outputs": from the results
//              back, as late as the uses allow
//
//   lv = R.add(x, one)                                lv = R.add(x, one)
//   lv1 = R.multiply(y, two)     depth-first,         lv2 = R.exp(lv)
//   lv2 = R.exp(lv)              from-inputs   -->    lv1 = R.multiply(y, two)
//   lv3 = R.add(lv2, lv1)                             lv3 = R.add(lv2, lv1)
//
// The traversal is that of the whole function, as in TVM 0.18, once, after Kahn (1962): a variable is ready when all
// its operands were visited. A block keeps its order if the new one would use a symbolic variable before the match_cast
// that defines it. Breadth first from the outputs, values that become ready together, such as all without uses, are
// reversed, so that a second run reverses them again, as in TVM. O(operands + bindings log bindings).
#include "iropt/transform/relax/structure/topological_sort.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/TopologicalSort.h"

namespace iropt {

namespace {

using NodeId = uint32_t;
constexpr NodeId kInput = 0;
constexpr NodeId kOutput = 1;
NodeId IdOf(const Var* var) { return var->id + 2; }

// Neighbours of nodes in one direction, each list in the order in which its edges were found.
class Adjacency {
 public:
  void Add(NodeId from, NodeId to) { edges_.push_back({from, to}); }

  void Build(size_t num_nodes) {
    begin_.assign(num_nodes + 1, 0);
    for (const auto& [from, to] : edges_) ++begin_[from + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    to_.resize(edges_.size());
    std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& [from, to] : edges_) to_[next[from]++] = to;
  }

  std::span<const NodeId> Of(NodeId node) const { return std::span(to_).subspan(begin_[node], Count(node)); }
  uint32_t Count(NodeId node) const { return begin_[node + 1] - begin_[node]; }

 private:
  std::vector<std::array<NodeId, 2>> edges_;
  std::vector<uint32_t> begin_;  // by node, into to_
  std::vector<NodeId> to_;
};

// The dependencies between variables.
struct Dependencies {
  Adjacency users;     // of a variable
  Adjacency operands;  // of a variable
};

class DependencyCollector : private ExprVisitor {
 public:
  explicit DependencyCollector(uint32_t num_vars) : num_nodes_(num_vars + 2) {}

  Dependencies Collect(const Function* function) {
    VisitExpr(function);
    std::vector<bool> has_operand(num_nodes_), has_user(num_nodes_);
    for (const auto& [operand, user] : edges_) has_operand[user] = has_user[operand] = true;
    Dependencies result;
    const auto connect = [&](NodeId operand, NodeId user) {
      result.users.Add(operand, user);
      result.operands.Add(user, operand);
    };
    // Unused values come before the result of the function.
    for (const NodeId node : bound_) {
      if (!has_user[node]) connect(node, kOutput);
    }
    for (const auto& [operand, user] : edges_) connect(operand, user);
    for (const NodeId node : bound_) {
      if (!has_operand[node]) connect(kInput, node);
    }
    result.users.Build(num_nodes_);
    result.operands.Build(num_nodes_);
    return result;
  }

 private:
  void VisitFunction(const Function* function) override {
    for (const Var* param : function->params) edges_.push_back({kInput, IdOf(param)});
    VisitExpr(function->body);
  }
  void VisitBinding(const Binding* binding) override {
    bound_.push_back(IdOf(binding->var));
    const NodeId outer = std::exchange(current_, IdOf(binding->var));
    VisitExpr(ValueOf(binding));
    ForEachShapeVar(binding->var->type, [this](const Var* var) { VisitVar(var); });
    current_ = outer;
  }
  void VisitVar(const Var* var) override { edges_.push_back({IdOf(var), current_}); }

  size_t num_nodes_;
  NodeId current_ = kOutput;
  std::vector<NodeId> bound_;
  std::vector<std::array<NodeId, 2>> edges_;  // operand, user
};

// The position of each variable in the traversal.
class Traversal {
 public:
  Traversal(const Dependencies& dependencies, TopologicalSortOptions options, size_t num_nodes)
      : forward_(options.from_outputs ? dependencies.operands : dependencies.users),
        depth_first_(options.depth_first),
        // The last one pushed on the stack is visited first.
        reversed_(options.depth_first && !options.from_outputs),
        place_(num_nodes, kNone),
        missing_(num_nodes) {
    const Adjacency& backward = options.from_outputs ? dependencies.users : dependencies.operands;
    for (NodeId node = 0; node < num_nodes; ++node) missing_[node] = backward.Count(node);
    ready_.push_back(options.from_outputs ? kOutput : kInput);
    while (!ready_.empty()) Visit(Take());
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t PlaceOf(const Var* var) const { return place_[IdOf(var)]; }

 private:
  NodeId Take() {
    const NodeId node = depth_first_ ? ready_.back() : ready_.front();
    if (depth_first_) {
      ready_.pop_back();
    } else {
      ready_.pop_front();
    }
    return node;
  }

  void Visit(NodeId node) {
    if (place_[node] != kNone) return;
    place_[node] = next_place_++;
    const std::span<const NodeId> neighbours = forward_.Of(node);
    for (const NodeId neighbour : neighbours) --missing_[neighbour];
    for (size_t i = 0; i < neighbours.size(); ++i) {
      const NodeId neighbour = neighbours[reversed_ ? neighbours.size() - 1 - i : i];
      if (missing_[neighbour] == 0 && place_[neighbour] == kNone) ready_.push_back(neighbour);
    }
  }

  const Adjacency& forward_;
  bool depth_first_;
  bool reversed_;
  std::vector<uint32_t> place_;    // by node
  std::vector<uint32_t> missing_;  // by node: edges from nodes that were not visited yet
  std::deque<NodeId> ready_;
  uint32_t next_place_ = 0;
};

class BlockSorter : private ExprRewriter<BlockSorter> {
 public:
  BlockSorter(const Traversal& traversal, bool backwards, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), traversal_(traversal), backwards_(backwards) {}

  const Function* Run(const Function* function) {
    for (const Var* param : function->params) {
      const std::vector<const tir::Var*> defined = DefinedSymVars(param->type);
      params_.insert(params_.end(), defined.begin(), defined.end());
    }
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<BlockSorter>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    const BindingBlock* visited = ExprRewriter::VisitBlock(block);
    return block->is_dataflow() ? Sort(*visited) : visited;
  }

  const BindingBlock* Sort(const BindingBlock& block) {
    std::vector<const Binding*> sorted(block.bindings.begin(), block.bindings.end());
    const auto place = [this](const Binding* binding) { return traversal_.PlaceOf(binding->var); };
    if (std::ranges::any_of(
            sorted, [](uint32_t p) { return p == Traversal::kNone; }, place))
      return &block;
    if (backwards_) {
      std::ranges::sort(sorted, std::ranges::greater(), place);
    } else {
      std::ranges::sort(sorted, std::ranges::less(), place);
    }
    if (std::ranges::equal(sorted, block.bindings) || UsesSymVarTooEarly(sorted)) return &block;
    return Rebuild(block, workspace().Copy(sorted));
  }

  // Returns whether, in the new order, a symbolic variable is used before the match_cast of the block that defines it.
  bool UsesSymVarTooEarly(std::span<const Binding* const> sorted) const {
    std::vector<const tir::Var*> undefined;
    for (const Binding* binding : sorted) {
      const auto* cast = As<MatchCast>(binding);
      if (!cast) continue;
      for (const tir::Var* var : DefinedSymVars(cast->match_type)) {
        if (std::ranges::find(params_, var) == params_.end()) undefined.push_back(var);
      }
    }
    if (undefined.empty()) return false;
    const auto is_undefined = [&](const tir::Var* var) { return std::ranges::find(undefined, var) != undefined.end(); };
    for (const Binding* binding : sorted) {
      if (std::ranges::any_of(FreeSymVars(ValueOf(binding)), is_undefined)) return true;
      const auto* cast = As<MatchCast>(binding);
      for (const tir::Var* var : cast ? DefinedSymVars(cast->match_type) : std::vector<const tir::Var*>()) {
        std::erase(undefined, var);
      }
      if (std::ranges::any_of(SymVarsOf(binding->var->type), is_undefined)) return true;
    }
    return false;
  }

  // Operands do not contain blocks.
  static const Expr* VisitCall(const Call* call) { return call; }
  static const Expr* VisitTuple(const Tuple* tuple) { return tuple; }

  const Traversal& traversal_;
  bool backwards_;
  std::vector<const tir::Var*> params_;  // symbolic variables that parameters define
};

}  // namespace

const Function* TopologicalSort(const Function* function, Workspace& workspace, TopologicalSortOptions options) {
  const size_t num_vars = workspace.num_vars();
  const Dependencies dependencies = DependencyCollector(workspace.num_vars()).Collect(function);
  const Traversal traversal(dependencies, options, num_vars + 2);
  return BlockSorter(traversal, options.from_outputs, workspace).Run(function);
}

Pass CreateTopologicalSort(const PassOptions& options) {
  using Options = pass_options::TopologicalSort;
  const Options given(options);
  const TopologicalSortOptions chosen{.depth_first = *given.order == Options::Order::kDepthFirst,
                                      .from_outputs = *given.direction == Options::Direction::kFromOutputs};
  return CreateFunctionPass(
      options.info(), [chosen](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        return TopologicalSort(function, context.workspace(), chosen);
      });
}

}  // namespace iropt
