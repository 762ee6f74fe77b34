#include "semantics/proof/rule_instance.h"

#include <fmt/format.h>

#include <algorithm>

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

// One side of a rule, with other types of its variables.
class SideBuilder {
 public:
  SideBuilder(const Function& rule, const RuleTypes& types, Workspace& workspace)
      : workspace_(workspace), inferrer_(nullptr, workspace.arena(), nullptr), builder_(workspace, &inferrer_) {
    for (uint32_t i = 0; i < rule.params.size(); ++i) {
      params_.push_back(workspace.NewVar(rule.params[i]->name(), types[i]));
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
      const Call* made = builder_.MakeCall(call->op, args, call->attrs, call->type_args);
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
    return IsLeaf(expr) ? expr : nullptr;
  }

  Workspace& workspace_;
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

std::optional<Module> ModuleOf(const Function& rule, const Expr* side, const RuleTypes& types) {
  Workspace workspace;
  const Function* function = SideBuilder(rule, types, workspace).Make(side);
  if (function == nullptr) return std::nullopt;
  Module module;
  module.Set(GlobalVar::Get("main"), function, workspace.Finish());
  return module;
}

}  // namespace

std::vector<RuleTypes> TypesOf(const Function& rule) {
  const auto has = [&](bool (*holds)(const Type*)) {
    return std::ranges::any_of(rule.params, [&](const Var* param) { return holds(param->type); });
  };
  const bool has_unknown_rank = std::ranges::any_of(rule.params, [](const Var* param) {
    const auto* tensor = As<TensorType>(param->type);
    return tensor && !tensor->known && tensor->ndim == kUnknownDim;
  });
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

std::optional<std::pair<Module, Module>> Instantiate(const Function& rule, const RuleTypes& types) {
  const Expr* result = To<SeqExpr>(rule.body)->body;
  const Tuple* sides = As<Tuple>(result);
  if (const auto* var = As<Var>(result)) {
    for (const BindingBlock* block : To<SeqExpr>(rule.body)->blocks) {
      for (const Binding* binding : block->bindings) {
        if (binding->var == var) sides = As<Tuple>(ValueOf(binding));
      }
    }
  }
  if (sides == nullptr || sides->fields.size() != 2) return std::nullopt;
  std::optional<Module> pattern = ModuleOf(rule, sides->fields[0], types);
  std::optional<Module> replacement = ModuleOf(rule, sides->fields[1], types);
  if (!pattern || !replacement) return std::nullopt;
  const Type* before = To<Function>(pattern->functions()[0].func)->ret_type;
  const Type* after = To<Function>(replacement->functions()[0].func)->ret_type;
  if (!IsBaseOf(before, after)) return std::nullopt;
  return std::pair(*std::move(pattern), *std::move(replacement));
}

}  // namespace iropt::proof
