#include "operator_fusor.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "function_creator.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

constexpr uint32_t kNoIndex = BindingGroups::kNone;

using SymVars = std::unordered_set<const tir::Var*>;

// The symbolic variables that a binding uses, also in the types of its operands and results.
struct SymVarUses : WalkHandler {
  std::vector<const tir::Var*> vars;
  void Add(const std::vector<const tir::Var*>& more) { vars.insert(vars.end(), more.begin(), more.end()); }
  void OnScalar(const PrimExpr* e) { Add(SymVarsOf(e)); }
  void OnType(const Type* type) { Add(SymVarsOf(type)); }
};

struct VarUses : WalkHandler {
  std::vector<const Var*> vars;
  void OnUse(const Var* var) { vars.push_back(var); }
};

// The bindings of a dataflow block as units, groups and single bindings, and their order.
class BlockPlan {
 public:
  struct Unit {
    std::unique_ptr<FunctionCreator> creator = {};  // of a group
    uint32_t group = kNoIndex;
    const Binding* binding = nullptr;  // of a single binding
    std::vector<uint32_t> depends_on = {};
  };

  // `unit_of` is by Var::id, and empty of variables of this block. `params` are the symbolic variables that the
  // parameters define.
  BlockPlan(const DataflowBlock& block, const BindingGroups& groups, Constants constants, const SymVars& params,
            const KnownValues& known, TextVersion version, std::vector<uint32_t>& unit_of)
      : groups_(groups), constants_(constants), known_(known), version_(version), unit_of_(unit_of) {
    FindDefinitions(block, params);
    // Each attempt gives up a group: the dependencies of single bindings go back to earlier ones.
    while (!TryOrder(block)) Reset(block);
  }

  const std::vector<uint32_t>& order() const { return order_; }
  const Unit& unit(uint32_t i) const { return units_[i]; }
  bool has_groups() const {
    return std::ranges::any_of(units_, [](const Unit& unit) { return unit.creator != nullptr; });
  }

  void Reset(const DataflowBlock& block) {
    for (const Binding* binding : block.bindings) unit_of_[binding->var->id] = kNoIndex;
    units_.clear();
    unit_of_group_.clear();
    order_.clear();
  }

 private:
  // Finds the match_casts that define symbolic variables. A variable that occurs before in the block has another
  // definition, against which the match_cast checks.
  void FindDefinitions(const DataflowBlock& block, const SymVars& params) {
    if (std::ranges::none_of(block.bindings, [](const Binding* binding) { return Is<MatchCast>(binding); })) return;
    SymVars known = params;
    for (const Binding* binding : block.bindings) {
      if (const auto* cast = As<MatchCast>(binding)) {
        for (const tir::Var* var : DefinedSymVars(cast->match_type)) {
          if (!known.contains(var)) cast_of_.try_emplace(var, cast);
        }
      }
      for (const tir::Var* var : SymVarsIn(*binding)) known.insert(var);
    }
  }

  static std::vector<const tir::Var*> SymVarsIn(const Binding& binding) {
    SymVarUses uses;
    Walk(ValueOf(&binding), uses);
    uses.OnType(binding.var->type);
    return std::move(uses.vars);
  }

  bool TryOrder(const DataflowBlock& block) {
    for (const Binding* binding : block.bindings) AddBinding(binding);
    for (const Binding* binding : block.bindings) AddUses(binding);
    AddOverwrites(block);
    return Order();
  }

  uint32_t UnitOf(const Binding* binding) {
    const uint32_t group = groups_.Of(binding->var);
    const bool fuses = group != kNoIndex && Is<VarBinding>(binding) && !given_up_.contains(group);
    if (fuses) {
      const auto [found, is_new] = unit_of_group_.try_emplace(group, units_.size());
      if (is_new) {
        units_.push_back({.group = group});
        units_.back().creator = std::make_unique<FunctionCreator>(constants_ == Constants::kLift, known_, version_);
      }
      return found;
    }
    units_.push_back({.binding = binding});
    return static_cast<uint32_t>(units_.size() - 1);
  }

  void AddBinding(const Binding* binding) {
    const uint32_t unit = UnitOf(binding);
    unit_of_[binding->var->id] = unit;
    if (units_[unit].creator) {
      units_[unit].creator->Append(To<VarBinding>(binding));
      if (!binding->var->is_dataflow()) units_[unit].creator->AddOutput(binding->var);
    }
  }

  void AddUses(const Binding* binding) {
    const uint32_t unit = unit_of_[binding->var->id];
    VarUses uses;
    Walk(ValueOf(binding), uses);
    for (const Var* var : uses.vars) {
      const uint32_t producer = unit_of_[var->id];
      if (producer == unit || producer == kNoIndex) continue;
      units_[unit].depends_on.push_back(producer);
      if (units_[producer].creator) units_[producer].creator->AddOutput(var);
    }
    if (cast_of_.empty()) return;
    for (const tir::Var* var : SymVarsIn(*binding)) {
      const auto* cast = cast_of_.Find(var);
      if (cast) AddDependency(unit, unit_of_[(*cast)->var->id]);
    }
  }

  void AddDependency(uint32_t unit, uint32_t needed) {
    if (unit != needed) units_[unit].depends_on.push_back(needed);
  }

  // A call that works in place overwrites what earlier bindings may read, so that it stays after all of these.
  void AddOverwrites(const DataflowBlock& block) {
    size_t first = 0;  // the last such call, and then the bindings after it
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const auto* call = As<Call>(ValueOf(block.bindings[static_cast<uint32_t>(i)]));
      if (!call || !OverwritesOperands(*call)) continue;
      const uint32_t unit = UnitAt(block, i);
      for (; first < i; ++first) AddDependency(unit, UnitAt(block, first));
    }
  }

  uint32_t UnitAt(const DataflowBlock& block, size_t i) const {
    return unit_of_[block.bindings[static_cast<uint32_t>(i)]->var->id];
  }

  // Puts the units into the order of their first bindings, each after those that it depends on. False if a group
  // depends on itself: it is given up.
  bool Order() {
    enum State : uint8_t { kNew, kOpen, kDone };
    std::vector<State> states(units_.size(), kNew);
    struct Step {
      uint32_t unit = 0;
      size_t next = 0;
    };
    std::vector<Step> path;
    for (uint32_t first = 0; first < units_.size(); ++first) {
      if (states[first] == kNew) path.push_back({first});
      while (!path.empty()) {
        Step& step = path.back();
        states[step.unit] = kOpen;
        if (step.next == units_[step.unit].depends_on.size()) {
          states[step.unit] = kDone;
          order_.push_back(step.unit);
          path.pop_back();
          continue;
        }
        const uint32_t needed = units_[step.unit].depends_on[step.next++];
        if (states[needed] == kNew) {
          path.push_back({needed});
        } else if (states[needed] == kOpen) {
          const auto from = std::ranges::find(path, needed, &Step::unit);
          for (auto it = from; it != path.end(); ++it) {
            if (units_[it->unit].creator) given_up_.insert(units_[it->unit].group);
          }
          return false;
        }
      }
    }
    return true;
  }

  const BindingGroups& groups_;
  const Constants constants_;
  const KnownValues& known_;
  const TextVersion version_;
  std::vector<uint32_t>& unit_of_;
  std::vector<Unit> units_;
  LookupMap<uint32_t, uint32_t> unit_of_group_;
  LookupMap<const tir::Var*, const MatchCast*> cast_of_;  // that defines the symbolic variable
  LookupSet<uint32_t> given_up_;
  std::vector<uint32_t> order_;
};

class GroupFusor : private ExprRewriter<GroupFusor> {
 public:
  GroupFusor(const BindingGroups& groups, Constants constants, ModuleBuilder& functions, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever),
        groups_(groups),
        constants_(constants),
        functions_(functions),
        unit_of_(workspace.num_vars(), kNoIndex) {}

  const Function* Run(const Function* function) {
    for (const Var* param : function->params) {
      for (const tir::Var* var : DefinedSymVars(param->type)) params_.insert(var);
    }
    if (workspace().version() >= TextVersion::kV0_26) known_ = KnownValuesOf(*function);
    return To<Function>(VisitFunction(function));
  }

 private:
  friend class ExprRewriter<GroupFusor>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    const bool has_groups =
        block->is_dataflow() && std::ranges::any_of(block->bindings, [this](const Binding* binding) {
          return groups_.Of(binding->var) != kNoIndex;
        });
    if (!has_groups) return ExprRewriter::VisitBlock(block);
    const auto& dataflow = *To<DataflowBlock>(block);
    BlockPlan plan(dataflow, groups_, constants_, params_, known_, workspace().version(), unit_of_);
    std::vector<const Binding*> bindings;
    if (plan.has_groups()) {
      for (const uint32_t i : plan.order()) EmitUnit(plan.unit(i), bindings);
    }
    const bool changes = plan.has_groups();
    plan.Reset(dataflow);
    return changes ? NewLike<DataflowBlock>(workspace(), *block, workspace().Copy(bindings))
                   : ExprRewriter::VisitBlock(block);
  }

  void EmitUnit(const BlockPlan::Unit& unit, std::vector<const Binding*>& bindings) {
    if (!unit.creator) {
      bindings.push_back(VisitBinding(unit.binding));
      return;
    }
    const std::vector<const Var*>& outputs = unit.creator->outputs();
    if (outputs.empty()) return;
    FusedFunction fused = unit.creator->Create(groups_.attrs[unit.group]);
    const GlobalVar* name = functions_.AddFunction(fused.function, std::move(fused.storage), fused.name);
    const Binding& last = *unit.creator->bindings().back();
    std::vector<const Expr*> args = Arguments(fused, last, bindings);
    const Type* type = outputs.size() == 1 ? outputs.front()->type : TupleOf(outputs);
    auto* call = NewLike<Call>(workspace(), *ValueOf(&last), name, workspace().Copy(args), nullptr, nullptr, type);
    call->set_span(PlaceOf(*unit.creator));
    if (outputs.size() == 1) {
      bindings.push_back(NewLike<VarBinding>(workspace(), last, outputs.front(), call));
      return;
    }
    const Var* results = BindNew(call, last, bindings);
    // In the order in which the program binds them.
    for (const Binding* binding : unit.creator->bindings()) {
      const auto output = std::ranges::find(outputs, binding->var);
      if (output == outputs.end()) continue;
      const auto index = static_cast<int32_t>(output - outputs.begin());
      const auto* item = NewLike<TupleGetItem>(workspace(), last, results, index, binding->var->type);
      bindings.push_back(NewLike<VarBinding>(workspace(), last, binding->var, item));
    }
  }

  // Where all calls of a function come from.
  static Span PlaceOf(const FunctionCreator& creator) {
    std::vector<SourceSpan> places;
    for (const VarBinding* binding : creator.bindings()) places.push_back(Location(*binding->value));
    const SourceSpan joint = Join(places);
    return Span::Of(joint.begin, joint.end);
  }

  // The arguments of the call; items of tuples get bindings before it.
  std::vector<const Expr*> Arguments(const FusedFunction& fused, const Binding& place,
                                     std::vector<const Binding*>& bindings) {
    std::vector<const Expr*> args;
    for (const FusedArgument& arg : fused.args) {
      if (arg.item < 0) {
        args.push_back(arg.expr);
        continue;
      }
      const Type* type = To<TupleType>(arg.expr->type)->fields[static_cast<size_t>(arg.item)];
      args.push_back(BindNew(NewLike<TupleGetItem>(workspace(), place, arg.expr, arg.item, type), place, bindings));
    }
    if (fused.sym_vars.empty()) return args;
    const std::vector<const PrimExpr*> values(fused.sym_vars.begin(), fused.sym_vars.end());
    args.push_back(NewLike<ShapeExpr>(workspace(), place, workspace().Copy(values), ShapeType::Get(values)));
    return args;
  }

  const Var* BindNew(const Expr* value, const Binding& place, std::vector<const Binding*>& bindings) {
    const Var* var = workspace().NewDataflowVar("lv", value->type);
    bindings.push_back(NewLike<VarBinding>(workspace(), place, var, value));
    return var;
  }

  const Type* TupleOf(const std::vector<const Var*>& vars) {
    std::vector<const Type*> types;
    for (const Var* var : vars) types.push_back(var->type);
    return TupleType::Get(workspace().arena(), types);
  }

  const BindingGroups& groups_;
  const Constants constants_;
  ModuleBuilder& functions_;
  std::vector<uint32_t> unit_of_;  // by Var::id: of the current block
  SymVars params_;                 // that the parameters define
  KnownValues known_;              // that new functions contain
};

}  // namespace

const Function* FuseGroups(const Function* function, const BindingGroups& groups, Constants constants,
                           ModuleBuilder& functions, Workspace& workspace) {
  return GroupFusor(groups, constants, functions, workspace).Run(function);
}

bool IsFusionResult(const Function& function) {
  return IsPrimitive(function) || function.attrs->Find(attr::kCodegen) != nullptr;
}

std::vector<size_t> FunctionsToFuse(const Module& module) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < module.size(); ++i) {
    const auto* function = As<Function>(module.functions()[i].func);
    if (function && !IsFusionResult(*function)) indices.push_back(i);
  }
  std::ranges::sort(indices, {}, [&](size_t i) { return module.functions()[i].var->name; });
  return indices;
}

}  // namespace iropt
