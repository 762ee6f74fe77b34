// FuseOps: groups calls of PrimFuncs in dataflow blocks that can become one loop nest, and makes a function of each
// group.
//
//   lv = R.call_tir(cls.conv2d, (x, w), ...)            lv1 = cls.fused_conv2d_relu(x, w)
//   lv1 = R.call_tir(cls.relu, (lv,), ...)       -->
//
//                                                       @R.function(private=True)
//                                                       def fused_conv2d_relu(x, w):
//                                                           R.func_attr({"Primitive": 1})
//                                                           ...
//
// It depends on the patterns of the PrimFuncs, their attribute op_pattern (see AnnotateTIROpPattern); calls of others
// are not fused. A later FuseTIR makes one PrimFunc of each function. Equal functions are made once. Time is O(nodes)
// for a given depth limit, see graph_partitioner.h.
//
// Source: the rules are those of TVM 0.18's pass of this name, which may fail or make ill-formed functions where a
// group has results of two kinds, or depends on itself by way of a match_cast.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "configs/relax.FuseOps.max_depth.h"
#include "graph_partitioner.h"
#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/FuseOps.h"
#include "operator_fusor.h"

namespace iropt {

namespace {

using NodeId = ForwardGraph::NodeId;

constexpr DebugChannel kFusionDebug("fusion");

// The bindings of a function as a graph: those that are not nested in a value.
class GraphCreator {
 public:
  GraphCreator(const Module& module, const Function& function, uint32_t num_vars)
      : module_(module), node_of_(num_vars, kNone) {
    const auto* num_input = As<IntAttr>(function.attrs->Find(attr::kNumInput));
    if (num_input) weights_ = function.params.span().subspan(FirstWeight(num_input->value, function.params.size()));
    const auto* body = As<SeqExpr>(function.body);
    if (!body) return;
    for (const BindingBlock* block : body->blocks) {
      for (const Binding* binding : block->bindings) AddBinding(binding);
    }
    graph_.Finish();
  }

  BindingGroups Partition(int level, size_t max_depth) const {
    const std::vector<NodeId> roots = PartitionGraph(graph_, level, max_depth);
    if (WantsRemarks() && level > 0) RemarkSecondUses(roots);
    const std::vector<uint32_t> sizes = GroupSizes(roots);
    BindingGroups groups{.group_of = std::vector<uint32_t>(node_of_.size(), kNone)};
    std::vector<uint32_t> group_of_root(roots.size(), kNone);
    for (NodeId node = 0; node < roots.size(); ++node) {
      if (sizes[roots[node]] < 2) continue;
      uint32_t& group = group_of_root[roots[node]];
      if (group == kNone) {
        group = static_cast<uint32_t>(groups.attrs.size());
        groups.attrs.push_back(DictAttr::Empty());
      }
      groups.group_of[vars_[node]->id] = group;
      IROPT_DEBUG(kFusionDebug, "'{}' joins group {}", vars_[node]->name(), group);
    }
    return groups;
  }

 private:
  static constexpr uint32_t kNone = BindingGroups::kNone;

  // Returns whether an operation is fused with the only use of its result, see graph_partitioner.h.
  static bool WouldFuse(OpPattern pattern, OpPattern user) {
    if (pattern == OpPattern::kOutEWiseFusable) return user == OpPattern::kElemWise;
    return pattern <= OpPattern::kInjective &&
           user <= (pattern == OpPattern::kInjective ? OpPattern::kInjective : OpPattern::kOutEWiseFusable);
  }

  void RemarkSecondUses(std::span<const NodeId> roots) const {
    for (NodeId node = 0; node < roots.size(); ++node) {
      const std::span<const NodeId> users = graph_.Users(node);
      const bool has_others = graph_[node].is_external || users.size() > 1;
      const auto blocked = std::ranges::find_if(users, [&](NodeId user) {
        return roots[user] != roots[node] && WouldFuse(graph_[node].pattern, graph_[user].pattern);
      });
      if (!has_others || blocked == users.end() || !calls_[node] || !calls_[*blocked]) continue;
      RemarkMissed("second-use", Location(*calls_[node]),
                   fmt::format("'{}' is not fused with '{}': {}", vars_[node]->name(), vars_[*blocked]->name(),
                               graph_[node].is_external ? "it is also a result of the block"
                                                        : fmt::format("it has {} uses", users.size())));
    }
  }

  struct OperandUses : WalkHandler {
    GraphCreator& creator;
    explicit OperandUses(GraphCreator& c) : creator(c) {}
    void OnUse(const Var* var) { creator.AddUse(var); }
  };

  // The number of operations of each group, by its root; those of groups that are not made count 0.
  std::vector<uint32_t> GroupSizes(const std::vector<NodeId>& roots) const {
    std::vector<uint32_t> sizes(roots.size(), 0);
    for (const NodeId root : roots) ++sizes[root];
    // A group that overwrites what it does not compute itself would look pure.
    for (const Overwrite& overwrite : overwrites_) {
      const NodeId root = roots[overwrite.call];
      if (overwrite.producer != kNone && roots[overwrite.producer] == root) continue;
      IROPT_DEBUG(kFusionDebug, "no group for '{}': it overwrites what the group does not compute",
                  vars_[root]->name());
      sizes[root] = 0;
    }
    for (NodeId root = 0; root < sizes.size(); ++root) {
      if (sizes[root] > 1 && !AllowRewrite("fused-group", *vars_[root])) sizes[root] = 0;
    }
    return sizes;
  }

  static size_t FirstWeight(int64_t num_input, size_t num_params) {
    return std::min(static_cast<size_t>(std::max<int64_t>(num_input, 0)), num_params);
  }

  // A match_cast does not count as a use of its operand, unless this is a field of a tuple: a group whose result no
  // PrimFunc computes cannot become one.
  void AddBinding(const Binding* binding) {
    const auto* bound = As<VarBinding>(binding);
    node_ = graph_.AddNode(bound ? PatternOf(*bound) : OpPattern::kOpaque, !binding->var->is_dataflow());
    vars_.push_back(binding->var);
    calls_.push_back(bound ? As<Call>(bound->value) : nullptr);
    if (bound) {
      OperandUses uses(*this);
      Walk(bound->value, uses);
      if (const auto* call = As<Call>(bound->value)) AddOverwrites(*call);
      if (Is<TupleGetItem>(bound->value)) items_.insert(bound->var);
    } else if (const auto* cast = As<Var>(To<MatchCast>(binding)->value); cast && items_.contains(cast)) {
      graph_.SetExternal(node_of_[cast->id]);
    }
    node_of_[binding->var->id] = node_;
  }

  // A call that works in place and the call that computes an operand which it overwrites; kNone for others.
  struct Overwrite {
    NodeId call;
    NodeId producer;
  };

  void AddOverwrites(const Call& call) {
    if (IsOp(call.op, op::kCallTir)) computed_.insert(vars_.back());
    if (!OverwritesOperands(call)) return;
    const std::vector<const Var*> operands = OverwrittenOperands(call);
    if (operands.empty()) overwrites_.push_back({node_, kNone});
    for (const Var* var : operands) overwrites_.push_back({node_, computed_.contains(var) ? node_of_[var->id] : kNone});
    computed_.insert(vars_.back());
  }

  void AddUse(const Var* var) {
    if (node_of_[var->id] != kNone) graph_.AddUse(node_of_[var->id], node_);
  }

  OpPattern PatternOf(const VarBinding& binding) const {
    if (binding.var->type->has_shape_var()) return OpPattern::kOpaque;
    if (const auto* item = As<TupleGetItem>(binding.value)) {
      // No PrimFunc has a tuple of tuples.
      if (Is<TupleType>(binding.var->type)) return OpPattern::kOpaque;
      // Fetching a weight from a tuple of weights is not a computation.
      const bool is_weight = std::ranges::any_of(weights_, [&](const Var* weight) { return weight == item->tuple; });
      return is_weight ? OpPattern::kOpaque : OpPattern::kInjective;
    }
    const auto* call = As<Call>(binding.value);
    const auto* op = call ? As<Op>(call->op) : nullptr;
    if (!op || !IsOneOf(*op, op::kCallTir, op::kCallTirInplace) || !Is<Tuple>(call->args[1])) return OpPattern::kOpaque;
    // FuseTIR makes a buffer of each operand.
    const auto has_shape = [](const Expr* operand) {
      const auto* tensor = As<TensorType>(operand->type);
      return tensor == nullptr || (tensor->known && !tensor->dtype.is_void());
    };
    if (!std::ranges::all_of(To<Tuple>(call->args[1])->fields, has_shape)) return OpPattern::kOpaque;
    const auto* callee = As<GlobalVar>(call->args[0]);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* prim_func = entry ? As<PrimFunc>(entry->func) : nullptr;
    return prim_func ? AnnotatedOpPattern(*prim_func) : OpPattern::kOpaque;
  }

  const Module& module_;
  ForwardGraph graph_;
  NodeId node_ = 0;                 // the current one
  std::vector<const Var*> vars_;    // by node
  std::vector<const Call*> calls_;  // by node; null for other values
  std::vector<NodeId> node_of_;     // by Var::id
  LookupSet<const Var*> computed_;  // the results of call_tir, also in place
  LookupSet<const Var*> items_;     // fields of tuples
  std::vector<Overwrite> overwrites_;
  std::span<const Var* const> weights_;  // the parameters from num_input on
};

Module FuseOps(Module module, int level, size_t max_depth) {
  const Module old = module;
  ModuleBuilder functions(std::move(module));
  for (const size_t i : FunctionsToFuse(old)) {
    const ModuleEntry& entry = old.functions()[i];
    const auto* function = To<Function>(entry.func);
    Workspace workspace(old, entry.storage);
    const RemarkFunction about(entry.var->name);
    const BindingGroups groups = GraphCreator(old, *function, workspace.num_vars()).Partition(level, max_depth);
    if (groups.attrs.empty()) continue;
    const Function* fused = FuseGroups(function, groups, Constants::kLift, functions, workspace);
    if (fused != function) functions.UpdateFunction(entry.var, fused, workspace.Finish());
  }
  return functions.Finish();
}

}  // namespace

Pass CreateFuseOps(const PassOptions& options) {
  const int64_t option = *pass_options::FuseOps(options).fuse_opt_level;
  return CreateModulePass(options.info(), [option](Module module, ModulePassContext& context) -> Result<Module> {
    const int64_t level = option == -1 ? context.context.opt_level : option;
    const int64_t max_depth = std::max<int64_t>(context.context.Config(config::relax::FuseOps::max_depth), 0);
    return FuseOps(std::move(module), static_cast<int>(level), static_cast<size_t>(max_depth));
  });
}

}  // namespace iropt
