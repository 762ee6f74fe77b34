// MergeCompositeFunctions: merges calls of composite functions for one external compiler, as FuseOpsByPattern makes
// them, into functions that the compiler takes as a whole.
//
//   lv = cls.fused_conv2d(x, w)           lv1 = cls.fused_conv2d_relu_tensorrt(x, w)
//   lv1 = cls.fused_relu(lv)       -->
//                                         @R.function
//                                         def fused_conv2d_relu_tensorrt(x, w):
//                                             R.func_attr({"Codegen": "tensorrt"})
//                                             @R.function
//                                             def gv(x, w): ...          # fused_conv2d
//                                             lv = gv(x, w)
//                                             ...
//
// In the function main. A call joins the group of an operand unless another operand depends on this group: the group
// would depend on itself. Functions that nothing refers to are removed then, and dead code. O(nodes) if groups that
// depend on each other are near each other, as in networks.
//
// Since TVM 0.26 a tuple that is only taken apart does not end a group: taking items out of one joins the group that
// makes it, and so does packing results of one group.
//
// Source: the rules are those of TVM 0.18's pass of this name, and of 0.26's.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "composite_functions.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "iropt/transform/relax/structure/to_non_dataflow.h"
#include "operator_fusor.h"
#include "projected_tuples.h"

namespace iropt {

namespace {

constexpr uint32_t kUngrouped = BindingGroups::kNone;

// Chooses the groups of the bindings of one dataflow block.
class CompositeGrouper {
 public:
  CompositeGrouper(const Module& module, const Function& function, BindingGroups& groups)
      : module_(module), groups_(groups), unit_of_(groups.group_of.size(), kUngrouped) {
    if (module_.version() >= TextVersion::kV0_26) tuples_.emplace(function, groups.group_of.size());
  }

  void AddBlock(const DataflowBlock& block) {
    units_.clear();
    for (const Binding* binding : block.bindings) AddBinding(binding);
    LookupMap<uint32_t, uint32_t> group_of_unit;
    for (const Binding* binding : block.bindings) {
      const uint32_t unit = Root(unit_of_[binding->var->id]);
      unit_of_[binding->var->id] = kUngrouped;
      if (units_[unit].compiler.empty()) continue;
      const auto [group, is_new] = group_of_unit.try_emplace(unit, groups_.attrs.size());
      if (is_new) groups_.attrs.push_back(AttrsFor(units_[unit].compiler));
      groups_.group_of[binding->var->id] = group;
    }
  }

 private:
  // A binding, or the bindings that were merged into it.
  struct Unit {
    uint32_t parent = 0;
    std::string_view compiler = {};  // empty: not a call of a composite function
    uint32_t first = 0;              // the numbers of its bindings are at least `first`, at most `last`
    uint32_t last = 0;
    std::vector<uint32_t> depends_on = {};
  };

  struct OperandUnits : WalkHandler {
    const CompositeGrouper& grouper;
    std::vector<uint32_t> units;
    explicit OperandUnits(const CompositeGrouper& g) : grouper(g) {}
    void OnUse(const Var* var) {
      if (const uint32_t unit = grouper.unit_of_[var->id]; unit != kUngrouped) units.push_back(unit);
    }
  };

  static const DictAttr* AttrsFor(std::string_view compiler) {
    return DictAttr::Empty()->With(attr::kCodegen, StrAttr::Get(compiler));
  }

  uint32_t Root(uint32_t unit) {
    while (units_[unit].parent != unit) unit = units_[unit].parent = units_[units_[unit].parent].parent;
    return unit;
  }

  void AddBinding(const Binding* binding) {
    const auto number = static_cast<uint32_t>(units_.size());
    OperandUnits operands(*this);
    Walk(ValueOf(binding), operands);
    units_.push_back({.parent = number, .first = number, .last = number, .depends_on = std::move(operands.units)});
    const auto* bound = As<VarBinding>(binding);
    const auto* call = bound ? As<Call>(bound->value) : nullptr;
    if (const Function* callee = call ? CompositeCallee(module_, *call) : nullptr) {
      units_[number].compiler = *CompilerOf(callee->StringAttr(attr::kComposite));
      Merge(*call, number);
    } else if (bound && tuples_) {
      JoinProducer(*bound, number);
    }
    unit_of_[binding->var->id] = number;
  }

  // Another name, an item or a tuple of what a group makes belongs to the group.
  void JoinProducer(const VarBinding& binding, uint32_t number) {
    const std::optional<uint32_t> producer = ProducerOf(binding);
    if (!producer || units_[*producer].compiler.empty()) return;
    units_[number].compiler = units_[*producer].compiler;
    Join(number, *producer);
  }

  std::optional<uint32_t> ProducerOf(const VarBinding& binding) {
    if (const auto* source = As<Var>(binding.value)) return UnitOf(source);
    if (const auto* item = As<TupleGetItem>(binding.value)) {
      const auto* tuple = As<Var>(item->tuple);
      return tuple && IsFlat(tuple->type) && tuples_->IsOnlyProjected(tuple) ? UnitOf(tuple) : std::nullopt;
    }
    const auto* tuple = As<Tuple>(binding.value);
    if (!tuple || !IsFlat(tuple->type) || !tuples_->IsOnlyProjected(binding.var)) return std::nullopt;
    std::optional<uint32_t> common;
    for (const Expr* field : tuple->fields) {
      const auto* var = As<Var>(field);
      const std::optional<uint32_t> unit = var ? UnitOf(var) : std::nullopt;
      if (!unit || (common && *common != *unit)) return std::nullopt;
      common = unit;
    }
    return common;
  }

  std::optional<uint32_t> UnitOf(const Var* var) {
    const uint32_t unit = unit_of_[var->id];
    return unit == kUngrouped ? std::nullopt : std::optional(Root(unit));
  }

  static bool IsFlat(const Type* type) {
    const auto* tuple = As<TupleType>(type);
    return tuple && !tuple->fields.empty() &&
           std::ranges::all_of(tuple->fields, [](const Type* field) { return Is<TensorType>(field); });
  }

  void Merge(const Call& call, uint32_t number) {
    std::vector<uint32_t> parents;
    for (const Expr* arg : call.args) {
      const auto* var = As<Var>(arg);
      const uint32_t unit = var ? unit_of_[var->id] : kUngrouped;
      if (unit != kUngrouped) parents.push_back(Root(unit));
    }
    std::vector<uint32_t> merged;
    for (const uint32_t parent : parents) {
      if (units_[parent].compiler == units_[number].compiler && !AnyDependsOn(parents, parent))
        merged.push_back(parent);
    }
    for (const uint32_t parent : merged) Join(Root(parent), Root(number));
  }

  void Join(uint32_t from, uint32_t to) {
    if (from == to) return;
    if (units_[from].depends_on.size() > units_[to].depends_on.size()) std::swap(from, to);
    Unit& unit = units_[to];
    Unit& old = units_[from];
    unit.depends_on.insert(unit.depends_on.end(), old.depends_on.begin(), old.depends_on.end());
    unit.first = std::min(unit.first, old.first);
    unit.last = std::max(unit.last, old.last);
    old.depends_on = {};
    old.parent = to;
  }

  // Returns whether one of the units depends on `wanted`, through other units. What comes before it does not.
  bool AnyDependsOn(const std::vector<uint32_t>& units, uint32_t wanted) {
    ++last_search_;
    seen_in_.resize(units_.size(), 0);
    std::vector<uint32_t> open;
    for (const uint32_t unit : units) {
      if (unit != wanted) open.push_back(unit);
    }
    while (!open.empty()) {
      const uint32_t unit = Root(open.back());
      open.pop_back();
      if (unit == wanted) return true;
      if (seen_in_[unit] == last_search_ || units_[unit].last < units_[wanted].first) continue;
      seen_in_[unit] = last_search_;
      for (const uint32_t needed : units_[unit].depends_on) {
        if (Root(needed) != unit) open.push_back(needed);
      }
    }
    return false;
  }

  const Module& module_;
  BindingGroups& groups_;
  std::optional<ProjectedTuples> tuples_;  // if groups reach through tuples
  std::vector<uint32_t> unit_of_;          // by Var::id: of the current block
  std::vector<Unit> units_;                // by number of the binding
  std::vector<uint64_t> seen_in_;          // by unit: the last search that met it
  uint64_t last_search_ = 0;
};

// Replaces calls of composite functions by calls of local copies.
class CompositeInliner : public ExprMutator {
 public:
  CompositeInliner(const Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const Function* callee = CompositeCallee(module_, *call);
    if (!callee) return ExprMutator::VisitCall(call);
    const Expr*& local = locals_[callee];
    if (!local) local = builder().Emit(CopyAsLocal(*callee, workspace()));
    return Rebuild(*call, local, VisitList(call->args));
  }

 private:
  const Module& module_;
  LookupMap<const Function*, const Expr*> locals_;
};

// Makes the functions that main calls self-contained, and gives them the names by which compilers know them.
class ExternalFunctions : public ExprMutator {
 public:
  ExternalFunctions(Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module), result_(module) {}

  ModuleBuilder& result() { return result_; }

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* callee = As<GlobalVar>(call->op);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* function = entry ? As<Function>(entry->func) : nullptr;
    const std::string_view compiler = function ? function->StringAttr(attr::kCodegen) : std::string_view();
    if (compiler.empty() || !function->StringAttr(attr::kGlobalSymbol).empty()) return call;
    const GlobalVar*& name = names_[callee];
    if (!name) name = AddExternal(*entry, compiler);
    auto* renamed = workspace().New<Call>(*call);
    renamed->op = name;
    return renamed;
  }

 private:
  const GlobalVar* AddExternal(const ModuleEntry& entry, std::string_view compiler) {
    Workspace own(module_, entry.storage);
    OpTypeInferrer inferrer(&module_, own.arena(), nullptr);
    const Function* plain = ToNonDataflow(To<Function>(entry.func), &module_, own);
    const auto* function = To<Function>(CompositeInliner(module_, own, inferrer).VisitExpr(plain));
    const std::string symbol = fmt::format("{}_{}", entry.var->name, compiler);
    auto* external = own.New<Function>(*function);
    external->attrs = ExternalAttrs(function->attrs, compiler, symbol);
    return result_.AddFunction(external, own.Finish(), symbol);
  }

  Module& module_;
  ModuleBuilder result_;
  LookupMap<const GlobalVar*, const GlobalVar*> names_;
};

constexpr std::string_view kMain = "main";

// The module with the functions of the groups of main, which call composite functions.
Module FuseMain(Module module) {
  const ModuleEntry main = *module.Find(kMain);
  const auto* function = To<Function>(main.func);
  const auto* body = As<SeqExpr>(function->body);
  if (!body) return module;
  Workspace workspace(module, main.storage);
  BindingGroups groups{.group_of = std::vector<uint32_t>(workspace.num_vars(), kUngrouped)};
  CompositeGrouper grouper(module, *function, groups);
  for (const BindingBlock* block : body->blocks) {
    if (block->is_dataflow()) grouper.AddBlock(*To<DataflowBlock>(block));
  }
  if (groups.attrs.empty()) return module;
  ModuleBuilder functions(std::move(module));
  const Function* fused = FuseGroups(function, groups, Constants::kLift, functions, workspace);
  functions.UpdateFunction(main.var, fused, workspace.Finish());
  return functions.Finish();
}

Module RenameExternals(Module module) {
  const ModuleEntry main = *module.Find(kMain);
  Workspace workspace(module, main.storage);
  OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
  ExternalFunctions externals(module, workspace, inferrer);
  const auto* function = To<Function>(externals.VisitExpr(main.func));
  if (function == main.func) return module;
  externals.result().UpdateFunction(main.var, function, workspace.Finish());
  return externals.result().Finish();
}

Result<Module> MergeCompositeFunctions(Module module, ModulePassContext& context) {
  const ModuleEntry* main = module.Find(kMain);
  if (!main || !Is<Function>(main->func)) {
    context.diagnostics.Error({}, "pass-failed", "the module has no Relax function 'main', whose calls are merged");
    return Failure{ErrorCode::PassFailed};
  }
  if (!CheckCompositeNames(module, context.diagnostics)) return Failure{ErrorCode::PassFailed};
  const std::string entry(kMain);
  return DeadCodeElimination(RenameExternals(FuseMain(std::move(module))), {&entry, 1}, context.context.threads,
                             context.diagnostics, context.context.analyses());
}

}  // namespace

Pass CreateMergeCompositeFunctions(const PassOptions& options) {
  return CreateModulePass(options.info(), MergeCompositeFunctions);
}

}  // namespace iropt
