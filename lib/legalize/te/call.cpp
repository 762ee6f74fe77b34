// Calls of PrimFuncs that replace calls of operators.

#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/infer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/context.h"
#include "iropt/ir/element.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"

namespace iropt {

// ---- The call of the operator

std::vector<const Expr*> LegalizeCall::TupleFields(size_t i) {
  const Expr* tuple = arg(i);
  while (const auto* var = As<Var>(tuple)) {
    const Expr* value = builder_.LookupBinding(var);
    if (!value || (!Is<Tuple>(value) && !Var::ClassOf(value->kind))) break;
    tuple = value;
  }
  if (const auto* literal = As<Tuple>(tuple)) return {literal->fields.begin(), literal->fields.end()};
  std::vector<const Expr*> fields;
  const auto& types = To<TupleType>(tuple->type)->fields;
  for (uint32_t k = 0; k < types.size(); ++k) {
    const Expr* item = builder_.workspace().New<TupleGetItem>(tuple, static_cast<int32_t>(k), types[k]);
    fields.push_back(builder_.Emit(item));
  }
  return fields;
}

const Expr* LegalizeCall::BoundArg(size_t i) const {
  const Expr* value = arg(i);
  while (const auto* var = As<Var>(value)) {
    value = builder_.LookupBinding(var);
    if (!value) return nullptr;
  }
  return value;
}

const ShapeExpr* LegalizeCall::ShapeArg(size_t i) {
  const Expr* shape = BoundArg(i);
  return shape ? As<ShapeExpr>(shape) : nullptr;
}

const Constant* LegalizeCall::ConstantArg(size_t i) const {
  const Expr* value = BoundArg(i);
  return value ? As<Constant>(value) : nullptr;
}

const Expr* LegalizeCall::PackedFunc(std::string_view name) {
  Workspace& workspace = builder_.workspace();
  return workspace.New<ExternFunc>(workspace.arena().CopyString(name), DictAttr::Empty(), PackedFuncType());
}

const Expr* LegalizeCall::CallDpsPacked(std::string_view name, const std::vector<const Expr*>& args,
                                        const TensorType* out) {
  Workspace& workspace = builder_.workspace();
  const Expr* symbol = PackedFunc(name);
  const Expr* tuple = workspace.New<Tuple>(workspace.Copy(args), nullptr);
  const Type* const outs[] = {out};
  return workspace.New<Call>(GetOp(op::kCallDpsPacked), workspace.arena().Copy<const Expr*>({symbol, tuple}), nullptr,
                             TupleType::Get(workspace.arena(), outs), nullptr);
}

const Expr* LegalizeCall::Unchanged(std::string reason) {
  reason_ = std::move(reason);
  return &call_;
}

const Expr* LegalizeCall::Error(std::string message) {
  if (diagnostics_) {
    diagnostics_->Error(Location(call_), "pass-failed",
                        fmt::format("cannot legalize {}: {}", CalleeName(call_), message));
  }
  return nullptr;
}

const PrimExpr* AsScalarConstant(const Expr* expr, const arith::PrimBuilder& make) {
  const auto* constant = As<Constant>(expr);
  if (!constant || !constant->data->shape().empty()) return nullptr;
  const DataType dtype = constant->data->dtype();
  if (!dtype.is_floating() && !dtype.is_integer()) return nullptr;
  const PrimExpr* value = nullptr;
  DispatchElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto element = Element<T>::Load(constant->data->As<T>()[0]);
    value = dtype.is_integer() ? make.Int(static_cast<int64_t>(element), dtype)
                               : make.Float(static_cast<double>(element), dtype);
  });
  return value;
}

// ---- The function

const tir::Var* TeCall::OwnVar(const tir::Var* var) {
  for (const auto& [caller, own] : own_vars_) {
    if (caller == var) return own;
  }
  own_vars_.emplace_back(var, workspace().NewPrimVar(var->name, var->dtype));
  return own_vars_.back().second;
}

te::Value TeCall::Prim(const PrimExpr* value) {
  const auto own = [&](const tir::Var* var) -> const PrimExpr* { return OwnVar(var); };
  const PrimExpr* mine = tir::Substitute(value, own, workspace());
  scalars_.push_back(mine);
  return {mine, *this};
}

te::Shape TeCall::Dims(std::span<const PrimExpr* const> dims) {
  te::Shape shape;
  for (const PrimExpr* dim : dims) shape.push_back(Prim(dim));
  return shape;
}

namespace {

std::string InputName(const LegalizeCall& call, const Expr* arg, size_t number, char first, std::string_view rest) {
  if (const auto* var = As<Var>(arg)) return std::string(call.HintOf(*var));
  if (number < 26) return std::string(1, static_cast<char>(first + static_cast<char>(number)));
  return fmt::format("{}_input_{}", rest, number);
}

}  // namespace

te::Tensor TeCall::Input(const Expr* tensor, Placement placement, const std::vector<int64_t>& axis_separators) {
  const auto* type = To<TensorType>(tensor->type);
  const std::string name = InputName(call_, tensor, args_.size(), 'A', "tensor");
  const te::Shape shape = Dims(type->dims.span());
  args_.push_back(tensor);
  tensors_.push_back(te::Builder::Input(name, shape, type->dtype, placement, axis_separators));
  return tensors_.back();
}

std::vector<te::Tensor> TeCall::Inputs(std::span<const Expr* const> tensors) {
  std::vector<te::Tensor> inputs;
  for (const Expr* tensor : tensors) inputs.push_back(Input(tensor));
  return inputs;
}

te::Operand TeCall::Operand(const Expr* operand, bool fold_constants) {
  if (const auto* prim = As<PrimType>(operand->type)) {
    if (prim->value) return Prim(prim->value);
    const std::string name = InputName(call_, operand, args_.size(), 'a', "scalar");
    args_.push_back(operand);
    return ScalarInput(name, prim->dtype);
  }
  if (fold_constants) {
    if (const PrimExpr* value = AsScalarConstant(operand, make())) return te::Value(value, *this);
  }
  return Input(operand);
}

std::vector<const tir::Var*> TeCall::UnboundVars(std::span<const te::Tensor> outputs) const {
  std::vector<const tir::Var*> used, bound;
  const auto add = [](std::vector<const tir::Var*>& vars, const tir::Var* var) {
    if (std::find(vars.begin(), vars.end(), var) == vars.end()) vars.push_back(var);
  };
  const auto use = [&](const PrimExpr* expr) {
    std::vector<const Node*> pending = {expr};
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      if (tir::Var::ClassOf(node->kind)) add(used, static_cast<const tir::Var*>(node));
      if (PrimExpr::ClassOf(node->kind) && !tir::Var::ClassOf(node->kind))
        ForEachChild(node, [&](const Node* child) { pending.push_back(child); });
    }
  };
  const auto visit = [&](std::span<const te::Tensor> tensors) {
    for (const te::Tensor& tensor : tensors) {
      for (const PrimExpr* dim : tensor.buffer()->shape) {
        use(dim);
        if (tir::Var::ClassOf(dim->kind)) add(bound, static_cast<const tir::Var*>(dim));
      }
    }
  };
  visit(tensors_);
  visit(outputs);
  for (const PrimExpr* scalar : scalars_) use(scalar);
  std::erase_if(used, [&](const tir::Var* var) { return std::find(bound.begin(), bound.end(), var) != bound.end(); });
  return used;
}

const PrimExpr* TeCall::InCaller(const PrimExpr* dim) {
  const auto caller = [&](const tir::Var* var) -> const PrimExpr* {
    const auto it =
        std::find_if(own_vars_.begin(), own_vars_.end(), [&](const auto& pair) { return pair.second == var; });
    return it == own_vars_.end() ? nullptr : it->first;
  };
  return IRContext::Current().Intern(tir::Substitute(dim, caller, workspace()));
}

namespace {

// The first virtual device of the tensors, with those in tuples.
const VDeviceAttr* VDeviceOf(std::span<const Expr* const> args) {
  for (const Expr* arg : args) {
    const auto* tensor = As<TensorType>(arg->type);
    if (tensor && tensor->vdevice) return tensor->vdevice;
  }
  return nullptr;
}

}  // namespace

const Expr* TeCall::Finish(std::span<const te::Tensor> outputs) {
  const std::vector<const tir::Var*> unbound = UnboundVars(outputs);
  std::vector<const Type*> types;
  const VDeviceAttr* device = VDeviceOf(args_);
  for (const te::Tensor& output : outputs) {
    std::vector<const PrimExpr*> dims;
    for (const PrimExpr* dim : output.buffer()->shape) dims.push_back(InCaller(dim));
    types.push_back(TensorType::Get(dims, output.dtype(), device));
  }
  std::vector<const PrimExpr*> vars;
  for (const tir::Var* var : unbound) vars.push_back(InCaller(var));

  const PrimFunc* func = te::Builder::Finish(outputs, unbound, attrs_);
  const GlobalVar* name = call_.module().AddFunction(func, workspace().Finish(), name_);

  Workspace& caller = call_.builder().workspace();
  std::vector<const Expr*> operands = {name, caller.New<Tuple>(caller.Copy(args_), nullptr)};
  if (!vars.empty()) operands.push_back(caller.New<ShapeExpr>(caller.Copy(vars), ShapeType::Get(vars)));
  const Type* out = types.size() == 1 ? types[0] : TupleType::Get(types);
  const Type* const outs[] = {out};
  return caller.New<Call>(GetOp(op::kCallTir), caller.Copy(operands), nullptr, TupleType::Get(outs), nullptr);
}

}  // namespace iropt
