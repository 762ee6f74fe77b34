#include "grad_builder.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/arith/analyzer.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/element.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/unary.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

std::string NameOf(const Expr* expr) {
  const auto* var = As<Var>(expr);
  return var ? fmt::format("'{}'", var->name()) : "an operand";
}

// The dimensions of a tensor or of the value of its shape variable; null if they are not known.
const List<const PrimExpr*>* KnownDims(const Expr* tensor) {
  const auto* type = As<TensorType>(tensor->type);
  if (!type) return nullptr;
  if (type->known) return &type->dims;
  const auto* shape = type->shape_var ? As<ShapeType>(type->shape_var->type) : nullptr;
  return shape && shape->known ? &shape->values : nullptr;
}

bool AreEqual(std::span<const PrimExpr* const> a, std::span<const PrimExpr* const> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!arith::ProveEqual(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

void GradBuilder::Fail(std::string message) {
  if (!failed()) diagnostics_.Error(Location(location_), "pass-failed", std::move(message));
  failed_ = true;
}

const Expr* GradBuilder::Call(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs) {
  const List<const Expr*> list = workspace().Copy(std::span<const Expr* const>(args.begin(), args.size()));
  auto* call = workspace().New<iropt::Call>(GetOp(op), list, attrs, nullptr, nullptr);
  call->set_span(location_);
  return call;
}

const Expr* GradBuilder::Add(const Expr* a, const Expr* b) { return Call(op::kAdd, {a, b}); }
const Expr* GradBuilder::Subtract(const Expr* a, const Expr* b) { return Call(op::kSubtract, {a, b}); }
const Expr* GradBuilder::Multiply(const Expr* a, const Expr* b) { return Call(op::kMultiply, {a, b}); }
const Expr* GradBuilder::Divide(const Expr* a, const Expr* b) { return Call(op::kDivide, {a, b}); }
const Expr* GradBuilder::Negative(const Expr* x) { return Call(op::kNegative, {x}); }
const Expr* GradBuilder::Where(const Expr* cond, const Expr* a, const Expr* b) {
  return Call(op::kWhere, {cond, a, b});
}
const Expr* GradBuilder::Reshape(const Expr* x, const Expr* shape) { return Call(op::kReshape, {x, shape}); }
const Expr* GradBuilder::BroadcastTo(const Expr* x, const Expr* shape) { return Call(op::kBroadcastTo, {x, shape}); }

const Expr* GradBuilder::Matmul(const Expr* a, const Expr* b) {
  return Call(op::kMatmul, {a, b}, MakeOpAttrs(op::kMatmul, MatmulAttrs::Values{}));
}

const Expr* GradBuilder::PermuteDims(const Expr* x, std::span<const int64_t> axes) {
  return Call(op::kPermuteDims, {x}, MakeOpAttrs(op::kPermuteDims, PermuteDimsAttrs::Values{.axes = axes}));
}

const Expr* GradBuilder::ExpandDims(const Expr* x, std::span<const int64_t> axes) {
  return Call(op::kExpandDims, {x}, MakeOpAttrs(op::kExpandDims, ExpandDimsAttrs::Values{.axis = axes}));
}

const Expr* GradBuilder::Squeeze(const Expr* x, std::span<const int64_t> axes) {
  return Call(op::kSqueeze, {x}, MakeOpAttrs(op::kSqueeze, SqueezeAttrs::Values{.axis = axes}));
}

const Expr* GradBuilder::SumKeepingDims(const Expr* x, std::optional<std::span<const int64_t>> axes) {
  StatisticalAttrs::Values values{.keepdims = true};
  if (axes) values.axis = *axes;
  return Call(op::kSum, {x}, MakeOpAttrs(op::kSum, values));
}

const Expr* GradBuilder::Astype(const Expr* x, DataType dtype) {
  return Call(op::kAstype, {x}, MakeOpAttrs(op::kAstype, AstypeAttrs::Values{.dtype = dtype}));
}

const Expr* GradBuilder::Zeros(const Type* type) {
  if (const auto* tuple = As<TupleType>(type)) {
    return WithStack([&]() -> const Expr* {
      std::vector<const Expr*> fields;
      for (const Type* field : tuple->fields) fields.push_back(Zeros(field));
      return workspace().New<Tuple>(workspace().Copy(fields), type);
    });
  }
  const auto* tensor = As<TensorType>(type);
  if (!tensor || !tensor->has_shape() || tensor->dtype.is_void()) {
    Fail(fmt::format("{} has no gradient: expected a tensor whose shape and dtype are known", TypeToString(type)));
    return Shape({});
  }
  const Expr* shape = tensor->known ? Shape(tensor->dims) : tensor->shape_var;
  return Call(op::kZeros, {shape}, MakeOpAttrs(op::kZeros, InitAttrs::Values{.dtype = tensor->dtype}));
}

const Expr* GradBuilder::Scalar(double value, const Expr* like) {
  const DataType dtype = DTypeOf(like);
  std::shared_ptr<NDArray> array = NDArray::Make(dtype.is_void() ? DataType::Float(32) : dtype, {});
  const bool stored = !dtype.is_void() && DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    array->MutableAs<T>()[0] = Element<T>::Store(static_cast<MathOf<T>>(value));
  });
  if (!stored) Fail(fmt::format("cannot differentiate at {}: its dtype is not known", NameOf(like)));
  workspace().arena().Retain(array);
  const Type* type = TensorType::Get(std::span<const PrimExpr* const>(), array->dtype());
  return workspace().New<Constant>(array.get(), type);
}

const Expr* GradBuilder::Shape(std::span<const PrimExpr* const> dims) {
  return workspace().New<ShapeExpr>(workspace().Copy(dims), ShapeType::Get(dims));
}

const Expr* GradBuilder::IntTuple(std::span<const PrimExpr* const> values) {
  std::vector<const Expr*> fields;
  for (const PrimExpr* value : values) fields.push_back(workspace().New<PrimValue>(value, PrimType::Get(value)));
  return workspace().New<Tuple>(workspace().Copy(fields), nullptr);
}

const Expr* GradBuilder::ShapeOf(const Expr* tensor) {
  const auto* type = As<TensorType>(tensor->type);
  if (type && type->known) return Shape(type->dims);
  if (type && type->shape_var) return type->shape_var;
  Fail(fmt::format("cannot differentiate: the shape of {} is not known", NameOf(tensor)));
  return Shape({});
}

std::span<const PrimExpr* const> GradBuilder::DimsOf(const Expr* tensor) {
  if (const List<const PrimExpr*>* dims = KnownDims(tensor)) return *dims;
  Fail(fmt::format("cannot differentiate: the shape of {} is not known", NameOf(tensor)));
  return {};
}

int64_t GradBuilder::StaticDim(const Expr* tensor, int64_t axis) {
  const std::span<const PrimExpr* const> dims = DimsOf(tensor);
  const auto i = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  if (i >= dims.size()) {
    Fail(fmt::format("cannot differentiate: {} has no axis {}", NameOf(tensor), axis));
    return 1;
  }
  if (const int64_t* length = arith::AsInt(dims[i])) return *length;
  Fail(fmt::format("cannot differentiate: the length {} of axis {} of {} is not a number", DimToString(dims[i]), i,
                   NameOf(tensor)));
  return 1;
}

int64_t GradBuilder::NumElements(const Expr* tensor, std::optional<IntList> axes) {
  int64_t product = 1;
  if (axes) {
    for (const int64_t axis : *axes) product *= StaticDim(tensor, axis);
  } else {
    for (size_t i = 0; i < DimsOf(tensor).size(); ++i) product *= StaticDim(tensor, static_cast<int64_t>(i));
  }
  return product;
}

DataType GradBuilder::DTypeOf(const Expr* tensor) const {
  const auto* type = As<TensorType>(tensor->type);
  return type ? type->dtype : DataType::Void();
}

int GradBuilder::NumDims(const Expr* tensor) { return static_cast<int>(DimsOf(tensor).size()); }

const Expr* GradBuilder::FitShape(const Expr* grad, const Expr* operand) {
  if (failed()) return grad;
  const Expr* value = builder_.Normalize(grad);
  if (failed()) return grad;
  return SumTo(value, DimsOf(value), operand);
}

const Expr* GradBuilder::FitKnownShape(const Expr* grad, const Expr* operand) {
  if (failed() || !KnownDims(operand)) return grad;
  const Expr* value = builder_.Normalize(grad);
  const List<const PrimExpr*>* dims = failed() ? nullptr : KnownDims(value);
  return dims ? SumTo(value, *dims, operand) : value;
}

const Expr* GradBuilder::SumTo(const Expr* grad, std::span<const PrimExpr* const> from, const Expr* operand) {
  if (failed() || AreEqual(from, DimsOf(operand))) return grad;
  return Call(op::kCollapseSumTo, {grad, ShapeOf(operand)});
}

}  // namespace iropt
