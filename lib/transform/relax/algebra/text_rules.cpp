#include "text_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/runtime/value.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"
#include "rule_values.h"

namespace iropt {

namespace {

// Variable of a rule.
struct Variable {
  std::string name;
  std::string type = "R.Tensor";
  bool is_constant = false;
  bool is_used_once = false;
  SourceSpan span = {};
};

// The two sides as one function of the variables, `def rule(x, y): return (pattern, replacement)`. Shared by the
// patterns and replacements made of it.
struct Sides {
  Module module;  // keeps the nodes alive
  const Function* function = nullptr;
  const Expr* pattern = nullptr;
  const Expr* replacement = nullptr;
  std::vector<const PrimExpr*> conditions = {};
  LookupMap<const Var*, const Expr*> values = {};  // of the bindings

  FuncStorageRef storage() const { return module.functions()[0].storage; }
};

// The parameter whose type names the integers of a rule.
constexpr std::string_view kIntegers = "integers_of_rule";

class RuleReader {
 public:
  RuleReader(const TextReader& reader, SourceSpan span, DiagnosticEngine& diagnostics)
      : reader_(reader), span_(span), diagnostics_(diagnostics) {}

  // False after an error.
  bool Read(const OptionValue& description) {
    if (!description.is_dict()) return Fail("a rule must be an object");
    for (const OptionValue::Entry& entry : description.entries()) {
      constexpr std::string_view kKeys[] = {"name",   "variables",   "integers", "conditions",
                                            "values", "replacement", "pattern",  "changes"};
      if (std::ranges::find(kKeys, entry.key) == std::end(kKeys)) {
        return Fail(fmt::format("unknown key '{}' in a rule{}", entry.key,
                                DidYouMeanOr(": expected one of ", entry.key, kKeys)));
      }
    }
    const std::string* name = StringAt(description, "name");
    if (name) name_ = *name;
    const std::string* pattern = StringAt(description, "pattern");
    const std::string* replacement = StringAt(description, "replacement");
    const OptionValue* variables = description.Find("variables");
    if (!name || !pattern || !replacement) return false;
    if (variables && !ReadVariables(*variables)) return false;
    if (!ReadStrings(description, "integers", integers_)) return false;
    if (!ReadStrings(description, "conditions", conditions_)) return false;
    if (const OptionValue* changes = description.Find("changes"); changes && !ReadChanges(*changes)) return false;
    if (!ReadParams()) return false;
    std::string problem;
    std::optional<Module> module = ReadSides(*pattern, *replacement, problem);
    if (module) return Split(*std::move(module));
    std::string other;
    const bool is_pattern = !ReadSides(*pattern, *pattern, other);
    return FailAt(description.Find(is_pattern ? "pattern" : "replacement")->span(), problem);
  }

  const std::vector<std::string>& integers() const { return integers_; }

  std::shared_ptr<const Sides> sides() const { return sides_; }
  const std::string& name() const { return name_; }
  const std::vector<Variable>& variables() const { return variables_; }
  const std::vector<PassChange>& changes() const { return changes_; }

  bool Fail(const std::string& message) { return FailAt(span_, message); }

 private:
  // At the rule if the location is not known.
  bool FailAt(SourceSpan span, const std::string& message) {
    diagnostics_.Error(span.known() ? span : span_, "wrong-option-value",
                       name_.empty() ? message : fmt::format("rule '{}': {}", name_, message));
    return false;
  }

  const std::string* StringAt(const OptionValue& description, std::string_view key) {
    const OptionValue* value = description.Find(key);
    if (value && value->as_string()) return value->as_string();
    Fail(fmt::format("'{}' must be a string", key));
    return nullptr;
  }

  bool ReadVariables(const OptionValue& option) {
    if (!option.is_dict()) return Fail("'variables' must be an object");
    for (const OptionValue::Entry& entry : option.entries()) {
      Variable variable{.name = entry.key, .span = entry.value.span()};
      if (const std::string* type = entry.value.as_string()) {
        variable.type = *type;
      } else if (!ReadProperties(entry.value, variable)) {
        return false;
      }
      variables_.push_back(std::move(variable));
    }
    return true;
  }

  bool ReadStrings(const OptionValue& description, std::string_view key, std::vector<std::string>& to) {
    const OptionValue* option = description.Find(key);
    const OptionValue::List* list = option ? option->as_list() : nullptr;
    for (const OptionValue& item : list ? *list : OptionValue::List()) {
      if (item.as_string()) to.push_back(*item.as_string());
    }
    if (!option || (list && list->size() == to.size())) return true;
    return FailAt(option->span(), fmt::format("'{}' must be a list of strings", key));
  }

  // Those that a rule for values can make.
  bool ReadChanges(const OptionValue& option) {
    const OptionValue::List* list = option.as_list();
    const OptionValue::List not_a_list{{}};
    for (const OptionValue& item : list ? *list : not_a_list) {
      const std::string* change = item.as_string();
      if (change && *change == "NonFinite") {
        changes_.push_back(PassChange::NonFinite);
      } else if (change && *change == "Precision") {
        changes_.push_back(PassChange::Precision);
      } else {
        return FailAt(option.span(), "'changes' must be a list of 'NonFinite' and 'Precision'");
      }
    }
    return true;
  }

  bool ReadProperties(const OptionValue& option, Variable& variable) {
    const auto fail = [&] {
      return Fail(fmt::format("variable '{}' must be a type, or an object of 'type', 'constant' and 'used_once'",
                              variable.name));
    };
    if (!option.is_dict()) return fail();
    for (const OptionValue::Entry& entry : option.entries()) {
      const std::string* text = entry.value.as_string();
      const bool* flag = entry.value.as_bool();
      if (entry.key == "type" && text) {
        variable.type = *text;
      } else if (entry.key == "constant" && flag) {
        variable.is_constant = *flag;
      } else if (entry.key == "used_once" && flag) {
        variable.is_used_once = *flag;
      } else {
        return fail();
      }
    }
    return true;
  }

  // The parameters of the function, and the declarations of the symbolic variables in their types.
  bool ReadParams() {
    Workspace scratch;
    const Module empty;
    std::unordered_set<std::string> declared;
    for (const Variable& variable : variables_) {
      DiagnosticBuffer buffer;
      DiagnosticEngine diagnostics(&buffer);
      const Type* type = reader_.ReadType(variable.type, {}, {empty, scratch, diagnostics, span_});
      if (!type) return FailAt(variable.span, buffer.diagnostics().front().message);
      params_ += fmt::format("{}{}: {}", params_.empty() ? "" : ", ", variable.name, variable.type);
      for (const tir::Var* var : SymVarsOf(type)) {
        if (declared.emplace(var->name).second) dims_ += fmt::format("    {} = T.int64()\n", var->name);
      }
    }
    std::string quoted;
    for (const std::string& name : integers_) {
      if (!declared.emplace(name).second) return Fail(fmt::format("'{}' is a size and an integer", name));
      dims_ += fmt::format("    {} = T.int64()\n", name);
      quoted += fmt::format("{}\"{}\"", quoted.empty() ? "" : ", ", name);
    }
    if (!quoted.empty()) params_ += fmt::format("{}{}: R.Shape([{}])", params_.empty() ? "" : ", ", kIntegers, quoted);
    return true;
  }

  // Both sides as a function. Sets `problem` if there is none.
  std::optional<Module> ReadSides(const std::string& pattern, const std::string& replacement, std::string& problem) {
    Workspace scratch;
    const Module empty;
    DiagnosticBuffer buffer;
    DiagnosticEngine diagnostics(&buffer);
    std::string conditions;
    for (const std::string& condition : conditions_) conditions += fmt::format(", R.prim_value({})", condition);
    const std::string text = fmt::format("@R.function(private=True)\ndef rule({}):\n{}    return ({}, {}{})\n", params_,
                                         dims_, pattern, replacement, conditions);
    std::optional<Module> module = reader_.ReadModule(text, {empty, scratch, diagnostics, span_});
    if (!module) problem = buffer.diagnostics().front().message;
    return module;
  }

  bool Split(Module module) {
    auto sides = std::make_shared<Sides>(Sides{.module = std::move(module)});
    sides->function = sides->module.size() == 1 ? As<Function>(sides->module.functions()[0].func) : nullptr;
    const auto* body = sides->function ? As<SeqExpr>(sides->function->body) : nullptr;
    const Expr* result = body ? body->body : nullptr;
    for (const BindingBlock* block : body ? body->blocks : List<const BindingBlock*>()) {
      for (const Binding* binding : block->bindings) {
        if (!Is<VarBinding>(binding)) return Fail("a side must be an expression");
        sides->values[binding->var] = ValueOf(binding);
      }
    }
    if (const auto* var = As<Var>(result)) result = sides->values[var];
    const auto* both = As<Tuple>(result);
    if (!both || both->fields.size() != 2 + conditions_.size()) return Fail("a side must be an expression");
    for (const Expr* condition : both->fields.span().subspan(2)) {
      const auto* value = As<PrimValue>(condition);
      if (!value || !value->value->dtype.is_bool()) return Fail("a condition must compare sizes and integers");
      sides->conditions.push_back(value->value);
    }
    for (const Var* param : sides->function->params) {
      const auto* shape = param->name() == kIntegers ? As<ShapeType>(param->type) : nullptr;
      if (shape == nullptr) continue;
      const arith::PrimBuilder make;
      for (const PrimExpr* integer : shape->values)
        sides->conditions.push_back(make.Binary(NodeKind::kGE, integer, make.Int(0)));
    }
    sides->pattern = both->fields[0];
    sides->replacement = both->fields[1];
    if (!sides->values.contains(As<Var>(sides->pattern))) return Fail("the pattern must be a call of an operator");
    if (TypeBaseCheck(sides->pattern->type, sides->replacement->type) == BaseCheck::kFailL0) {
      return Fail(fmt::format("the pattern has type {}, the replacement {}", TypeToString(sides->pattern->type),
                              TypeToString(sides->replacement->type)));
    }
    sides_ = std::move(sides);
    return true;
  }

  const TextReader& reader_;
  SourceSpan span_;
  DiagnosticEngine& diagnostics_;
  std::string name_;
  std::vector<Variable> variables_;
  std::vector<std::string> integers_;
  std::vector<std::string> conditions_;
  std::vector<PassChange> changes_;
  std::string params_;
  std::string dims_;
  std::shared_ptr<const Sides> sides_;
};

// Makes the pattern of one side, and remembers the patterns of the variables.
class PatternMaker {
 public:
  PatternMaker(const Sides& sides, const std::vector<Variable>& variables) : sides_(sides) {
    for (uint32_t i = 0; i < sides.function->params.size(); ++i) {
      const Var* param = sides.function->params[i];
      const auto said = std::ranges::find(variables, param->name(), &Variable::name);
      const bool is_constant = said != variables.end() && said->is_constant;
      Pattern pattern = OfType(is_constant ? IsConstant() : Wildcard(), param->type);
      if (said != variables.end() && said->is_used_once) pattern = pattern.UsedOnce();
      made_.try_emplace(param, pattern);
    }
  }

  // Nothing for expressions that cannot be matched, such as conditionals.
  std::optional<Pattern> Make(const Expr* expr) {
    if (const auto* var = As<Var>(expr)) return OfVar(var);
    switch (expr->kind) {
      case NodeKind::kCall: return OfCall(*To<Call>(expr));
      case NodeKind::kTuple: {
        const std::optional<std::vector<Pattern>> fields = MakeAll(To<Tuple>(expr)->fields);
        return fields ? std::optional(IsTuple(*fields)) : std::nullopt;
      }
      case NodeKind::kTupleGetItem: {
        const std::optional<Pattern> tuple = Make(To<TupleGetItem>(expr)->tuple);
        return tuple ? std::optional(IsTupleGetItem(*tuple, To<TupleGetItem>(expr)->index)) : std::nullopt;
      }
      case NodeKind::kConstant:
        return IsConstant().Where(
            [data = To<Constant>(expr)->data](const Expr* value) { return *To<Constant>(value)->data == *data; });
      case NodeKind::kShapeExpr: return IsShape(To<ShapeExpr>(expr)->values.span());
      case NodeKind::kPrimValue: return IsPrimValue(To<PrimValue>(expr)->value);
      case NodeKind::kOp:
      case NodeKind::kExternFunc:
      case NodeKind::kStringImm:
      case NodeKind::kDataTypeImm: return IsExpr(expr);
      default: return std::nullopt;
    }
  }

  const LookupMap<const Var*, Pattern>& made() const { return made_; }
  const std::unordered_set<const Var*>& used() const { return used_; }

 private:
  static Pattern OfType(Pattern pattern, const Type* type) {
    const auto* tensor = As<TensorType>(type);
    if (!tensor) return pattern;
    if (!tensor->dtype.is_void()) pattern = pattern.WithDtype(tensor->dtype);
    if (tensor->known) return pattern.WithDims(tensor->dims.span());
    return tensor->ndim == kUnknownDim ? pattern : pattern.WithRank(tensor->ndim);
  }

  std::optional<Pattern> OfVar(const Var* var) {
    used_.insert(var);
    if (const auto* found = made_.Find(var)) return *found;
    const auto* value = sides_.values.Find(var);
    if (!value) return std::nullopt;
    std::optional<Pattern> pattern = Make(*value);
    if (pattern) made_.try_emplace(var, *pattern);
    return pattern;
  }

  std::optional<Pattern> OfCall(const Call& call) {
    const std::optional<std::vector<Pattern>> args = MakeAll(call.args);
    const auto* op = As<Op>(call.op);
    if (!args || !op) return std::nullopt;
    Pattern pattern = IsCall(op, *args);
    if (call.attrs) pattern = pattern.WithAttrs(call.attrs);
    return IsOneOf(*op, op::kAdd, op::kMultiply) ? pattern.Commutative() : pattern;
  }

  std::optional<std::vector<Pattern>> MakeAll(List<const Expr*> exprs) {
    std::vector<Pattern> patterns;
    for (const Expr* expr : exprs) {
      const std::optional<Pattern> pattern = Make(expr);
      if (!pattern) return std::nullopt;
      patterns.push_back(*pattern);
    }
    return patterns;
  }

  const Sides& sides_;
  LookupMap<const Var*, Pattern> made_;
  std::unordered_set<const Var*> used_;
};

// Makes the replacement for one match.
class Instantiator {
 public:
  Instantiator(const Sides& sides, const LookupMap<const Var*, Pattern>& patterns, const Match& match,
               Workspace& workspace)
      : sides_(sides),
        patterns_(patterns),
        match_(match),
        workspace_(workspace),
        inferrer_(nullptr, workspace.arena(), nullptr) {
    for (const auto& [var, dim] : match.dims()) dims_.Set(var, dim);
  }

  // Null if an operator does not take what was matched.
  const Expr* Make(const Expr* expr) {
    if (const auto* var = As<Var>(expr)) return OfVar(var);
    switch (expr->kind) {
      case NodeKind::kCall: {
        const auto* call = To<Call>(expr);
        const std::optional<List<const Expr*>> args = MakeAll(call->args);
        return args ? Typed(workspace_.New<Call>(call->op, *args, SubstituteSymVars(call->attrs, dims_),
                                                 call->type_args, nullptr))
                    : nullptr;
      }
      case NodeKind::kTuple: {
        const std::optional<List<const Expr*>> fields = MakeAll(To<Tuple>(expr)->fields);
        return fields ? Typed(workspace_.New<Tuple>(*fields, nullptr)) : nullptr;
      }
      case NodeKind::kTupleGetItem: {
        const auto* item = To<TupleGetItem>(expr);
        const Expr* tuple = Make(item->tuple);
        return tuple ? Typed(workspace_.New<TupleGetItem>(tuple, item->index, nullptr)) : nullptr;
      }
      case NodeKind::kShapeExpr: {
        std::vector<const PrimExpr*> dims;
        for (const PrimExpr* dim : To<ShapeExpr>(expr)->values) dims.push_back(Substituted(dim));
        return workspace_.New<ShapeExpr>(workspace_.Copy(dims), ShapeType::Get(dims));
      }
      case NodeKind::kPrimValue: {
        const PrimExpr* value = Substituted(To<PrimValue>(expr)->value);
        return workspace_.New<PrimValue>(value, PrimType::Get(value));
      }
      case NodeKind::kOp: return expr;
      default: workspace_.Adopt(sides_.storage()); return expr;
    }
  }

 private:
  // Numbers that were matched are computed with.
  const PrimExpr* Substituted(const PrimExpr* expr) const {
    const PrimExpr* result = SubstituteSymVars(expr, dims_);
    return result == expr ? expr : arith::Simplify(result);
  }

  const Expr* OfVar(const Var* var) {
    if (const Pattern* pattern = patterns_.Find(var)) {
      if (const Expr* matched = match_[*pattern]) return matched;
    }
    const auto [made, is_new] = made_.try_emplace(var, nullptr);
    if (is_new) {
      const auto* value = sides_.values.Find(var);
      const Expr* expr = value ? Make(*value) : nullptr;
      return made_[var] = expr;
    }
    return made;
  }

  std::optional<List<const Expr*>> MakeAll(List<const Expr*> exprs) {
    std::vector<const Expr*> made;
    for (const Expr* expr : exprs) {
      made.push_back(Make(expr));
      if (!made.back()) return std::nullopt;
    }
    return workspace_.Copy(made);
  }

  const Expr* Typed(Expr* expr) {
    expr->type = inferrer_.Infer(expr);
    return expr->type ? expr : nullptr;
  }

  const Sides& sides_;
  const LookupMap<const Var*, Pattern>& patterns_;
  const Match& match_;
  Workspace& workspace_;
  OpTypeInferrer inferrer_;
  SymVarMap dims_;
  LookupMap<const Var*, const Expr*> made_;
};

}  // namespace

namespace {

// Returns whether all conditions hold for the sizes and integers that were matched.
bool Holds(const std::vector<const PrimExpr*>& conditions, const Match& match) {
  if (conditions.empty()) return true;
  SymVarMap sizes;
  for (const auto& [var, dim] : match.dims()) sizes.Set(var, dim);
  arith::Analyzer analyzer;
  return std::ranges::all_of(conditions, [&](const PrimExpr* condition) {
    const bool is_bound =
        std::ranges::all_of(SymVarsOf(condition), [&](const tir::Var* var) { return sizes.Find(var) != nullptr; });
    return is_bound && analyzer.CanProve(SubstituteSymVars(condition, sizes));
  });
}

bool AddRule(const RuleWithValues& text, const TextReader& reader, SourceSpan span, DiagnosticEngine& diagnostics,
             TextRules& rules) {
  RuleReader rule(reader, span, diagnostics);
  if (!rule.Read(text.description)) return false;
  const std::shared_ptr<const Sides> sides = rule.sides();
  PatternMaker maker(*sides, rule.variables());
  const std::optional<Pattern> pattern = maker.Make(sides->pattern);
  const bool is_rooted = pattern && (RootOp(*pattern) || pattern->node().kind == PatternKind::kTupleGetItem);
  if (!is_rooted) return rule.Fail("the pattern must be a call of an operator, or an item of its result");
  for (const Var* var : sides->function->params) {
    if (var->name() != kIntegers && !maker.used().contains(var)) {
      return rule.Fail(fmt::format("the pattern does not use variable '{}'", var->name()));
    }
  }
  for (const PassChange change : rule.changes()) {
    if (std::ranges::find(rules.changes, change) == rules.changes.end()) rules.changes.push_back(change);
  }
  rules.texts.push_back({rule.name(), sides->module, sides->function, rule.changes(), span, text.values});
  rules.rules.Add(
      {rule.name(), *pattern,
       [sides, root = *pattern, patterns = maker.made()](const Match& match, BlockBuilder& builder) -> const Expr* {
         if (!Holds(sides->conditions, match)) return nullptr;
         const Expr* made = Instantiator(*sides, patterns, match, builder.workspace()).Make(sides->replacement);
         const Expr* old = match[root];
         return made && old && IsBaseOf(old->type, made->type) ? made : nullptr;
       }});
  return true;
}

}  // namespace

bool AddTextRule(const OptionValue& description, const TextReader& reader, SourceSpan span,
                 DiagnosticEngine& diagnostics, TextRules& rules) {
  std::string problem;
  const auto choices = ChooseValues(description, problem);
  if (!choices) {
    diagnostics.Error(span, "wrong-option-value", problem);
    return false;
  }
  return std::ranges::all_of(
      *choices, [&](const RuleWithValues& rule) { return AddRule(rule, reader, span, diagnostics, rules); });
}

}  // namespace iropt
