#include "type_util.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "iropt/infer/axes.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::rules {

Dim IfThenElse(Dim condition, Dim a, Dim b) {
  if (const int64_t* value = arith::AsInt(condition)) return *value ? a : b;
  const Dim args[] = {condition, a, b};
  return kDims.Keep(tir::Call(a->dtype, GetOp(op::kTirIfThenElse), List<Dim>(args, 3)));
}

bool CheckArity(const Call& call, size_t min, size_t max, InferContext& ctx) {
  if (call.args.size() >= min && call.args.size() <= max) return true;
  const std::string expected = max == SIZE_MAX ? fmt::format("at least {}", min)
                               : min == max    ? fmt::format("{}", min)
                                               : fmt::format("{} to {}", min, max);
  ctx.Error(call, fmt::format("expects {} operand{}, but has {}", expected, max == 1 ? "" : "s", call.args.size()));
  return false;
}

std::string OperandName(const Call& call, size_t i) {
  const auto* op = As<Op>(call.op);
  if (op && op->info && i < op->info->args.size()) return fmt::format("operand {} ('{}')", i, op->info->args[i].name);
  return fmt::format("operand {}", i);
}

const TensorType* TensorArg(const Call& call, size_t i, InferContext& ctx) {
  const Type* type = call.args[i]->type;
  if (type && type->kind == NodeKind::kTensorType) [[likely]]
    return static_cast<const TensorType*>(type);
  ctx.Error(call, i, fmt::format("{} must be a tensor, but is of type {}", OperandName(call, i), TypeToString(type)));
  return nullptr;
}

const ShapeType* ShapeArg(const Call& call, size_t i, InferContext& ctx) {
  const Type* type = call.args[i]->type;
  if (const auto* shape = As<ShapeType>(type)) return shape;
  ctx.Error(call, i, fmt::format("{} must be a shape, but is of type {}", OperandName(call, i), TypeToString(type)));
  return nullptr;
}

bool TensorsOfTuple(const Call& call, size_t i, InferContext& ctx, std::vector<const TensorType*>& out) {
  const Type* type = call.args[i]->type;
  const auto* tuple = As<TupleType>(type);
  if (tuple) {
    for (const Type* field : tuple->fields) out.push_back(As<TensorType>(field));
  }
  if (!tuple || std::find(out.begin(), out.end(), nullptr) != out.end()) {
    ctx.Error(
        call, i,
        fmt::format("{} must be a tuple of tensors, but is of type {}", OperandName(call, i), TypeToString(type)));
    return false;
  }
  if (!out.empty()) return true;
  ctx.Error(call, i, fmt::format("{} must have at least one tensor", OperandName(call, i)));
  return false;
}

Dim NumberArg(const Call& call, size_t i, InferContext& ctx) {
  const Type* type = call.args[i]->type;
  const auto* prim = As<PrimType>(type);
  if (prim && prim->value) return prim->value;
  ctx.Error(
      call, i,
      fmt::format("{} must be a number of known value, but is of type {}", OperandName(call, i), TypeToString(type)));
  return nullptr;
}

bool CheckIntegerDType(const Call& call, size_t i, DataType dtype, InferContext& ctx) {
  if (dtype.is_void() || dtype.is_integer()) return true;
  ctx.Error(call, i, fmt::format("{} must have an integer dtype, but has {}", OperandName(call, i), dtype.ToString()));
  return false;
}

const List<Dim>* ShapeValues(const TensorType* t) {
  if (t->known) return &t->dims;
  const auto* shape = t->shape_var ? As<ShapeType>(t->shape_var->type) : nullptr;
  return shape && shape->known ? &shape->values : nullptr;
}

const TensorType* WithShapeOf(const TensorType* t, DataType dtype, const VDeviceAttr* vdevice, InferContext& ctx) {
  if (t->dtype == dtype && t->vdevice == vdevice) return t;
  if (t->known) return TensorType::Get(t->dims, dtype, vdevice);
  if (t->shape_var) return TensorType::WithShapeVar(ctx.arena(), t->shape_var, dtype, vdevice);
  return TensorType::Get(t->ndim, dtype, vdevice);
}

const TensorType* WithDType(const TensorType* t, DataType dtype, InferContext& ctx) {
  return WithShapeOf(t, dtype, t->vdevice, ctx);
}

const TensorType* WithVDevice(const TensorType* t, const VDeviceAttr* vdevice, InferContext& ctx) {
  return WithShapeOf(t, t->dtype, vdevice, ctx);
}

const TensorType* WithShapeExpr(const Expr* shape, DataType dtype, const VDeviceAttr* vdevice, InferContext& ctx) {
  if (const auto* literal = As<ShapeExpr>(shape)) return TensorType::Get(literal->values, dtype, vdevice);
  if (Var::ClassOf(shape->kind)) return TensorType::WithShapeVar(ctx.arena(), shape, dtype, vdevice);
  const auto* type = As<ShapeType>(shape->type);
  if (type && type->known) return TensorType::Get(type->values, dtype, vdevice);
  return TensorType::Get(type ? type->ndim : kUnknownDim, dtype, vdevice);
}

std::optional<DataType> CommonDType(const Call& call, size_t i, DataType a, size_t j, DataType b, InferContext& ctx) {
  if (a.is_void() || b.is_void()) return DataType::Void();
  if (a == b) return a;
  // Python's numbers are constants of a dtype of their own.
  const auto is_number = [&](size_t operand) {
    const Expr* arg = call.args[operand];
    const auto* constant = As<Constant>(arg);
    return Is<PrimValue>(arg) || (constant != nullptr && constant->data->shape().empty());
  };
  std::string hint;
  if (is_number(i) != is_number(j)) {
    hint = fmt::format("; R.const(value, \"{}\") has the dtype of the tensor", (is_number(i) ? b : a).ToString());
  }
  ctx.Error(call, fmt::format("{} and {} must have the same dtype, but have {} and {}{}", OperandName(call, i),
                              OperandName(call, j), a.ToString(), b.ToString(), hint));
  return std::nullopt;
}

std::optional<const VDeviceAttr*> CommonVDevice(const Call& call, const Type* a, const Type* b, InferContext& ctx) {
  const auto device_of = [](const Type* t) -> const VDeviceAttr* {
    const auto* tensor = As<TensorType>(t);
    return tensor ? tensor->vdevice : nullptr;
  };
  const VDeviceAttr* left = device_of(a);
  const VDeviceAttr* right = device_of(b);
  if (!left || !left->target) return right;
  // A call that states the device of its result may take operands from anywhere.
  if (!right || !right->target || left == right || call.type_args) return left;
  ctx.Error(call, fmt::format("the operands must be on the same virtual device, but have types {} and {}",
                              TypeToString(a), TypeToString(b)));
  return std::nullopt;
}

const VDeviceAttr* JoinVDevices(std::span<const TensorType* const> tensors) {
  const VDeviceAttr* joined = nullptr;
  for (const TensorType* t : tensors) {
    if (!t->vdevice) continue;
    if (!joined)
      joined = t->vdevice;
    else if (t->vdevice->target && t->vdevice != joined)
      return nullptr;
  }
  return joined;
}

Known Broadcast(const Call& call, std::span<const Dim> a, std::span<const Dim> b, InferContext& ctx, DimList& out) {
  const std::span<const Dim> longer = a.size() > b.size() ? a : b;
  const size_t shared = std::min(a.size(), b.size());
  for (const Dim d : longer) out.push_back(d);
  for (size_t i = 1; i <= shared; ++i) {
    const Dim x = a[a.size() - i];
    const Dim y = b[b.size() - i];
    Dim& result = out[longer.size() - i];
    if (x == y) {
      result = x;
    } else if (IsOne(x)) {
      result = y;
    } else if (IsOne(y) || arith::ProveEqual(x, y)) {
      result = x;
    } else if (arith::AsInt(x) && arith::AsInt(y)) {
      ctx.Error(call, fmt::format("the shapes {} and {} cannot be broadcast: {} and {} differ at axis -{}",
                                  DimsToString(a), DimsToString(b), DimToString(x), DimToString(y), i));
      return Known::kError;
    } else {
      return Known::kNo;
    }
  }
  return Known::kYes;
}

std::optional<int> NormalizeAxis(const Call& call, int ndim, int64_t axis, InferContext& ctx) {
  const Result<int64_t> normal = iropt::NormalizeAxis(axis, ndim);
  if (normal) return static_cast<int>(*normal);
  ctx.Error(call, normal.error().message);
  return std::nullopt;
}

bool NormalizeAxes(const Call& call, int ndim, std::span<const int64_t> axes, InferContext& ctx,
                   std::vector<int>& out) {
  const Result<std::vector<int64_t>> normal = iropt::NormalizeAxes(axes, ndim);
  if (normal) {
    out.assign(normal->begin(), normal->end());
    return true;
  }
  ctx.Error(call, normal.error().message);
  return false;
}

Dim Product(std::span<const Dim> dims) {
  Dim product = One();
  for (const Dim d : dims) product = kDims.Mul(product, d);
  return product;
}

bool CheckChoice(const Call& call, std::string_view attr, std::string_view value, std::string_view words,
                 InferContext& ctx) {
  std::string choices;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, end - at);
    if (word == value) return true;
    choices += fmt::format("{}'{}'", choices.empty() ? "" : end == words.size() ? " or " : ", ", word);
    at = end + 1;
  }
  ctx.Error(call, fmt::format("has {} '{}'; expected {}", attr, value, choices));
  return false;
}

}  // namespace iropt::rules
