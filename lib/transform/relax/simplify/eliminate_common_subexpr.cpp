// EliminateCommonSubexpr: replaces a value that a variable in scope has already by the variable.
//
//   lv0 = R.add(x, y)                       lv0 = R.add(x, y)
//   lv1 = R.add(x, y)              -->      lv1 = lv0
//   gv = R.multiply(lv0, lv1)               gv = R.multiply(lv0, lv0)
//
// Merges calls, tuples, projections, constants, casts to the same type, whole conditionals and local functions. Does
// not merge expressions with impure calls, nor operators that allocate. The alias `lv1 = lv0` stays for uses of lv1
// that are not visible (CanonicalizeBindings and DeadCodeElimination remove it).
//
//   - A conditional can use values computed before it; values of its branches are not available after it.
//   - A local function starts with an empty table, because it may run at another time than the code around it.
//   - A variable that a call in place overwrites stays apart from others with the same value, and what is computed from
//     it, or from what shares its memory, is not merged: the call may come in between.
//   - Calls that draw random numbers stay apart, as those of functions that do so.
//   - A variable that is killed stays apart, too: its value is gone afterwards.
//   - A DataflowVar is not available after its block; an output of the block with the same value replaces it. With
//     all_values, the variable itself becomes an output of the block.
//   - With all_values, casts of one variable to types with different symbolic variables give these one value: the
//     second one casts the result of the first one, the symbolic variables are replaced, and the function is worked on
//     again.
//
// One walk with a scoped hash table of values, whose operands were replaced before: value numbering (Cocke and
// Schwartz, 1970; here as in TVM 0.18's pass of this name). O(operands).
#include "iropt/transform/relax/simplify/eliminate_common_subexpr.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/vm.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/lookup.h"
#include "iropt/support/scoped_hash_table.h"
#include "iropt/transform/options/EliminateCommonSubexpr.h"
#include "random_calls.h"
#include "transform/relax/lowering/kills.h"
#include "transform/relax/params/symbolic_values.h"
#include "value_hash.h"

namespace iropt {

namespace {

// Two calls of these make two objects.
bool IsAllocation(const Expr* value) {
  const auto* call = As<Call>(value);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  return op && IsOneOf(*op, op::kBuiltinAllocTensor, op::kMemoryAllocStorage, op::kMemoryAllocTensor,
                       op::kVmAllocStorage, op::kVmAllocTensor);
}

constexpr DebugChannel kCseDebug("cse");

// A value that a binding computes.
struct ComputedValue {
  const Binding* binding;       // the first one of the value
  const Var* output = nullptr;  // if its variable is a DataflowVar: the first output of the block with the same value
  uint32_t hash;
  uint32_t block;  // the dataflow block of the binding, or 0
};
using ValueTable = ScopedHashTable<ComputedValue>;
// The values of a function, and the first cast of each variable.
struct Tables {
  ValueTable values;
  ValueTable casts;
  LookupSet<const Var*> results_of_casts;
};

constexpr Statistic kMerged("EliminateCommonSubexpr", "merged-expressions", "values that another variable has already");

// The outputs that variables become.
using Outputs = LookupMap<const Var*, const Var*>;

// The places that values of variables come from in addition to their own.
using Places = LookupMap<const Var*, std::vector<SourceSpan>>;

class CommonSubexprEliminator : private ExprRewriter<CommonSubexprEliminator> {
 public:
  CommonSubexprEliminator(const Module* module, Workspace& workspace, TypeInferrer& inferrer,
                          CommonSubexprOptions options)
      : ExprRewriter(workspace, &inferrer), module_(module), options_(options), num_vars_(workspace.num_vars()) {
    recorded_.resize(num_vars_, false);
  }

  const Function* Run(const Function* function) {
    NoteDims(function->params);
    return Rebuild(*function, VisitBody(function->body));
  }
  uint64_t merged() const { return merged_; }
  // Of the calls that others were merged into.
  const Places& places() const { return places_; }
  const Outputs& outputs() const { return outputs_; }
  // Returns whether symbolic variables have others as values.
  bool names_dims_twice() const { return dims_.has_two_names; }
  // Variables, by Var::id, that stay apart from others with the same value, as what is computed from them does.
  void DoNotMerge(std::vector<bool> vars) { unmergeable_ = std::move(vars); }
  // Variables that are killed, known after a run, which stay apart from others in the next one.
  const LookupSet<const Var*>& killed() const { return killed_; }
  void KeepKilled(const LookupSet<const Var*>& vars) { kept_ = &vars; }

 private:
  friend class ExprRewriter<CommonSubexprEliminator>;

  // ---- Functions and blocks

  // The body of a function, which uses no values from outside.
  const Expr* VisitBody(const Expr* body) {
    Tables tables;
    Tables* const outer_tables = std::exchange(tables_, &tables);
    const uint32_t outer_function = std::exchange(function_, ++num_functions_);
    const uint32_t outer_block = std::exchange(block_, 0);
    const size_t replaced = replaced_.size();
    const Expr* result = VisitExpr(body);
    ForgetReplacements(replaced);
    block_ = outer_block;
    function_ = outer_function;
    tables_ = outer_tables;
    return result;
  }

  const Expr* VisitBranch(const Expr* branch) {
    const ValueTable::Scope scope(tables_->values);
    const ValueTable::Scope scope_of_casts(tables_->casts);
    const size_t replaced = replaced_.size();
    const Expr* result = VisitExpr(branch);
    ForgetReplacements(replaced);
    return result;
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    if (!block->is_dataflow()) return ExprRewriter::VisitBlock(block);
    const size_t replaced = replaced_.size();
    block_ = ++num_blocks_;
    const BindingBlock* result = ExprRewriter::VisitBlock(block);
    // The replacement of an output inside the block may be a DataflowVar.
    if (options_.all_values) {
      ForgetHidden(replaced);
    } else {
      ForgetReplacements(replaced);
    }
    block_ = 0;
    return result;
  }

  const Expr* VisitFunction(const Function* function) {
    NoteDims(function->params);
    return ExprRewriter::VisitFunction(function);
  }

  // ---- Bindings

  const Binding* VisitBinding(const Binding* binding) {
    const bool outer_impure = std::exchange(impure_, false);
    const bool outer_reads_apart = std::exchange(reads_apart_, false);
    const Expr* old_value = ValueOf(binding);
    random_calls_.NoteCallee(binding->var, old_value);
    const Expr* value = VisitExpr(old_value);
    const bool impure = std::exchange(impure_, outer_impure);
    // Defining a local function has no effect, even if its calls have.
    impure_ |= impure && value->kind != NodeKind::kFunction;
    const bool may_differ = reads_apart_ && (value->kind == NodeKind::kCall || value->kind == NodeKind::kIf);
    reads_apart_ |= outer_reads_apart;
    binding = Rebuild(*binding, binding->var, value);
    if (const auto* cast = As<MatchCast>(binding)) {
      binding = CastOfCast(cast);
      ForEachDefinedSymVar(cast->match_type, [this](const tir::Var* dim) { dims_.known.insert(dim); });
      if (Is<VarBinding>(binding)) return binding;
    }
    if (may_differ) {
      IROPT_DEBUG(kCseDebug, "'{}' stays: a call overwrites what it reads", binding->var->name());
      return binding;
    }
    if (impure || (options_.call_only && value->kind != NodeKind::kCall) || IsAllocation(value)) return binding;
    return Merge(binding, value != old_value);
  }

  // A cast of the result of an earlier cast of the same variable; an alias where it has the type already.
  const Binding* CastOfCast(const MatchCast* cast) {
    const auto* source = As<Var>(cast->value);
    const auto* type = As<TensorType>(cast->match_type);
    const bool may_change = !unmergeable_.empty() || kept_;
    if (!options_.all_values || may_change || source == nullptr || type == nullptr || !type->has_shape()) return cast;
    tables_->results_of_casts.insert(cast->var);
    if (TypeEqual(source->type, type) && tables_->results_of_casts.contains(source)) {
      Replace(cast->var, source);
      return NewLike<VarBinding>(workspace(), *cast, cast->var, source);
    }
    const uint32_t hash = HashOf(BoundValue{source});
    const auto is_same = [&](const ComputedValue& other) { return ValueOf(other.binding) == source; };
    const size_t index = tables_->casts.Find(hash, is_same);
    if (index == ValueTable::kNone) {
      tables_->casts.Add({cast, nullptr, hash, block_});
      return cast;
    }
    const Var* earlier = VisibleVar(tables_->casts[index]);
    if (!earlier || !NamesNewDims(*type, As<TensorType>(earlier->type))) return cast;
    dims_.has_two_names = true;
    return NewLike<MatchCast>(workspace(), *cast, cast->var, earlier, cast->match_type);
  }

  void NoteDims(List<const Var*> params) {
    for (const Var* param : params)
      ForEachDefinedSymVar(param->type, [this](const tir::Var* dim) { dims_.known.insert(dim); });
  }

  // Returns whether only symbolic variables are different, and those of the type are defined by it: a cast to one that
  // is known before checks that the sizes are equal.
  bool NamesNewDims(const TensorType& type, const TensorType* other) const {
    if (other == nullptr || !other->has_shape() || other->dtype != type.dtype || other->dims.size() != type.dims.size())
      return false;
    bool is_different = false;
    for (uint32_t i = 0; i < type.dims.size(); ++i) {
      if (type.dims[i] == other->dims[i]) continue;
      const auto* dim = As<tir::Var>(type.dims[i]);
      if (!dim || !Is<tir::Var>(other->dims[i]) || dims_.known.contains(dim)) return false;
      if (std::count(type.dims.begin(), type.dims.end(), type.dims[i]) > 1) return false;
      is_different = true;
    }
    return is_different;
  }

  // An alias of an earlier variable with this value, or the binding, which is added to the table.
  const Binding* Merge(const Binding* binding, bool is_changed) {
    const Var* var = binding->var;
    if (!unmergeable_.empty() && unmergeable_[var->id]) {
      IROPT_DEBUG(kCseDebug, "'{}' stays: a call overwrites it", var->name());
      return binding;
    }
    if (kept_ && kept_->contains(var)) return binding;
    const BoundValue value = BoundValueOf(binding);
    // An earlier run of this pass may have left several aliases of one variable. Merging these would only turn them
    // into a chain, link by link in each further run. Aliases of merged variables are merged as all other values are.
    const auto* source = value.cast || is_changed ? nullptr : As<Var>(value.value);
    const bool is_left_over = source && recorded_[source->id];
    recorded_[var->id] = true;
    const uint32_t hash = HashOf(value);
    const auto is_equal = [&](const ComputedValue& other) { return SameValue(BoundValueOf(other.binding), value); };
    ValueTable& table = tables_->values;
    const size_t index = table.Find(hash, is_equal);
    if (index == ValueTable::kNone) {
      table.Add({binding, nullptr, hash, block_});
      return binding;
    }
    if (random_calls_.Draws(value.value)) return binding;
    const Var* earlier = VisibleVar(table[index]);
    if (!earlier && MakeOutput(index, *var)) earlier = table[index].binding->var;
    if (!earlier) {
      IROPT_DEBUG(kCseDebug, "'{}' stays: '{}', which has its value, is not visible here", var->name(),
                  table[index].binding->var->name());
      table.Set(index, {binding, nullptr, hash, block_});
      return binding;
    }
    // A variable that was declared with a more general type gives more general types of dependent values.
    if (!TypeEqual(var->type, earlier->type) && !IsBaseOf(var->type, earlier->type)) {
      IROPT_DEBUG(kCseDebug, "'{}' stays: '{}', which has its value, has a more general type", var->name(),
                  earlier->name());
      return binding;
    }
    if (!AllowRewrite("merged-expression", *binding)) return binding;
    NoteOutput(index, var);
    IROPT_DEBUG(kCseDebug, "'{}' is replaced by '{}'", var->name(), earlier->name());
    Replace(var, earlier);
    if (is_left_over) return binding;
    ++merged_;
    NotePlace(*table[index].binding, Location(*value.value));
    if (WantsRemarks()) {
      RemarkPassed("merged-expression", Location(*binding),
                   fmt::format("'{}' has the value of '{}' and is replaced by it", var->name(), earlier->name()));
    }
    return NewLike<VarBinding>(workspace(), *binding, var, earlier);
  }

  // The variable that has the value of an entry here; null if none with this value is visible.
  const Var* VisibleVar(const ComputedValue& entry) const {
    const Var* var = entry.binding->var;
    return !var->is_dataflow() || entry.block == block_ || outputs_.contains(var) ? var : entry.output;
  }

  void NoteOutput(size_t index, const Var* var) {
    ComputedValue entry = tables_->values[index];
    if (var->is_dataflow() || !entry.binding->var->is_dataflow() || entry.output) return;
    entry.output = var;
    tables_->values.Set(index, entry);
  }

  // Makes the DataflowVar of an entry an output for a later block, in the end. Returns whether it may become one.
  bool MakeOutput(size_t index, const Var& later) {
    const Binding* binding = tables_->values[index].binding;
    const Var* var = binding->var;
    const Expr* value = ValueOf(binding);
    const bool is_computed = Is<Call>(value) || Is<TupleGetItem>(value);
    if (!options_.all_values || !is_computed || Is<ShapeType>(var->type) || !TypeEqual(var->type, later.type))
      return false;
    outputs_[var] = NewVarLike(workspace(), *var, false, var->type);
    return true;
  }

  void NotePlace(const Binding& first, SourceSpan place) {
    if (!place.known() || !Is<Call>(ValueOf(&first)) || place == Location(*ValueOf(&first))) return;
    places_[first.var].push_back(place);
  }

  // ---- Expressions

  const Expr* VisitCall(const Call* call) {
    impure_ |= IsImpureCall(call, module_);
    if (IsKill(call->op)) {
      for (const Expr* arg : call->args) {
        if (const auto* var = As<Var>(arg)) killed_.insert(var);
      }
    }
    return ExprRewriter::VisitCall(call);
  }

  // ---- The replacement of a variable. A local function does not see the replacements around it.

  struct Replacement {
    const Var* var = nullptr;
    uint32_t function = 0;
  };

  const Var* VisitVar(const Var* var) {
    if (!unmergeable_.empty() && unmergeable_[var->id]) reads_apart_ = true;
    if (replacements_.empty()) return var;
    const Replacement& replacement = replacements_[var->id];
    return replacement.var && replacement.function == function_ ? replacement.var : var;
  }

  void Replace(const Var* var, const Var* by) {
    if (replacements_.empty()) replacements_.resize(num_vars_);
    replacements_[var->id] = {by, function_};
    replaced_.push_back(var->id);
  }

  // Those by variables that are not visible outside of their block.
  void ForgetHidden(size_t size) {
    const auto is_hidden = [this](uint32_t id) {
      const Var* by = replacements_[id].var;
      const bool hides = by->is_dataflow() && !outputs_.contains(by);
      if (hides) replacements_[id] = {};
      return hides;
    };
    const auto first = replaced_.begin() + static_cast<ptrdiff_t>(size);
    replaced_.erase(std::remove_if(first, replaced_.end(), is_hidden), replaced_.end());
  }

  void ForgetReplacements(size_t size) {
    for (; replaced_.size() > size; replaced_.pop_back()) replacements_[replaced_.back()] = {};
  }

  const Module* const module_;
  RandomCalls random_calls_{module_};
  const CommonSubexprOptions options_;
  const uint32_t num_vars_;
  Tables* tables_ = nullptr;  // of the current function
  uint32_t function_ = 0;
  uint32_t num_functions_ = 0;
  uint32_t block_ = 0;  // the current dataflow block, 0 outside
  uint32_t num_blocks_ = 0;
  uint64_t merged_ = 0;            // the number of values
  std::vector<bool> unmergeable_;  // by Var::id: not to be merged; empty if all may be
  LookupSet<const Var*> killed_;
  const LookupSet<const Var*>* kept_ = nullptr;
  bool reads_apart_ = false;               // the current value uses such a variable
  bool impure_ = false;                    // an impure call was seen in the current value
  std::vector<uint8_t> recorded_;          // by Var::id: bound to a value that can be merged
  std::vector<Replacement> replacements_;  // by Var::id; empty while there is none
  std::vector<uint32_t> replaced_;         // ids in the order of replacement
  Places places_;
  Outputs outputs_;
  struct {
    LookupSet<const tir::Var*> known;  // that parameters and casts before define
    bool has_two_names = false;        // one of them
  } dims_;
};

// Binds what becomes an output of its block to the new variable.
class OutputMaker : private ExprRewriter<OutputMaker> {
 public:
  OutputMaker(const Outputs& outputs, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), outputs_(outputs) {}

  const Function* Run(const Function* function) {
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<OutputMaker>;

  const Var* VisitVar(const Var* var) {
    const Var* const* output = outputs_.Find(var);
    return output ? *output : var;
  }
  const Binding* VisitBinding(const Binding* binding) {
    return Rebuild(*binding, VisitVar(binding->var), VisitExpr(ValueOf(binding)));
  }

  const Outputs& outputs_;
};

// Gives calls the places of those that were merged into them.
class PlaceAdder : private ExprRewriter<PlaceAdder> {
 public:
  PlaceAdder(const Places& places, Workspace& workspace, TypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer), places_(places) {}

  const Function* Run(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }

 private:
  friend class ExprRewriter<PlaceAdder>;

  const Binding* VisitBinding(const Binding* binding) {
    binding = ExprRewriter::VisitBinding(binding);
    const std::vector<SourceSpan>* more = places_.Find(binding->var);
    const auto* call = more ? As<Call>(ValueOf(binding)) : nullptr;
    if (call == nullptr) return binding;
    std::vector<SourceSpan> all{Location(*call)};
    all.insert(all.end(), more->begin(), more->end());
    const SourceSpan joint = Join(all);
    auto* copy = workspace().New<Call>(*call);
    copy->set_span(Span::Of(joint.begin, joint.end));
    return Rebuild(*binding, binding->var, copy);
  }

  const Places& places_;
};

const Function* Merged(const Function* function, CommonSubexprEliminator& eliminator, Workspace& workspace,
                       TypeInferrer& inferrer) {
  const Function* result = eliminator.Run(function);
  if (!eliminator.places().empty()) result = PlaceAdder(eliminator.places(), workspace, inferrer).Run(result);
  return eliminator.outputs().empty() ? result : OutputMaker(eliminator.outputs(), workspace).Run(result);
}

// `names_dims_twice` becomes whether symbolic variables have others as values.
const Function* MergeOnce(const Function* function, const Module* module, Workspace& workspace,
                          CommonSubexprOptions options, bool& names_dims_twice) {
  OpTypeInferrer inferrer(module, workspace.arena(), nullptr);
  CommonSubexprEliminator eliminator(module, workspace, inferrer, options);
  const size_t num_vars = workspace.num_vars();
  const Function* result = Merged(function, eliminator, workspace, inferrer);
  names_dims_twice = eliminator.names_dims_twice();
  const bool overwrites = eliminator.merged() != 0 && OverwritesVars(*function, module);
  if (eliminator.merged() == 0 || (!overwrites && eliminator.killed().empty())) {
    kMerged.Add(eliminator.merged());
    return result;
  }
  // Few functions have such calls: these are worked on twice.
  CommonSubexprEliminator careful(module, workspace, inferrer, options);
  if (overwrites) careful.DoNotMerge(ChangingVars(*function, num_vars, module));
  careful.KeepKilled(eliminator.killed());
  result = Merged(function, careful, workspace, inferrer);
  names_dims_twice = careful.names_dims_twice();
  kMerged.Add(careful.merged());
  return result;
}

}  // namespace

const Function* EliminateCommonSubexpr(const Function* function, const Module* module, Workspace& workspace,
                                       CommonSubexprOptions options) {
  // Each round but the last one shows that more values are equal.
  constexpr int kMostRounds = 8;
  for (int round = 1;; ++round) {
    bool names_dims_twice = false;
    const Function* merged = MergeOnce(function, module, workspace, options, names_dims_twice);
    if (!names_dims_twice || round == kMostRounds) return merged;
    DiagnosticBuffer ignored;
    DiagnosticEngine silent(&ignored);
    const Result<const Function*> named = SubstituteSymbolicValues(merged, module, workspace, silent);
    if (!named.ok() || *named == merged) return merged;
    function = *named;
  }
}

Pass CreateEliminateCommonSubexpr(const PassOptions& options) {
  const pass_options::EliminateCommonSubexpr given(options);
  const CommonSubexprOptions chosen{.call_only = *given.call_only, .all_values = *given.all_values};
  return CreateFunctionPass(
      options.info(), [chosen](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        return EliminateCommonSubexpr(function, &context.module(), context.workspace(), chosen);
      });
}

}  // namespace iropt
