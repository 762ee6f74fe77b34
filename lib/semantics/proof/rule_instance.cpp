#include "semantics/proof/rule_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt::proof {

namespace {

constexpr int kHighestRank = 4;

constexpr DataType kDTypes[] = {DataType::Float(32), DataType::Float(16), DataType::Float(64), DataType::Int(8),
                                DataType::UInt(8),   DataType::Int(32),   DataType::Int(64),   DataType::Bool()};

bool HasUnknownDType(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor && tensor->dtype.is_void();
}

bool HasUnknownShape(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor && !tensor->known;
}

bool HasUnknownRank(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor && !tensor->known && tensor->ndim == kUnknownDim;
}

// One side of a rule, with other types of its variables.
class SideBuilder {
 public:
  SideBuilder(const Function& rule, const RuleTypes& types, const SymVarMap& sizes, Workspace& workspace)
      : workspace_(workspace),
        sizes_(sizes),
        inferrer_(nullptr, workspace.arena(), nullptr),
        builder_(workspace, &inferrer_) {
    for (uint32_t i = 0; i < rule.params.size(); ++i) {
      const Type* type = SubstituteSymVars(types[i], sizes);
      // The integers of a rule, if they are numbers.
      if (Is<ShapeType>(type) && SymVarsOf(type).empty()) continue;
      params_.push_back(workspace.NewVar(rule.params[i]->name(), type));
      made_[rule.params[i]] = params_.back();
    }
    for (const BindingBlock* block : To<SeqExpr>(rule.body)->blocks) {
      for (const Binding* binding : block->bindings) values_[binding->var] = ValueOf(binding);
    }
  }

  // Null if the types do not fit.
  const Function* Make(const Expr* side) {
    builder_.BeginBindingBlock();
    const Expr* result = MakeExpr(side);
    if (result == nullptr || builder_.failed()) return nullptr;
    const Expr* leaf = builder_.NormalizeArgument(result);
    const SeqExpr* body = builder_.Seq({builder_.EndBlock()}, leaf);
    const DictAttr* attrs = DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("main"));
    const Function* function = builder_.MakeFunction(params_, body, attrs);
    return builder_.failed() ? nullptr : function;
  }

 private:
  // Null if the types do not fit.
  const Expr* MakeExpr(const Expr* expr) {
    if (const auto* var = As<Var>(expr)) {
      if (const Expr* const* made = made_.Find(var)) return *made;
      const Expr* const* value = values_.Find(var);
      const Expr* made = value ? WithStack([&] { return MakeExpr(*value); }) : nullptr;
      if (made) made_[var] = made;
      return made;
    }
    if (const auto* call = As<Call>(expr)) {
      std::vector<const Expr*> args;
      for (const Expr* arg : call->args) args.push_back(MakeExpr(arg));
      if (std::ranges::find(args, nullptr) != args.end()) return nullptr;
      const Attr* attrs = SubstituteSymVars(call->attrs, sizes_);
      const Call* made = builder_.MakeCall(call->op, args, attrs, call->type_args);
      return builder_.failed() ? nullptr : builder_.Emit(made);
    }
    if (const auto* tuple = As<Tuple>(expr)) {
      std::vector<const Expr*> fields;
      for (const Expr* field : tuple->fields) fields.push_back(MakeExpr(field));
      if (std::ranges::find(fields, nullptr) != fields.end()) return nullptr;
      return builder_.Normalize(workspace_.New<Tuple>(workspace_.Copy(fields), nullptr));
    }
    if (const auto* item = As<TupleGetItem>(expr)) {
      const Expr* from = MakeExpr(item->tuple);
      return from ? builder_.Emit(workspace_.New<TupleGetItem>(from, item->index, nullptr)) : nullptr;
    }
    if (const auto* shape = As<ShapeExpr>(expr)) {
      std::vector<const PrimExpr*> dims;
      for (const PrimExpr* dim : shape->values) dims.push_back(SubstituteSymVars(dim, sizes_));
      return workspace_.New<ShapeExpr>(workspace_.Copy(dims), ShapeType::Get(dims));
    }
    if (const auto* number = As<PrimValue>(expr)) {
      const PrimExpr* value = SubstituteSymVars(number->value, sizes_);
      return workspace_.New<PrimValue>(value, PrimType::Get(value));
    }
    return IsLeaf(expr) ? expr : nullptr;
  }

  Workspace& workspace_;
  const SymVarMap& sizes_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
  std::vector<const Var*> params_;
  LookupMap<const Var*, const Expr*> made_;
  LookupMap<const Var*, const Expr*> values_;
};

// The shapes that parameters without one get: all the same, and each of them broadcast.
enum class Shaping : uint8_t { kSame, kOnes, kScalar };

const Type* Shaped(const TensorType& type, DataType dtype, const std::vector<const PrimExpr*>& dims, Shaping shaping) {
  std::vector<const PrimExpr*> own = dims;
  if (type.ndim != kUnknownDim) own.resize(static_cast<size_t>(type.ndim), IRContext::Current().Int(1));
  if (shaping == Shaping::kScalar) own.clear();
  if (shaping == Shaping::kOnes) std::ranges::fill(own, IRContext::Current().Int(1));
  return TensorType::Get(own, dtype);
}

std::optional<Module> ModuleOf(const Function& rule, const Expr* side, const RuleTypes& types, const SymVarMap& sizes) {
  Workspace workspace;
  const Function* function = SideBuilder(rule, types, sizes, workspace).Make(side);
  if (function == nullptr) return std::nullopt;
  Module module;
  module.Set(GlobalVar::Get("main"), function, workspace.Finish());
  return module;
}

// The pattern, the replacement and the conditions; null if the rule has another form.
const Tuple* PartsOf(const Function& rule) {
  const Expr* result = To<SeqExpr>(rule.body)->body;
  const Tuple* parts = As<Tuple>(result);
  if (const auto* var = As<Var>(result)) {
    for (const BindingBlock* block : To<SeqExpr>(rule.body)->blocks) {
      for (const Binding* binding : block->bindings) {
        if (binding->var == var) parts = As<Tuple>(ValueOf(binding));
      }
    }
  }
  return parts && parts->fields.size() >= 2 ? parts : nullptr;
}

// Returns whether types of tensors differ in dimensions that are not both numbers, if at all.
bool MayBeEqual(const Type* a, const Type* b) {
  const auto* x = As<TensorType>(a);
  const auto* y = As<TensorType>(b);
  if (!x || !y || x->dtype != y->dtype || !x->known || !y->known || x->ndim != y->ndim) return false;
  for (uint32_t i = 0; i < x->dims.size(); ++i) {
    if (x->dims[i] != y->dims[i] && arith::AsInt(x->dims[i]) && arith::AsInt(y->dims[i])) return false;
  }
  return true;
}

}  // namespace

std::vector<RuleTypes> TypesOf(const Function& rule) {
  const auto has = [&](bool (*holds)(const Type*)) {
    return std::ranges::any_of(rule.params, [&](const Var* param) { return holds(param->type); });
  };
  const bool has_unknown_rank = has(HasUnknownRank);
  const size_t num_dtypes = has(HasUnknownDType) ? std::size(kDTypes) : 1;
  const bool has_shapes = has(HasUnknownShape);
  std::vector<const PrimExpr*> dims;
  for (int i = 0; i < kHighestRank; ++i)
    dims.push_back(IRContext::Current().NewSymVar(fmt::format("d{}", i), DataType::Int(64), true));
  std::vector<RuleTypes> all;
  // The parameter that is broadcast; none of them first.
  const auto add = [&](DataType dtype, int rank, std::optional<uint32_t> other, Shaping shaping) {
    const std::vector<const PrimExpr*> shape(dims.begin(), dims.begin() + rank);
    RuleTypes types;
    for (uint32_t i = 0; i < rule.params.size(); ++i) {
      const auto* tensor = As<TensorType>(rule.params[i]->type);
      const Type* type = rule.params[i]->type;
      const DataType own = tensor && !tensor->dtype.is_void() ? tensor->dtype : dtype;
      if (tensor && !tensor->known) {
        type = Shaped(*tensor, own, shape, other == i ? shaping : Shaping::kSame);
      } else if (tensor && tensor->dtype.is_void()) {
        type = TensorType::Get(tensor->dims.span(), own);
      }
      types.push_back(type);
    }
    all.push_back(std::move(types));
  };
  for (const DataType dtype : std::span(kDTypes).first(num_dtypes)) {
    for (int rank = has_unknown_rank ? 0 : kHighestRank; rank <= kHighestRank; ++rank) {
      add(dtype, rank, std::nullopt, Shaping::kSame);
      for (uint32_t i = 0; has_shapes && rule.params.size() > 1 && i < rule.params.size(); ++i) {
        if (!HasUnknownShape(rule.params[i]->type)) continue;
        add(dtype, rank, i, Shaping::kOnes);
        if (To<TensorType>(rule.params[i]->type)->ndim == kUnknownDim) add(dtype, rank, i, Shaping::kScalar);
      }
    }
  }
  return all;
}

RuleTypes WithoutRanks(const Function& rule, const RuleTypes& types) {
  RuleTypes result = types;
  for (uint32_t i = 0; i < rule.params.size(); ++i) {
    if (HasUnknownRank(rule.params[i]->type)) result[i] = TensorType::Get(kUnknownDim, To<TensorType>(types[i])->dtype);
  }
  return result;
}

RuleConditions ConditionsOf(const Function& rule) {
  RuleConditions result;
  const Tuple* parts = PartsOf(rule);
  for (uint32_t i = 2; parts && i < parts->fields.size(); ++i) {
    if (const auto* condition = As<PrimValue>(parts->fields[i])) result.conditions.push_back(condition->value);
  }
  for (const Var* param : rule.params) {
    for (const tir::Var* var : SymVarsOf(param->type)) {
      if (std::ranges::find(result.variables, var) == result.variables.end()) result.variables.push_back(var);
    }
  }
  return result;
}

SymVarMap SolveEquations(RuleConditions& conditions) {
  const arith::PrimBuilder make;
  SymVarMap solved;
  for (size_t i = 0; i < conditions.conditions.size();) {
    const auto* equation = As<tir::BinaryExpr>(conditions.conditions[i]);
    const tir::Var* var = nullptr;
    const PrimExpr* value = nullptr;
    for (const bool is_left : {true, false}) {
      if (var || !equation || equation->kind != NodeKind::kEQ) continue;
      const PrimExpr* other = is_left ? equation->b : equation->a;
      const auto* one = As<tir::Var>(is_left ? equation->a : equation->b);
      const auto uses_it = [&](const tir::Var* used) { return used == one; };
      if (one == nullptr || std::ranges::any_of(SymVarsOf(other), uses_it)) continue;
      var = one;
      value = other;
    }
    if (var == nullptr) {
      ++i;
      continue;
    }
    // A size is not negative.
    SymVarMap step;
    step.Set(var, value);
    conditions.conditions[i] = make.Binary(NodeKind::kGE, value, make.Int(0));
    for (const PrimExpr*& condition : conditions.conditions) condition = SubstituteSymVars(condition, step);
    SymVarMap others;
    for (const auto& [known, expr] : solved.entries()) others.Set(known, SubstituteSymVars(expr, step));
    others.Set(var, value);
    solved = std::move(others);
    std::erase(conditions.variables, var);
    i = 0;
  }
  return solved;
}

std::vector<SymVarMap> SmallSizes(const RuleConditions& conditions, const SymVarMap& solved) {
  constexpr int64_t kMostTries = 20'000;
  constexpr size_t kMostFound = 24;
  const arith::PrimBuilder make;
  const auto num_vars = conditions.variables.size();
  std::vector<SymVarMap> found;
  // Numbers below 2 first, then greater ones. A stride through the assignments mixes them.
  for (const int64_t base : {2, 6}) {
    int64_t count = 1;
    for (size_t i = 0; i < num_vars && count < kMostTries; ++i) count *= base;
    const size_t most = base == 2 ? kMostFound / 3 : kMostFound;
    for (int64_t step = 0; step < std::min(count, kMostTries) && found.size() < most; ++step) {
      auto number = static_cast<uint64_t>(step) * 0x9E3779B97F4A7C15U >> 7U;
      SymVarMap sizes;
      for (const tir::Var* var : conditions.variables) {
        sizes.Set(var, make.Int(static_cast<int64_t>(number % static_cast<uint64_t>(base))));
        number /= static_cast<uint64_t>(base);
      }
      const bool holds = std::ranges::all_of(conditions.conditions, [&](const PrimExpr* condition) {
        const int64_t* value = arith::AsInt(arith::Simplify(SubstituteSymVars(condition, sizes)));
        return value && *value != 0;
      });
      if (!holds) continue;
      SymVarMap all = sizes;
      for (const auto& [var, value] : solved.entries()) all.Set(var, arith::Simplify(SubstituteSymVars(value, sizes)));
      found.push_back(std::move(all));
    }
  }
  return found;
}

std::optional<std::pair<Module, Module>> Instantiate(const Function& rule, const RuleTypes& types,
                                                     const SymVarMap& sizes) {
  const Tuple* sides = PartsOf(rule);
  if (sides == nullptr) return std::nullopt;
  std::optional<Module> pattern = ModuleOf(rule, sides->fields[0], types, sizes);
  std::optional<Module> replacement = ModuleOf(rule, sides->fields[1], types, sizes);
  if (!pattern || !replacement) return std::nullopt;
  const Type* before = To<Function>(pattern->functions()[0].func)->ret_type;
  const Type* after = To<Function>(replacement->functions()[0].func)->ret_type;
  const bool has_conditions = sides->fields.size() > 2;
  if (!IsBaseOf(before, after) && !(has_conditions && MayBeEqual(before, after))) return std::nullopt;
  return std::pair(*std::move(pattern), *std::move(replacement));
}

}  // namespace iropt::proof
