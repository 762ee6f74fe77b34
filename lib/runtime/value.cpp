#include "iropt/runtime/value.h"

#include <cmath>
#include <limits>

#include "iropt/ir/context.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/large_uint.h"
#include "iropt/support/stack.h"

namespace iropt {

Scalar Scalar::Int(int64_t value, DataType dtype) {
  Scalar result;
  result.dtype = dtype;
  result.integer = value;
  return result;
}

Scalar Scalar::Float(double value, DataType dtype) {
  Scalar result;
  result.dtype = dtype;
  result.real = value;
  return result;
}

double Scalar::ToDouble() const {
  if (dtype.is_floating()) return real;
  return dtype.is_uint() ? static_cast<double>(static_cast<uint64_t>(integer)) : static_cast<double>(integer);
}

std::optional<int64_t> Scalar::ToInt() const {
  if (!dtype.is_floating()) {
    if (dtype.is_uint() && integer < 0) return std::nullopt;
    return integer;
  }
  int64_t result = 0;
  if (!ConvertElement(real, &result)) return std::nullopt;
  return result;
}

namespace {

// Nested tuples may be as deep as the program is long.
void DeleteTuple(const TupleValue* tuple) {
  WithStack([&] { delete tuple; });
}

}  // namespace

HostValue::HostValue(TupleValue value) : state(TupleRef(new TupleValue(std::move(value)), DeleteTuple)) {}

std::string_view KindOf(const HostValue& value) {
  static constexpr std::string_view kNames[] = {"null",     "a tensor", "a shape", "a scalar",  "a tuple",
                                                "a string", "a dtype",  "storage", "a function"};
  return kNames[value.state.index()];
}

void ForEachTensor(const HostValue& value, FunctionRef<void(const Tensor&)> f) {
  if (const auto* tensor = std::get_if<Tensor>(&value.state)) return f(*tensor);
  const TupleValue* tuple = value.tuple();
  if (!tuple) return;
  for (const HostValue& field : tuple->fields) WithStack([&] { ForEachTensor(field, f); });
}

bool IsWritten(const HostValue& value) {
  bool written = true;
  ForEachTensor(value, [&](const Tensor& tensor) {
    const std::shared_ptr<Storage>& storage = tensor->storage();
    written = written && (!storage || storage->IsWritten(tensor->storage_offset(), tensor->num_bytes()));
  });
  return written;
}

namespace {

std::optional<HostValue> PrimLiteral(const PrimExpr* expr) {
  if (const auto* i = As<tir::IntImm>(expr)) return HostValue(Scalar::Int(i->value, i->dtype));
  if (const auto* f = As<tir::FloatImm>(expr)) return HostValue(Scalar::Float(f->value, f->dtype));
  if (const auto large = AsLargeUInt(expr)) return HostValue(Scalar::Int(static_cast<int64_t>(*large), expr->dtype));
  return std::nullopt;
}

std::optional<HostValue> ShapeLiteral(const ShapeExpr& expr) {
  ShapeValue shape;
  shape.reserve(expr.values.size());
  for (const PrimExpr* dim : expr.values) {
    const auto* imm = As<tir::IntImm>(dim);
    if (!imm) return std::nullopt;
    shape.push_back(imm->value);
  }
  return HostValue(std::move(shape));
}

std::optional<HostValue> TupleLiteral(const Tuple& expr) {
  TupleValue tuple;
  tuple.fields.reserve(expr.fields.size());
  for (const Expr* field : expr.fields) {
    std::optional<HostValue> value = WithStack([&] { return LiteralValue(field); });
    if (!value) return std::nullopt;
    tuple.fields.push_back(*std::move(value));
  }
  return HostValue(std::move(tuple));
}

const Expr* MakeTuple(const TupleValue& value, Workspace& workspace) {
  std::vector<const Expr*> fields;
  std::vector<const Type*> types;
  for (const HostValue& field : value.fields) {
    fields.push_back(WithStack([&] { return MakeLiteral(field, workspace); }));
    if (!fields.back()) return nullptr;
    types.push_back(fields.back()->type);
  }
  return workspace.New<Tuple>(workspace.Copy(fields), TupleType::Get(types));
}

const Expr* MakeShape(const ShapeValue& shape, Workspace& workspace) {
  std::vector<const PrimExpr*> dims;
  for (const int64_t dim : shape) dims.push_back(IRContext::Current().Int(dim));
  return workspace.New<ShapeExpr>(workspace.Copy(dims), ShapeType::Get(dims));
}

const Expr* MakePrim(const Scalar& value, Workspace& workspace) {
  const PrimExpr* imm = nullptr;
  if (value.dtype.is_floating()) {
    imm = workspace.New<tir::FloatImm>(value.dtype, value.real);
  } else if (value.dtype == DataType::UInt(64) && value.integer < 0) {
    imm = MakeLargeUInt(static_cast<uint64_t>(value.integer), workspace.arena());
  } else {
    imm = workspace.New<tir::IntImm>(value.dtype, value.integer);
  }
  imm = IRContext::Current().Intern(imm);
  return workspace.New<PrimValue>(imm, PrimType::Get(imm));
}

}  // namespace

std::optional<HostValue> LiteralValue(const Expr* expr) {
  switch (expr->kind) {
    case NodeKind::kConstant: return HostValue(To<Constant>(expr)->data->shared_from_this());
    case NodeKind::kShapeExpr: return ShapeLiteral(*To<ShapeExpr>(expr));
    case NodeKind::kPrimValue: return PrimLiteral(To<PrimValue>(expr)->value);
    case NodeKind::kTuple: return TupleLiteral(*To<Tuple>(expr));
    case NodeKind::kStringImm: return HostValue(To<StringImm>(expr)->value);
    case NodeKind::kDataTypeImm: return HostValue(To<DataTypeImm>(expr)->value);
    default: return std::nullopt;
  }
}

const TensorType* TypeOfTensor(const NDArray& tensor, const VDeviceAttr* vdevice) {
  std::vector<const PrimExpr*> dims;
  dims.reserve(tensor.shape().size());
  for (const int64_t dim : tensor.shape()) dims.push_back(IRContext::Current().Int(dim));
  return TensorType::Get(dims, tensor.dtype(), vdevice);
}

const Constant* MakeConstant(Tensor tensor, Workspace& workspace, const VDeviceAttr* vdevice) {
  const Constant* result = workspace.New<Constant>(tensor.get(), TypeOfTensor(*tensor, vdevice));
  workspace.arena().Retain(std::move(tensor));
  return result;
}

const Expr* MakeLiteral(const HostValue& value, Workspace& workspace) {
  if (const auto* tensor = std::get_if<Tensor>(&value.state)) return MakeConstant(*tensor, workspace);
  if (const ShapeValue* shape = value.shape()) return MakeShape(*shape, workspace);
  if (const Scalar* scalar = value.scalar()) return MakePrim(*scalar, workspace);
  if (const TupleValue* tuple = value.tuple()) return MakeTuple(*tuple, workspace);
  if (const auto* text = std::get_if<std::string>(&value.state)) {
    return workspace.New<StringImm>(workspace.arena().CopyString(*text), ObjectType::Get());
  }
  if (const auto* dtype = std::get_if<DataType>(&value.state))
    return workspace.New<DataTypeImm>(*dtype, ObjectType::Get());
  return nullptr;
}

Tensor MakeScalarTensor(const Scalar& value) {
  std::shared_ptr<NDArray> result = NDArray::Make(value.dtype, {});
  const bool known = DispatchElement(value.dtype, [&]<class T>(std::type_identity<T>) {
    T& place = result->MutableAs<T>()[0];
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      place = Element<T>::Store(static_cast<MathOf<T>>(value.real));
    } else {
      place = Element<T>::Store(static_cast<MathOf<T>>(value.integer));
    }
  });
  IROPT_CHECK(known, "no tensors of dtype {}", value.dtype.ToString());
  return result;
}

std::optional<Scalar> ScalarOf(const NDArray& tensor) {
  if (tensor.num_elements() != 1) return std::nullopt;
  Scalar result;
  const bool known = DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const MathOf<T> value = Element<T>::Load(tensor.As<T>()[0]);
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      result = Scalar::Float(static_cast<double>(value), tensor.dtype());
    } else {
      result = Scalar::Int(static_cast<int64_t>(value), tensor.dtype());
    }
  });
  if (!known) return std::nullopt;
  return result;
}

}  // namespace iropt
