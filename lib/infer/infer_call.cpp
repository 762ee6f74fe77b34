// Result types of calls of functions: binds symbolic variables to the dimensions of the arguments.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/call_binding.h"
#include "iropt/ir/context.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "type_matcher.h"
#include "type_util.h"

namespace iropt {
namespace {

// Matches parameter types with argument types. A variable takes the value of the first dimension that consists of it
// alone; all other dimensions are checked as far as possible.
class CallMatcher : public TypeMatcher {
 public:
  const PrimExpr* ValueOf(const tir::Var* var) const {
    for (const auto& [bound, value] : sym_vars_) {
      if (bound == var) return value;
    }
    return nullptr;
  }
  std::span<const std::pair<const tir::Var*, const PrimExpr*>> sym_vars() const { return sym_vars_; }
  // The argument type to whose shape a shape variable is bound; null if it is unbound.
  const TensorType* ShapeOf(const Expr* var) const {
    for (const auto& [bound, tensor] : shape_vars_) {
      if (bound == var) return tensor;
    }
    return nullptr;
  }

 protected:
  bool Trivial(const Type* base, const Type* derived) override {
    // A parameter with variables must be matched to bind them, even if the argument has the same type.
    return base == derived && !base->has_sym_var() && !base->has_shape_var();
  }
  BaseCheck MatchDim(const PrimExpr* param, const PrimExpr* arg) override {
    const auto* var = As<tir::Var>(param);
    // A symbolic expression may depend on a variable that a later parameter defines.
    if (!binding_ || !var) return CompareDims(param, arg);
    if (const PrimExpr* value = ValueOf(var)) {
      return CompareDims(value, arg) == BaseCheck::kPass ? BaseCheck::kPass : BaseCheck::kFailL2;
    }
    sym_vars_.push_back({var, arg});
    return BaseCheck::kPass;
  }
  BaseCheck MatchShapeVar(const Expr* param, const TensorType* arg) override {
    if (!binding_) return TypeMatcher::MatchShapeVar(param, arg);
    if (const TensorType* bound = ShapeOf(param)) {
      const bool same = bound->shape_var == arg->shape_var && (bound->shape_var || bound->dims == arg->dims);
      return same ? BaseCheck::kPass : BaseCheck::kFailL2;
    }
    shape_vars_.push_back({param, arg});
    return BaseCheck::kPass;
  }

 private:
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> sym_vars_;
  std::vector<std::pair<const Expr*, const TensorType*>> shape_vars_;
};

const Type* Instantiate(const Type* ret, const CallMatcher& matcher, Arena& arena) {
  return EraseToWellDefined(
      ret, [&](const tir::Var* var) { return matcher.ValueOf(var); },
      [&](const Expr* var) -> const Expr* {
        const TensorType* tensor = matcher.ShapeOf(var);
        if (!tensor) return nullptr;
        if (tensor->shape_var) return tensor->shape_var;
        return arena.New<ShapeExpr>(List<const PrimExpr*>(arena.Copy(tensor->dims.span())),
                                    ShapeType::Get(tensor->dims));
      },
      arena);
}

// The result type of a packed function as given in the call.
const Type* TypeByTypeArgs(const Call& call) {
  if (!call.type_args || call.type_args->fields.empty()) return ObjectType::Get();
  return call.type_args->fields.size() == 1 ? call.type_args->fields[0] : call.type_args;
}

const Type* OpaqueResult(const FuncType* callee, const Expr* function, const Call& call) {
  // A packed function that the call names directly has no result type of its own.
  const bool unsaid = function->kind == NodeKind::kExternFunc && callee->ret->kind == NodeKind::kObjectType;
  return unsaid || !callee->derive_func.empty() ? TypeByTypeArgs(call) : callee->ret;
}

}  // namespace

const Type* DeriveCallType(const FuncType* callee, const Call& call, InferContext& ctx) {
  if (callee->opaque) return OpaqueResult(callee, call.op, call);
  if (callee->params.size() != call.args.size()) {
    return ctx.Error(
        call, fmt::format("has {} parameter{}, but is called with {} argument{}", callee->params.size(),
                          callee->params.size() == 1 ? "" : "s", call.args.size(), call.args.size() == 1 ? "" : "s"));
  }
  CallMatcher matcher;
  for (uint32_t i = 0; i < call.args.size(); ++i) {
    const Type* arg = TypeOfExpr(call.args[i], ctx.module());
    if (!arg) return ctx.Error(call, i, fmt::format("the type of argument {} is not known", i));
    // Dimensions that may differ are left to the check at run time.
    if (matcher.Match(callee->params[i], arg) >= BaseCheck::kFailL2) continue;
    return ctx.Error(call, i,
                     fmt::format("argument {} has type {}, but the parameter has type {}", i, TypeToString(arg),
                                 TypeToString(callee->params[i])));
  }
  return Instantiate(callee->ret, matcher, ctx.arena());
}

SymVarMap BindSymVars(std::span<const Type* const> params, std::span<const Type* const> args) {
  CallMatcher matcher;
  for (size_t i = 0; i < params.size(); ++i) matcher.Match(params[i], args[i]);
  SymVarMap values;
  for (const auto& [var, value] : matcher.sym_vars()) values.Set(var, value);
  return values;
}

// ---- Destination-passing style: the outputs are parameters, between the inputs and the packed integers.

namespace {

bool HasDistributed(const Type* type) {
  if (const auto* tuple = As<TupleType>(type)) {
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), HasDistributed);
  }
  return type->kind == NodeKind::kDTensorType;
}

// The parameters of a callee of call_tir in groups.
struct DpsSignature {
  const FuncType* callee;
  const TupleType* inputs;
  const ShapeType* packed = nullptr;  // null if there are none
  uint32_t num_packed = 0;

  uint32_t first_output() const { return inputs->fields.size(); }
  uint32_t first_packed() const { return callee->params.size() - num_packed; }
};

std::optional<DpsSignature> SplitSignature(const Call& call, InferContext& ctx) {
  const auto fail = [&](size_t operand, const std::string& message) {
    ctx.Error(call, operand, message);
    return std::nullopt;
  };
  if (call.args.size() != 2 && call.args.size() != 3) {
    ctx.Error(call, fmt::format("expects 2 to 3 operands, but has {}", call.args.size()));
    return std::nullopt;
  }
  const Type* callee = TypeOfExpr(call.args[0], ctx.module());
  const Type* inputs = TypeOfExpr(call.args[1], ctx.module());
  DpsSignature signature{.callee = As<FuncType>(callee), .inputs = As<TupleType>(inputs)};
  if (!signature.callee || signature.callee->opaque) {
    return fail(
        0, fmt::format("the callee must be a function with known parameters, but is of type {}", TypeToString(callee)));
  }
  if (!signature.inputs)
    return fail(1, fmt::format("the arguments must be a tuple, but are of type {}", TypeToString(inputs)));
  if (call.args.size() == 3) {
    const Type* packed = TypeOfExpr(call.args[2], ctx.module());
    signature.packed = As<ShapeType>(packed);
    if (!signature.packed || signature.packed->ndim == kUnknownDim) {
      return fail(2, fmt::format("the packed integers must be a shape of known rank, but are of type {}",
                                 TypeToString(packed)));
    }
    signature.num_packed = static_cast<uint32_t>(signature.packed->ndim);
  }
  if (signature.first_output() + signature.num_packed > signature.callee->params.size()) {
    ctx.Error(call, fmt::format("passes {} arguments and {} packed integers to a function of {} parameters",
                                signature.first_output(), signature.num_packed, signature.callee->params.size()));
    return std::nullopt;
  }
  return signature;
}

// Outputs that overwrite an input have the type of its parameter.
bool InsertInPlace(const Call& call, const DpsSignature& signature, std::vector<const Type*>& outputs,
                   InferContext& ctx) {
  const IntList indices = InplaceAttrs(call).inplace_indices();
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t input = indices[i];
    if (input < 0) continue;
    if (input >= static_cast<int64_t>(signature.first_output()) || i > outputs.size()) {
      ctx.Error(call, fmt::format("in-place index {} is out of range", input));
      return false;
    }
    outputs.insert(outputs.begin() + static_cast<ptrdiff_t>(i), signature.callee->params[static_cast<size_t>(input)]);
  }
  return true;
}

}  // namespace

const Type* DeriveCallTirOutput(const Call& call, InferContext& ctx) {
  const auto signature = SplitSignature(call, ctx);
  if (!signature || HasDistributed(signature->inputs)) return nullptr;
  const FuncType* callee = signature->callee;
  CallMatcher matcher;
  const auto match = [&](uint32_t param, const Type* arg, const std::string& what) {
    if (matcher.Match(callee->params[param], arg) >= BaseCheck::kFailL2) return true;
    ctx.Error(call, 1,
              fmt::format("{} has type {}, but the parameter has type {}", what, TypeToString(arg),
                          TypeToString(callee->params[param])));
    return false;
  };
  for (uint32_t i = 0; i < signature->first_output(); ++i) {
    if (!match(i, signature->inputs->fields[i], fmt::format("argument {}", i))) return nullptr;
  }
  for (uint32_t i = 0; i < signature->num_packed; ++i) {
    const Type* arg =
        signature->packed->known ? PrimType::Get(signature->packed->values[i]) : PrimType::Get(DataType::Int(64));
    if (!match(signature->first_packed() + i, arg, fmt::format("packed integer {}", i))) return nullptr;
  }
  const auto params = callee->params.span();
  std::vector<const Type*> outputs(params.begin() + signature->first_output(),
                                   params.begin() + signature->first_packed());
  if (!InsertInPlace(call, *signature, outputs, ctx)) return nullptr;
  const Type* ret = outputs.size() == 1 ? outputs[0] : TupleType::Get(ctx.arena(), outputs);
  return Instantiate(ret, matcher, ctx.arena());
}

// ---- Operators that call functions

using rules::CheckArity;

IROPT_TYPE_RULE(InferCallTir, "`out_sinfo`, which fits the outputs of the function") {
  if (!CheckArity(call, 2, 3, ctx)) return nullptr;
  if (!call.type_args || call.type_args->fields.size() != 1) return ctx.Error(call, "needs exactly one output type");
  if (call.args[0]->kind != NodeKind::kGlobalVar) return ctx.Error(call, 0, "the callee must be a global PrimFunc");
  return call.type_args->fields[0];
}

IROPT_TYPE_RULE(InferCallDpsPacked, "`out_sinfo`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  if (!call.type_args || call.type_args->fields.size() != 1) return ctx.Error(call, "needs exactly one output type");
  return call.type_args->fields[0];
}

IROPT_TYPE_RULE(InferCallPyFunc, "`out_sinfo`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  if (!Is<StringImm>(call.args[0])) return ctx.Error(call, 0, "the name of the function must be a string");
  const Type* args = call.args[1]->type;
  if (!As<TupleType>(args))
    return ctx.Error(call, 1, fmt::format("the operands must be a tuple, but are of type {}", TypeToString(args)));
  if (!call.type_args || call.type_args->fields.size() != 1) return ctx.Error(call, "needs exactly one output type");
  return call.type_args->fields[0];
}

namespace {

// The type of the packed function that is the first operand; null after an error.
const FuncType* PackedCallee(const Call& call, InferContext& ctx) {
  const Type* type = TypeOfExpr(call.args[0], ctx.module());
  const auto* func = As<FuncType>(type);
  if (func && func->opaque) return func;
  ctx.Error(call, 0, fmt::format("the callee must be an opaque function, but is of type {}", TypeToString(type)));
  return nullptr;
}

}  // namespace

IROPT_TYPE_RULE(InferCallPurePacked, "`sinfo_args`, a tuple if there are several") {
  if (call.args.empty()) return ctx.Error(call, "needs a callee");
  const FuncType* callee = PackedCallee(call, ctx);
  return callee ? OpaqueResult(callee, call.args[0], call) : nullptr;
}

IROPT_TYPE_RULE(InferCallInplacePacked,
                "`sinfo_args`, where outputs have the types of the arguments that they overwrite") {
  if (call.args.size() < 2) return ctx.Error(call, "needs a callee and at least one argument");
  const FuncType* callee = PackedCallee(call, ctx);
  if (!callee) return nullptr;
  const auto num_args = static_cast<int64_t>(call.args.size()) - 1;
  const std::vector<int64_t> indices = InplaceAttrs(call).inplace_indices().vector();
  std::vector<int64_t> seen;
  for (const int64_t index : indices) {
    if (index < -1 || index >= num_args) {
      return ctx.Error(call, fmt::format("in-place index {} is out of range for {} argument{}", index, num_args,
                                         num_args == 1 ? "" : "s"));
    }
    if (index == -1) continue;
    if (std::find(seen.begin(), seen.end(), index) != seen.end())
      return ctx.Error(call, fmt::format("in-place index {} is given twice", index));
    seen.push_back(index);
  }
  if (seen.empty()) return ctx.Error(call, "needs an in-place index that is not -1");
  const Type* result = OpaqueResult(callee, call.args[0], call);
  const auto* tuple = As<TupleType>(result);
  if (indices.size() > 1 && (!tuple || tuple->fields.size() < indices.size())) {
    return ctx.Error(call, fmt::format("has {} outputs by its in-place indices, but the result type is {}",
                                       indices.size(), TypeToString(result)));
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == -1) continue;
    const Type* output = indices.size() == 1 ? result : tuple->fields[i];
    const auto operand = static_cast<size_t>(indices[i]) + 1;
    const Type* input = call.args[operand]->type;
    if (IsBaseOf(output, input)) continue;
    return ctx.Error(call, operand,
                     fmt::format("argument {} is of type {}, but the output in its place of type {}", indices[i],
                                 TypeToString(input), TypeToString(output)));
  }
  return result;
}

IROPT_TYPE_RULE(InferCallBuiltinWithCtx, "`sinfo_args`, or the empty tuple") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  if (!call.type_args || call.type_args->fields.empty()) return TupleType::Get({});
  if (call.type_args->fields.size() != 1) return ctx.Error(call, "has at most one output type");
  return call.type_args->fields[0];
}

IROPT_TYPE_RULE(InferInvokeClosure, "`sinfo_args`, a tuple if there are several") {
  return CheckArity(call, 2, 2, ctx) ? TypeByTypeArgs(call) : nullptr;
}

IROPT_TYPE_RULE(InferDistCallTirLocalView, "`out_sinfo`, which fits the outputs of the function") {
  return InferCallTir(call, ctx);
}

const PrimExpr* KnownInspection(const Call& call) {
  const auto* type = As<PrimType>(call.type);
  if (!type || !type->value) return nullptr;
  const auto* op = As<Op>(call.op);
  return op && op->name.starts_with("relax.inspect.") ? type->value : nullptr;
}

// ---- Results that do not depend on the operands

IROPT_TYPE_RULE(InferObject, "an object") { return ObjectType::Get(); }

IROPT_TYPE_RULE(InferVoid, "the empty tuple") { return TupleType::Get({}); }

IROPT_TYPE_RULE(InferAssertOp, "the empty tuple; the condition is a boolean scalar") {
  if (call.args.empty()) return ctx.Error(call, "needs a condition");
  const Type* type = call.args[0]->type;
  const auto* prim = As<PrimType>(type);
  const auto* tensor = As<TensorType>(type);
  const bool is_prim = prim && (prim->dtype.is_bool() || prim->dtype.is_void());
  const bool is_tensor = tensor && (tensor->dtype.is_bool() || tensor->dtype.is_void()) &&
                         (tensor->ndim == 0 || tensor->ndim == kUnknownDim);
  if (is_prim || is_tensor) return TupleType::Get({});
  return ctx.Error(call, 0,
                   fmt::format("the condition must be a boolean scalar, but is of type {}", TypeToString(type)));
}

}  // namespace iropt
