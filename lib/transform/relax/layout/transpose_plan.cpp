#include "transpose_plan.h"

#include <algorithm>
#include <queue>
#include <span>
#include <vector>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/support/arena.h"
#include "layout_rewriter.h"
#include "transform/relax/util/tensor_axes.h"
#include "transpose_rules.h"

namespace iropt {

namespace {

bool HasRank(const Type* type, int ndim) {
  const auto* tensor = As<TensorType>(type);
  return tensor && tensor->ndim == ndim;
}

// A number for each node that computes in one of two orders. The first two have theirs.
using NodeId = int;
constexpr NodeId kProgram = 0;
constexpr NodeId kStored = 1;

// A graph of directed edges with capacities, and the cheapest set of edges that separates kProgram from kStored.
class MinimumCut {
 public:
  NodeId AddNode() {
    edges_of_.emplace_back();
    return static_cast<NodeId>(edges_of_.size()) - 1;
  }
  // An edge that counts if `from` is on the side of kProgram and `to` on that of kStored.
  void AddEdge(NodeId from, NodeId to, int capacity) {
    edges_of_[Index(from)].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[Index(to)].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  // Returns the capacity of the cut.
  int Solve() {
    int flow = 0;
    while (Augment()) ++flow;
    return flow;
  }
  // After Solve: whether each node is on the side of kStored in the cut with the fewest such nodes.
  std::vector<bool> StoredSide() const {
    std::vector<bool> stored(edges_of_.size());
    std::queue<NodeId> open({kStored});
    stored[Index(kStored)] = true;
    while (!open.empty()) {
      const NodeId node = open.front();
      open.pop();
      for (const size_t edge : edges_of_[Index(node)]) {
        const NodeId before = edges_[edge].to;
        if (edges_[edge ^ 1].capacity == 0 || stored[Index(before)]) continue;
        stored[Index(before)] = true;
        open.push(before);
      }
    }
    return stored;
  }

 private:
  struct Edge {
    NodeId to;
    int capacity;  // that is left; the edge of the number with the last bit inverted is the way back
  };
  static size_t Index(NodeId node) { return static_cast<size_t>(node); }

  // Sends one unit along a shortest path. All finite capacities are small.
  bool Augment() {
    constexpr size_t kNone = SIZE_MAX;
    std::vector<size_t> edge_to(edges_of_.size(), kNone);
    std::queue<NodeId> open({kProgram});
    while (!open.empty() && edge_to[Index(kStored)] == kNone) {
      const NodeId node = open.front();
      open.pop();
      for (const size_t edge : edges_of_[Index(node)]) {
        const NodeId to = edges_[edge].to;
        if (edges_[edge].capacity == 0 || to == kProgram || edge_to[Index(to)] != kNone) continue;
        edge_to[Index(to)] = edge;
        open.push(to);
      }
    }
    if (edge_to[Index(kStored)] == kNone) return false;
    for (NodeId node = kStored; node != kProgram;) {
      const size_t edge = edge_to[Index(node)];
      --edges_[edge].capacity;
      ++edges_[edge ^ 1].capacity;
      node = edges_[edge ^ 1].to;
    }
    return true;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> edges_of_{2};
};

class VarCollector : public ExprVisitor {
 public:
  std::vector<const Var*> vars;

 protected:
  void VisitVar(const Var* var) override { vars.push_back(var); }
};

std::vector<const Var*> VarsOf(const Expr* value) {
  VarCollector collector;
  collector.VisitExpr(value);
  return std::move(collector.vars);
}

const Expr* BoundValue(const Binding& binding) {
  const auto* cast = As<MatchCast>(&binding);
  return cast ? cast->value : To<VarBinding>(&binding)->value;
}

class TransposePlanner {
 public:
  TransposePlanner(const DataflowBlock& block, const ValueLayout& layout)
      : block_(block), layout_(layout), ndim_(layout.order.ndim()) {
    for (int place = 0; place < ndim_; ++place) ends_.push_back(layout.order[place]);
    begins_.resize(ends_.size());
    for (size_t place = 0; place < ends_.size(); ++place)
      begins_[static_cast<size_t>(ends_[place])] = static_cast<int64_t>(place);
  }

  TransposeRoles Plan() {
    if (!HasFollowerAtTranspose()) return {};
    FindWholeTuples();
    for (const Binding* binding : block_.bindings) Add(*binding);
    if (AddValues() + cut_.Solve() >= NumTransposes()) return {};
    const std::vector<bool> stored = cut_.StoredSide();
    for (const auto& [binding, node] : followers_) {
      if (stored[static_cast<size_t>(node)]) roles_[binding] = TransposeRole::kFollows;
    }
    return std::move(roles_);
  }

 private:
  // A tensor of the rank of the order: what makes it and what uses it.
  struct Value {
    NodeId maker = kProgram;
    std::vector<NodeId> users = {};
  };

  // A cheap test: without an operator next to a transpose that can follow, or another transpose, nothing can change.
  bool HasFollowerAtTranspose() const {
    LookupSet<const Var*> transposed;  // and what is transposed
    for (const Binding* binding : block_.bindings) {
      const auto* call = As<Call>(BoundValue(*binding));
      if (!call || !IsOp(call->op, op::kPermuteDims)) continue;
      const std::vector<int64_t> axes = PermutationOf(*call);
      const auto* operand = As<Var>(call->args[0]);
      if (!operand || (axes != begins_ && axes != ends_)) continue;
      if (transposed.contains(operand)) return true;
      transposed.insert(binding->var);
      if (axes == ends_) transposed.insert(operand);
    }
    const auto is_transposed = [&](const Expr* leaf) { return Is<Var>(leaf) && transposed.contains(To<Var>(leaf)); };
    return std::ranges::any_of(block_.bindings, [&](const Binding* binding) {
      const auto* call = As<Call>(BoundValue(*binding));
      if (!call || !MayFollow(*call)) return false;
      return transposed.contains(binding->var) ||
             std::ranges::any_of(call->args, [&](const Expr* arg) { return AnyLeaf(arg, is_transposed); });
    });
  }

  // Returns whether the operator has a rule; it may not apply to the call.
  static bool MayFollow(const Call& call) {
    const auto* op = As<Op>(call.op);
    return op && op->info->layout_axes.empty() && op->info->id != op::kPermuteDims &&
           (TransposeRuleOf(*op->info) || IsBroadcasting(call));
  }

  // Tuples of which more than the fields are used have the fields in the order of the program.
  void FindWholeTuples() {
    for (const Binding* binding : block_.bindings) {
      if (!binding->var->is_dataflow() && Is<TupleType>(binding->var->type))
        whole_tuples_.try_emplace(binding->var, true);
      const Expr* value = BoundValue(*binding);
      const auto* item = As<TupleGetItem>(value);
      if (item && Is<Var>(item->tuple)) continue;
      const auto* call = As<Call>(value);
      const auto add = [&](const Expr* leaf) {
        if (Is<Var>(leaf) && Is<TupleType>(leaf->type)) whole_tuples_.try_emplace(To<Var>(leaf), true);
      };
      if (call && Is<Op>(call->op)) {
        for (const Expr* arg : call->args) ForEachLeaf(arg, add);
      } else {
        for (const Var* var : VarsOf(value)) add(var);
      }
    }
  }

  void Add(const Binding& binding) {
    const Expr* value = BoundValue(binding);
    const auto* call = Is<VarBinding>(&binding) ? As<Call>(value) : nullptr;
    const auto* item = As<TupleGetItem>(value);
    if (call) {
      AddCall(binding, *call);
    } else if (!item || !AddItem(*binding.var, *item)) {
      UseAll(value);
    }
    if (!binding.var->is_dataflow()) Use(binding.var, kProgram);
  }

  // Returns whether the tuple is one whose fields may be stored in the order.
  bool AddItem(const Var& var, const TupleGetItem& item) {
    const auto* tuple = As<Var>(item.tuple);
    const std::vector<NodeId>* makers = tuple ? fields_.Find(tuple) : nullptr;
    if (!makers) return false;
    Make(&var, (*makers)[static_cast<size_t>(item.index)]);
    if (may_be_stored_.contains(tuple)) may_be_stored_.try_emplace(&var, true);
    return true;
  }

  void AddCall(const Binding& binding, const Call& call) {
    if (std::ranges::all_of(call.args, [this](const Expr* arg) { return IsConstant(arg); }))
      constants_.try_emplace(binding.var, true);
    if (IsOp(call.op, op::kPermuteDims) && AddTranspose(binding, call)) return;
    if (AddFollower(binding, call)) return;
    if (!Is<Op>(call.op)) return UseAll(&call);
    for (const Expr* arg : call.args) {
      ForEachLeaf(arg, [&](const Expr* leaf) { Is<Var>(leaf) ? Use(To<Var>(leaf), kProgram) : UseAll(leaf); });
    }
  }

  bool AddTranspose(const Binding& binding, const Call& call) {
    const std::vector<int64_t> axes = PermutationOf(call);
    const auto* operand = As<Var>(call.args[0]);
    if (!operand) return false;
    // A permutation that is its own inverse ends what may be stored in the order, and begins otherwise.
    const bool ends = axes == ends_ && (axes != begins_ || may_be_stored_.contains(operand));
    if (!ends && axes != begins_) return false;
    roles_.try_emplace(&binding, ends ? TransposeRole::kEnds : TransposeRole::kBegins);
    Use(operand, ends ? kStored : kProgram);
    Make(binding.var, ends ? kProgram : kStored);
    return true;
  }

  bool AddFollower(const Binding& binding, const Call& call) {
    if (!MayFollow(call)) return false;
    const std::vector<const ValueLayout*> layouts = FollowingLayouts(call, &layout_, arena_);
    LayoutCall decision(call, layouts, {}, arena_, kTransposeRulesVersion);
    if (whole_tuples_.contains(binding.var) || !DecideToFollow(decision, &layout_)) return false;
    const auto is_reached = [this](const Expr* leaf) {
      return Is<Var>(leaf) && may_be_stored_.contains(To<Var>(leaf));
    };
    if (std::ranges::any_of(call.args, [&](const Expr* arg) { return AnyLeaf(arg, is_reached); }))
      may_be_stored_.try_emplace(binding.var, true);
    const NodeId node = cut_.AddNode();
    followers_.emplace_back(&binding, node);
    const bool broadcasts = IsBroadcasting(call);
    for (const Expr* arg : call.args) ForEachLeaf(arg, [&](const Expr* leaf) { AddOperand(leaf, node, broadcasts); });
    SetMakers(*binding.var, decision.result(), node);
    return true;
  }

  void AddOperand(const Expr* leaf, NodeId user, bool broadcasts) {
    const auto* tensor = As<TensorType>(leaf->type);
    if (!tensor || tensor->ndim == 0 || IsConstant(leaf)) return;
    if (tensor->ndim == ndim_) return Use(To<Var>(leaf), user);
    // It gets new axes, which are permuted.
    if (broadcasts) cut_.AddEdge(kProgram, user, 1);
  }

  void SetMakers(const Var& var, const ValueLayout* result, NodeId node) {
    if (const auto* tuple = As<TupleType>(var.type)) {
      std::vector<NodeId> makers;
      for (uint32_t i = 0; i < tuple->fields.size(); ++i)
        makers.push_back(result && result->fields[i] ? node : kProgram);
      fields_.try_emplace(&var, std::move(makers));
    } else {
      Make(&var, result ? node : kProgram);
    }
  }

  void Make(const Var* var, NodeId maker) {
    if (HasRank(var->type, ndim_)) ValueOf(var).maker = maker;
    if (maker == kStored) may_be_stored_.try_emplace(var, true);
  }
  void Use(const Var* var, NodeId user) {
    if (HasRank(var->type, ndim_) && !constants_.contains(var)) ValueOf(var).users.push_back(user);
  }
  void UseAll(const Expr* value) {
    if (Is<Constant>(value) || Is<ShapeExpr>(value) || Is<PrimValue>(value)) return;
    for (const Var* var : VarsOf(value)) Use(var, kProgram);
  }
  Value& ValueOf(const Var* var) {
    const auto [number, is_new] = numbers_.try_emplace(var, values_.size());
    if (is_new) values_.emplace_back();
    return values_[number];
  }

  // FoldConstant computes what is made of constants, transposed or not.
  bool IsConstant(const Expr* operand) const {
    return !AnyLeaf(operand, [this](const Expr* leaf) {
      const auto* var = As<Var>(leaf);
      return var && !constants_.contains(var);
    });
  }

  // Returns whether the tensor is transposed if all operators compute in the order of the program.
  static bool IsTransposed(const Value& value) {
    return std::ranges::any_of(value.users, [&](NodeId user) { return (user == kStored) != (value.maker == kStored); });
  }
  int NumTransposes() const { return static_cast<int>(std::ranges::count_if(values_, &IsTransposed)); }

  // Adds the choices to the graph. A tensor is transposed once for all of its users that need it in the other order.
  // Returns the number of transposes that stay in every plan.
  int AddValues() {
    constexpr int kNever = 1 << 20;
    const auto is_fixed = [](NodeId node) { return node == kProgram || node == kStored; };
    int num_fixed = 0;
    for (const Value& value : values_) {
      if (is_fixed(value.maker) && std::ranges::all_of(value.users, is_fixed)) {
        num_fixed += IsTransposed(value) ? 1 : 0;
        continue;
      }
      if (value.maker != kStored) {
        const NodeId transposed = cut_.AddNode();
        cut_.AddEdge(value.maker, transposed, 1);
        for (const NodeId user : value.users) cut_.AddEdge(transposed, user, kNever);
      }
      if (value.maker != kProgram) {
        const NodeId restored = cut_.AddNode();
        cut_.AddEdge(restored, value.maker, 1);
        for (const NodeId user : value.users) cut_.AddEdge(user, restored, kNever);
      }
    }
    return num_fixed;
  }

  const DataflowBlock& block_;
  const ValueLayout& layout_;
  const int ndim_;
  Arena arena_;                  // of layouts
  std::vector<int64_t> ends_;    // the axes of a transpose that ends the order
  std::vector<int64_t> begins_;  // and of one that begins it
  MinimumCut cut_;
  TransposeRoles roles_;
  std::vector<std::pair<const Binding*, NodeId>> followers_;
  std::vector<Value> values_;
  LookupMap<const Var*, size_t> numbers_;              // of values
  LookupMap<const Var*, std::vector<NodeId>> fields_;  // what makes the fields of a tuple
  LookupMap<const Var*, bool> constants_;              // sets of variables
  LookupMap<const Var*, bool> may_be_stored_;          // what follows from a transpose that begins the order
  LookupMap<const Var*, bool> whole_tuples_;
};

}  // namespace

bool IsBroadcasting(const Call& call) {
  const auto* op = As<Op>(call.op);
  if (!op) return false;
  const OpInfo& info = *op->info;
  if (info.pattern != OpPattern::kElemWise && info.pattern != OpPattern::kBroadcast) return false;
  // Attributes may number axes.
  constexpr OpId kWithoutAxes[] = {op::kAstype, op::kNnLeakyrelu, op::kNnSoftplus};
  if (!info.attrs.empty() && std::ranges::find(kWithoutAxes, info.id) == std::end(kWithoutAxes)) return false;
  const auto fits = [](const Expr* arg) {
    const auto* tensor = As<TensorType>(arg->type);
    return tensor ? tensor->ndim != kUnknownDim : Is<PrimType>(arg->type);
  };
  return info.is_graph_level() && std::ranges::all_of(call.args, fits) &&
         std::ranges::any_of(call.args, [](const Expr* arg) { return Is<TensorType>(arg->type); });
}

std::vector<const ValueLayout*> FollowingLayouts(const Call& call, const ValueLayout* layout, Arena& arena) {
  const int ndim = layout->order.ndim();
  std::vector<const ValueLayout*> layouts;
  for (const Expr* arg : call.args) {
    const auto* tuple = As<TupleType>(arg->type);
    if (!tuple) {
      layouts.push_back(HasRank(arg->type, ndim) ? layout : nullptr);
      continue;
    }
    std::vector<const ValueLayout*> fields;
    for (const Type* field : tuple->fields) fields.push_back(HasRank(field, ndim) ? layout : nullptr);
    const bool is_plain = std::ranges::count(fields, nullptr) == std::ssize(fields);
    layouts.push_back(is_plain ? nullptr
                               : arena.New<ValueLayout>(AxisOrder(), List<const ValueLayout*>(arena.Copy(fields))));
  }
  return layouts;
}

bool DecideToFollow(LayoutCall& decision, const ValueLayout* layout) {
  const Call& call = decision.call();
  const size_t num_args = call.args.size();
  const auto* op = As<Op>(call.op);
  if (!op) return false;
  if (IsBroadcasting(call)) {
    for (size_t i = 0; i < num_args; ++i) decision.SetOperand(i, decision.layout(i));
    decision.SetResult(layout);
    return HasRank(call.type, layout->order.ndim());
  }
  const LayoutRule rule = TransposeRuleOf(*op->info);
  if (!rule || !HasKnownRanks(call) || !op->info->layout_axes.empty() || !rule(decision)) return false;
  bool follows = false;
  for (size_t i = 0; i < num_args; ++i) {
    if (!SameLayout(decision.operand(i), decision.layout(i))) return false;
    follows |= decision.layout(i) != nullptr;
  }
  const auto is_known = [&](const ValueLayout* result) { return !result || SameLayout(result, layout); };
  const ValueLayout* result = decision.result();
  if (!Is<TupleType>(call.type)) return follows && is_known(result);
  return follows && (!result || std::ranges::all_of(result->fields, is_known));
}

TransposeRoles PlanTransposes(const DataflowBlock& block, const ValueLayout& layout) {
  return TransposePlanner(block, layout).Plan();
}

}  // namespace iropt
