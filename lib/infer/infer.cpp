#include "iropt/infer/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "distributed.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/type_rules.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op.h"
#include "type_util.h"

namespace iropt {

// ---- Errors

const Type* InferContext::Report(Span span, DiagId kind, std::string message) {
  failed_ = true;
  if (diagnostics_) diagnostics_->Error(Location(span), kind, std::move(message));
  return nullptr;
}

std::string CalleeName(const Call& call) {
  if (const auto* op = As<Op>(call.op)) return std::string(op->info->script);
  if (const auto* global = As<GlobalVar>(call.op)) return std::string(global->name);
  if (const auto* var = As<Var>(call.op)) return std::string(var->name());
  if (const auto* packed = As<ExternFunc>(call.op)) return std::string(packed->global_symbol);
  return "a function";
}

const Type* InferContext::Error(const Node& at, std::string message) {
  return Report(at.span(), "type-inference", std::move(message));
}

const Type* InferContext::Error(const Call& call, std::string message) {
  return Report(call.span(), "type-inference", fmt::format("{}: {}", CalleeName(call), message));
}

const Type* InferContext::Error(const Call& call, size_t operand, std::string message) {
  // A variable has the span of its definition, which may be far away from the call.
  const Span at = operand < call.args.size() ? call.args[operand]->span() : Span();
  const bool is_within = at.known() && at.begin >= call.span().begin && at.end() <= call.span().end();
  return Report(is_within ? at : call.span(), "type-inference", fmt::format("{}: {}", CalleeName(call), message));
}

// ---- Types of expressions

const Type* TypeOfExpr(const Expr* expr, const Module* module) {
  if (const auto* global = As<GlobalVar>(expr)) return module ? module->TypeOf(global) : nullptr;
  return expr->type;
}

std::vector<const Type*> TypesOf(std::span<const Expr* const> operands, const Module& module) {
  std::vector<const Type*> types;
  for (const Expr* operand : operands) types.push_back(TypeOfExpr(operand, &module));
  return types;
}

std::vector<const Type*> TypesOf(std::span<const Var* const> params) {
  std::vector<const Type*> types;
  for (const Var* param : params) types.push_back(param->type);
  return types;
}

namespace {

const Type* InferTuple(const Tuple* tuple, InferContext& ctx) {
  std::vector<const Type*> fields;
  fields.reserve(tuple->fields.size());
  for (const Expr* field : tuple->fields) {
    const Type* type = TypeOfExpr(field, ctx.module());
    // A function of a module that is not known here.
    if (!type && Is<GlobalVar>(field)) type = ObjectType::Get();
    if (!type) return ctx.Error(*field, "the type of a tuple field is not known");
    if (ObjectType::IsAfterError(type)) return type;
    fields.push_back(type);
  }
  return TupleType::Get(ctx.arena(), fields);
}

const Type* InferProjection(const TupleGetItem* get, InferContext& ctx) {
  const Type* type = TypeOfExpr(get->tuple, ctx.module());
  if (ObjectType::IsAfterError(type)) return type;
  const auto* tuple = As<TupleType>(type);
  if (!tuple) return ctx.Error(*get, fmt::format("only a tuple has fields, but the type is {}", TypeToString(type)));
  if (get->index >= 0 && static_cast<uint32_t>(get->index) < tuple->fields.size()) return tuple->fields[get->index];
  return ctx.Error(*get, fmt::format("index {} is out of range for a tuple of {} field{}", get->index,
                                     tuple->fields.size(), tuple->fields.size() == 1 ? "" : "s"));
}

// The symbolic variables that match_casts in a branch define go out of scope with it, and so do its shape variables.
// Variables in the previous type of the conditional (a pass may have changed its branches) are defined outside, and a
// match_cast of them in a branch is only a check.
class BranchScope {
 public:
  BranchScope(const Expr* branch, const Type* known) {
    if (known) ForEachDefinedSymVar(known, [this](const tir::Var* var) { outer_.push_back(var); });
    const auto* seq = As<SeqExpr>(branch);
    if (!seq) return;
    for (const BindingBlock* block : seq->blocks) {
      for (const Binding* binding : block->bindings) {
        const auto* cast = As<MatchCast>(binding);
        if (cast) ForEachDefinedSymVar(cast->match_type, [this](const tir::Var* var) { defined_.push_back(var); });
      }
    }
  }
  bool Defines(const tir::Var* var) const { return Contains(defined_, var) && !Contains(outer_, var); }

 private:
  static bool Contains(const std::vector<const tir::Var*>& vars, const tir::Var* var) {
    return std::find(vars.begin(), vars.end(), var) != vars.end();
  }

  std::vector<const tir::Var*> defined_;
  std::vector<const tir::Var*> outer_;
};

const Type* InferIf(const If* branch, InferContext& ctx) {
  const auto erased = [&](const Expr* e) -> const Type* {
    const Type* type = TypeOfExpr(e, ctx.module());
    if (!type) return ctx.Error(*e, "the type of a branch is not known");
    const BranchScope scope(e, branch->type);
    const auto stays = [&](const tir::Var* var) { return ctx.scope() ? ctx.scope()(var) : !scope.Defines(var); };
    return EraseToWellDefined(
        type, [&](const tir::Var* var) -> const PrimExpr* { return stays(var) ? var : nullptr; },
        [](const Expr*) -> const Expr* { return nullptr; }, ctx.arena());
  };
  const Type* on_true = erased(branch->true_branch);
  const Type* on_false = on_true ? erased(branch->false_branch) : nullptr;
  return on_false ? TypeLCA(on_true, on_false, ctx.arena()) : nullptr;
}

const Type* InferSeq(const SeqExpr* seq, InferContext& ctx) {
  const Type* type = TypeOfExpr(seq->body, ctx.module());
  if (!type) return ctx.Error(*seq, "the type of the result is not known");
  return EraseToWellDefined(
      type, [](const tir::Var* var) -> const PrimExpr* { return var; },
      [](const Expr*) -> const Expr* { return nullptr; }, ctx.arena());
}

const Type* InferFunction(const Function* function, InferContext& ctx) {
  std::vector<const Type*> params;
  for (const Var* param : function->params) {
    if (!param->type) return ctx.Error(*param, fmt::format("parameter '{}' has no type", param->name()));
    params.push_back(param->type);
  }
  const Type* ret = function->ret_type ? function->ret_type : function->body->type;
  if (!ret) return ctx.Error(*function, "the result type of the function is not known");
  return FuncType::Get(ctx.arena(), params, ret, function->is_pure);
}

// A type argument can state the device of the result, as TVM 0.23 and newer have it.
const Type* OnStatedDevice(const Type* type, const TupleType& stated, InferContext& ctx) {
  const auto* tensor = As<TensorType>(type);
  const auto* place = stated.fields.size() == 1 ? As<TensorType>(stated.fields[0]) : nullptr;
  if (!tensor || !place || !place->vdevice || place->vdevice == tensor->vdevice) return type;
  return tensor->With(ctx.arena(), tensor->dtype, place->vdevice);
}

// The text cannot have other numbers of operands, but programs can make such calls. Type rules only look at those that
// may be left out.
bool CheckNumOperands(const Call& call, const OpInfo& op, InferContext& ctx) {
  if (!op.variadic && call.args.size() == op.args.size()) return true;
  const auto is_needed = [](const OpArg& arg) {
    return arg.absence != ArgAbsence::kOmitted && arg.since == TextVersion::kV0_18 && !arg.until;
  };
  const size_t listed = op.args.size() - (op.variadic ? 1 : 0);
  const auto least = static_cast<size_t>(std::ranges::count_if(op.args.first(listed), is_needed));
  return rules::CheckArity(call, least, op.variadic ? SIZE_MAX : listed, ctx);
}

const Type* InferCall(const Call* call, InferContext& ctx) {
  for (size_t i = 0; i < call->args.size(); ++i) {
    const Type* type = call->args[i]->type;
    if (ObjectType::IsAfterError(type)) return type;
    // Few rules look at the type of a global function, and those that do look it up.
    if (type || call->args[i]->kind == NodeKind::kGlobalVar) continue;
    return ctx.Error(*call, i, fmt::format("the type of operand {} is not known", i));
  }
  if (const auto* op = As<Op>(call->op)) {
    const TypeRule rule = TypeRuleOf(*op->info);
    if (!rule) return ctx.Error(*call, "is not a Relax operator");
    if (!CheckNumOperands(*call, *op->info, ctx)) return nullptr;
    if (HasDistributedOperand(*call)) return InferDistributed(*call, ctx);
    const Type* type = rule(*call, ctx);
    return call->type_args ? OnStatedDevice(type, *call->type_args, ctx) : type;
  }
  const Type* callee = TypeOfExpr(call->op, ctx.module());
  const auto* func = As<FuncType>(callee);
  if (!func)
    return ctx.Error(*call, fmt::format("only a function can be called, but the type is {}", TypeToString(callee)));
  return DeriveCallType(func, *call, ctx);
}

}  // namespace

const Type* InferType(const Expr* expr, InferContext& ctx) {
  switch (expr->kind) {
    case NodeKind::kCall: return InferCall(static_cast<const Call*>(expr), ctx);
    case NodeKind::kTuple: return InferTuple(static_cast<const Tuple*>(expr), ctx);
    case NodeKind::kTupleGetItem: return InferProjection(static_cast<const TupleGetItem*>(expr), ctx);
    case NodeKind::kIf: return InferIf(static_cast<const If*>(expr), ctx);
    case NodeKind::kSeqExpr: return InferSeq(static_cast<const SeqExpr*>(expr), ctx);
    case NodeKind::kFunction: return InferFunction(static_cast<const Function*>(expr), ctx);
    case NodeKind::kPrimFunc: return PrimFuncType(static_cast<const PrimFunc*>(expr));
    case NodeKind::kExternFunc: return PackedFuncType();
    case NodeKind::kShapeExpr: return ShapeType::Get(static_cast<const ShapeExpr*>(expr)->values);
    case NodeKind::kPrimValue: return PrimType::Get(static_cast<const PrimValue*>(expr)->value);
    case NodeKind::kStringImm:
    case NodeKind::kDataTypeImm:
    case NodeKind::kOp: return ObjectType::Get();
    case NodeKind::kConstant: {
      if (expr->type) return expr->type;
      const NDArray& array = *static_cast<const Constant*>(expr)->data;
      std::vector<const PrimExpr*> dims;
      for (const int64_t extent : array.shape()) dims.push_back(IRContext::Current().Int(extent));
      return TensorType::Get(dims, array.dtype());
    }
    default: break;
  }
  const Type* type = TypeOfExpr(expr, ctx.module());
  if (type) return type;
  if (const auto* global = As<GlobalVar>(expr))
    return ctx.Error(*expr, fmt::format("the module has no function '{}'", global->name));
  return ctx.Error(*expr, "the type of the expression is not known");
}

const Type* FunctionReturnType(std::span<const Var* const> params, const Type* body, const Type* annotated,
                               Arena& arena) {
  if (annotated && (!body || !IsBaseOf(annotated, body))) return annotated;
  if (!body->has_sym_var() && !body->has_shape_var()) return body;
  std::vector<const tir::Var*> defined;
  for (const Var* param : params) {
    ForEachDefinedSymVar(param->type, [&](const tir::Var* var) { defined.push_back(var); });
  }
  return EraseToWellDefined(
      body,
      [&](const tir::Var* var) -> const PrimExpr* {
        return std::find(defined.begin(), defined.end(), var) == defined.end() ? nullptr : var;
      },
      [](const Expr*) -> const Expr* { return nullptr; }, arena);
}

bool IsPackedFuncType(const Type* type) { return type && Is<FuncType>(type) && TypeEqual(type, PackedFuncType()); }

bool IsImpureCall(const Expr* value, const Module* module) {
  const auto* call = As<Call>(value);
  if (!call) return false;
  if (const auto* op = As<Op>(call->op)) return !op->info->pure;
  const auto* func = As<FuncType>(TypeOfExpr(call->op, module));
  return !func || !func->purity;
}

}  // namespace iropt
