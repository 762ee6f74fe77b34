// FuseOpsByPattern: makes a function of the operations of each match of a pattern, for an external compiler.
//
//   lv = R.matmul(x, w)                         lv1 = cls.fused_relax_matmul_relax_nn_relu(x, w)
//   lv1 = R.nn.relu(lv)          -->
//                                               @R.function(private=True)
//                                               def fused_relax_matmul_relax_nn_relu(x, w):
//                                                   R.func_attr({"Composite": "a.matmul_relu", "Primitive": 1})
//                                                   ...
//
// In dataflow blocks. The patterns are tried in order, each on the result of the one before; see pattern_option.h for
// their form. A match may contain earlier matches of the same pattern as a whole, otherwise the first one counts.
// Expressions that "*" matches are operands. With annotate_codegen, each such function becomes a local one of a
// function for the compiler, which is the first part of the name of the pattern.
//
// O(nodes * size of the patterns).
//
// Source: the rules are those of TVM 0.18's pass of this name; the patterns as JSON are ours.
#include "fuse_ops_by_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "composite_functions.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/FuseOpsByPattern.h"
#include "operator_fusor.h"
#include "pattern_option.h"
#include "transform/relax/util/missing_function.h"

namespace iropt {

namespace {

constexpr uint32_t kNone = BindingGroups::kNone;

constexpr DebugChannel kPatternDebug("fusion");

// The calls and projections of a pattern, the root first.
void CollectOperations(const Pattern& pattern, std::vector<Pattern>& operations) {
  const PatternKind kind = pattern.node().kind;
  if (kind == PatternKind::kCall || kind == PatternKind::kTupleGetItem) operations.push_back(pattern);
  for (const Pattern& child : pattern.node().children) {
    WithStack([&] { CollectOperations(child, operations); });
  }
}

// Finds the matches of a pattern in a function.
class PatternGrouper : private Definitions {
 public:
  PatternGrouper(const FusionPattern& pattern, const ModuleEntry& entry, uint32_t num_vars)
      : pattern_(pattern.pattern),
        decide_(pattern.decide),
        entry_(entry),
        attrs_(DictAttr::Empty()->With(attr::kComposite, StrAttr::Get(pattern.name))),
        name_(pattern.name),
        values_(num_vars, nullptr) {
    groups_.group_of.assign(num_vars, kNone);
    CollectOperations(pattern_, operations_);
  }

  BindingGroups Run(const Function& function) {
    if (CountsUses(pattern_)) uses_ = UseCounts(function, static_cast<uint32_t>(values_.size()));
    Blocks blocks(*this);
    Walk(function, blocks);
    return std::move(groups_);
  }

 private:
  struct Blocks : WalkHandler {
    PatternGrouper& grouper;
    explicit Blocks(PatternGrouper& g) : grouper(g) {}
    void EnterBlock(const BindingBlock& block) {
      if (block.is_dataflow()) grouper.AddBlock(block);
    }
  };

  const Expr* ValueOf(const Var* var) const override { return values_[var->id]; }
  // While it is looked for what blocks a match, the last variable with several uses is remembered.
  bool IsUsedOnce(const Var* var) const override {
    // A result of the block has uses outside of the match as well.
    if (uses_[var->id] == 1 && Is<DataflowVar>(var)) return true;
    if (looks_for_blocker_) blocker_ = var;
    return looks_for_blocker_;
  }

  void AddBlock(const BindingBlock& block) {
    for (const Binding* binding : block.bindings) {
      const auto* bound = As<VarBinding>(binding);
      if (!bound) continue;
      values_[bound->var->id] = bound->value;
      if (Is<Call>(bound->value)) TryMatch(bound->var);
    }
    // Patterns do not reach into other blocks.
    for (const Binding* binding : block.bindings) values_[binding->var->id] = nullptr;
  }

  void TryMatch(const Var* root) {
    Match match(*this);
    if (!match.Try(pattern_, root)) return RemarkBlocked(root);
    LookupSet<const Var*> matched = {root};
    for (const Pattern& part : operations_) {
      const auto* var = As<Var>(match[part]);
      if (var && values_[var->id]) matched.insert(var);
    }
    const auto in_match = [&](const Var* member) { return matched.contains(member); };
    const bool overlaps = !matched.AllOf([&](const Var* var) {
      const uint32_t group = groups_.Of(var);
      return group == kNone || members_[group].AllOf(in_match);
    });
    if (overlaps) {
      IROPT_DEBUG(kPatternDebug, "the match at '{}' stays: it overlaps with another one", root->name());
      return;
    }
    const DictAttr* more = decide_ ? decide_(entry_, match, *root) : DictAttr::Empty();
    if (!more || !AllowRewrite("fused-group", *root)) return;
    IROPT_DEBUG(kPatternDebug, "the match at '{}' has {} operations", root->name(), matched.size());
    const auto group = static_cast<uint32_t>(groups_.attrs.size());
    const DictAttr* attrs = attrs_;
    for (uint32_t i = 0; i < more->size(); ++i) attrs = attrs->With(more->keys[i], more->values[i]);
    groups_.attrs.push_back(attrs);
    matched.ForEachInAnyOrder([&](const Var* var) { groups_.group_of[var->id] = group; });
    members_.push_back(std::move(matched));
  }

  // Of a binding that the pattern would match if it did not count uses.
  void RemarkBlocked(const Var* root) {
    if (uses_.empty() || !WantsRemarks()) return;
    blocker_ = nullptr;
    looks_for_blocker_ = true;
    Match match(*this);
    const bool matches = match.Try(pattern_, root);
    looks_for_blocker_ = false;
    if (!matches || !blocker_) return;
    RemarkMissed("second-use", Location(*values_[root->id]),
                 fmt::format("pattern '{}' does not match: '{}' is used {} times", name_, blocker_->name(),
                             uses_[blocker_->id]));
  }

  const Pattern& pattern_;
  const FusionPattern::Decide& decide_;
  const ModuleEntry& entry_;
  const DictAttr* attrs_;
  const std::string& name_;
  std::vector<Pattern> operations_;
  std::vector<const Expr*> values_;  // by Var::id: of the current block
  std::vector<uint32_t> uses_;       // by Var::id, if the pattern counts uses
  bool looks_for_blocker_ = false;
  mutable const Var* blocker_ = nullptr;
  BindingGroups groups_;
  std::vector<LookupSet<const Var*>> members_;  // by group
};

bool IsEntry(const Function& function) { return !IsFusionResult(function) && !function.attrs->Find(attr::kComposite); }

}  // namespace

Module FusePattern(Module module, const FusionPattern& pattern, const std::vector<std::string>& entry_functions,
                   Constants constants) {
  const Module old = module;
  ModuleBuilder functions(std::move(module));
  for (const size_t i : FunctionsToFuse(old)) {
    const ModuleEntry& entry = old.functions()[i];
    const auto* function = To<Function>(entry.func);
    const bool wanted =
        entry_functions.empty() || std::ranges::find(entry_functions, entry.var->name) != entry_functions.end();
    if (!wanted || !IsEntry(*function)) continue;
    Workspace workspace(old, entry.storage);
    const RemarkFunction about(entry.var->name);
    const BindingGroups groups = PatternGrouper(pattern, entry, workspace.num_vars()).Run(*function);
    if (groups.attrs.empty()) continue;
    const Function* fused = FuseGroups(function, groups, constants, functions, workspace);
    if (fused != function) functions.UpdateFunction(entry.var, fused, workspace.Finish());
  }
  return functions.Finish();
}

namespace {

// Replaces calls of composite functions by calls of functions for their compilers.
class CodegenAnnotator : public ExprMutator {
 public:
  using Names = std::unordered_map<const GlobalVar*, const GlobalVar*>;

  CodegenAnnotator(Module& module, Names& names, Workspace& workspace)
      : ExprMutator(workspace), module_(module), names_(names) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* callee = As<GlobalVar>(call->op);
    const auto known = names_.find(callee);
    const GlobalVar* name = known == names_.end() ? nullptr : known->second;
    if (!name) {
      const Function* composite = CompositeCallee(module_, *call);
      if (!composite || !AllowRewrite("annotated-call", *call)) return ExprMutator::VisitCall(call);
      name = names_[callee] = AddExternal(*callee, *composite);
    }
    auto* renamed = workspace().New<Call>(*call);
    renamed->op = name;
    return renamed;
  }

 private:
  // The composite function as the local function of a new one, which replaces it.
  const GlobalVar* AddExternal(const GlobalVar& old, const Function& composite) {
    const std::string_view compiler = *CompilerOf(composite.StringAttr(attr::kComposite));
    const std::string symbol = fmt::format("{}_{}", old.name, compiler);
    Workspace own(module_);
    OpTypeInferrer inferrer(&module_, own.arena(), nullptr);
    BlockBuilder builder(own, &inferrer);
    const auto* signature = To<Function>(CloneFunction(&composite, own, {.fresh_sym_vars = true}));
    builder.BeginBindingBlock();
    const Var* local = builder.Emit(CopyAsLocal(composite, own), "local_func");
    const std::vector<const Expr*> args(signature->params.begin(), signature->params.end());
    const Var* output = builder.Emit(builder.MakeCall(local, args), "output");
    auto* external = own.New<Function>(*signature);
    external->body = builder.Seq({builder.EndBlock()}, output);
    external->attrs = ExternalAttrs(DictAttr::Empty(), compiler, symbol);
    const GlobalVar* name = GlobalVar::Get(module_.UniqueName(symbol));
    module_.Set(name, external, own.Finish());
    module_.Remove(&old);
    return name;
  }

  Module& module_;
  Names& names_;
};

Module AnnotateCodegen(Module module) {
  std::vector<const GlobalVar*> callers;
  for (const size_t i : FunctionsToFuse(module)) {
    const ModuleEntry& entry = module.functions()[i];
    if (IsEntry(*To<Function>(entry.func))) callers.push_back(entry.var);
  }
  CodegenAnnotator::Names names;
  for (const GlobalVar* caller : callers) {
    const ModuleEntry entry = *module.Find(caller);
    Workspace workspace(module, entry.storage);
    const auto* function = To<Function>(CodegenAnnotator(module, names, workspace).VisitExpr(entry.func));
    if (function != entry.func) module.Set(caller, function, workspace.Finish());
  }
  return module;
}

}  // namespace

Result<Module> FuseOpsByPattern(Module module, const std::vector<FusionPattern>& patterns,
                                const std::vector<std::string>& entry_functions, Constants constants,
                                bool annotate_codegen, DiagnosticEngine& diagnostics) {
  for (const std::string& name : entry_functions) {
    const ModuleEntry* entry = module.Find(name);
    if (entry && Is<Function>(entry->func)) continue;
    diagnostics.Error({}, "pass-failed", DescribeMissingFunction(module, name));
    return Failure{ErrorCode::PassFailed};
  }
  for (const FusionPattern& pattern : patterns)
    module = FusePattern(std::move(module), pattern, entry_functions, constants);
  if (!annotate_codegen) return module;
  if (!CheckCompositeNames(module, diagnostics)) return Failure{ErrorCode::PassFailed};
  return AnnotateCodegen(std::move(module));
}

namespace {

// {"name": "a.relu", "pattern": ...}, or ["a.relu", ...]
std::vector<FusionPattern> ReadPatterns(const PassOptions& options) {
  const pass_options::FuseOpsByPattern given(options);
  std::vector<FusionPattern> patterns;
  const OptionValue::List* list = given.patterns->as_list();
  if (!list) options.Refuse(given.patterns, "must be a list of patterns");
  if (!list) return patterns;
  for (const OptionValue& item : *list) {
    const OptionValue::List* pair = item.as_list();
    const bool is_pair = pair && pair->size() == 2;
    const OptionValue* name = is_pair ? &(*pair)[0] : item.Find("name");
    const OptionValue* value = is_pair ? &(*pair)[1] : item.Find("pattern");
    if (!name || !name->as_string() || !value) {
      options.Refuse(given.patterns, item.span(),
                     R"(has an invalid item: expected {"name": NAME, "pattern": PATTERN})");
      return patterns;
    }
    PatternOptionError error;
    const std::optional<Pattern> pattern = ReadPatternOption(*value, error);
    if (!pattern) {
      options.Refuse(given.patterns, error.span, fmt::format("has an error: {}", error.message));
      return patterns;
    }
    patterns.push_back({*name->as_string(), *pattern});
  }
  return patterns;
}

}  // namespace

Pass CreateFuseOpsByPattern(const PassOptions& options) {
  const pass_options::FuseOpsByPattern given(options);
  const Constants constants = *given.bind_constants ? Constants::kBind : Constants::kLift;
  return CreateModulePass(
      options.info(), [=, patterns = ReadPatterns(options), entries = *given.entry_functions,
                       annotates = *given.annotate_codegen](Module module, ModulePassContext& context) {
        return FuseOpsByPattern(std::move(module), patterns, entries, constants, annotates, context.diagnostics);
      });
}

}  // namespace iropt
