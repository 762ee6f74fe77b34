#include "exchange/onnx/import/operand_maker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

const Expr* OperandMaker::Scalar(double value, DataType dtype) {
  if (dtype.is_void()) dtype = DataType::Float(32);
  const iropt::Scalar scalar =
      dtype.is_floating() ? iropt::Scalar::Float(value, dtype) : iropt::Scalar::Int(static_cast<int64_t>(value), dtype);
  return MakeConstant(MakeScalarTensor(scalar), workspace());
}

const Expr* OperandMaker::Constant(std::shared_ptr<const NDArray> array) {
  return MakeConstant(std::move(array), workspace());
}

const Expr* OperandMaker::IntTensor(std::span<const int64_t> values, std::initializer_list<int64_t> dims) {
  auto array = NDArray::Make(DataType::Int(64), dims);
  std::ranges::copy(values, array->MutableAs<int64_t>().begin());
  return Constant(std::move(array));
}

const Expr* OperandMaker::Shape(std::span<const PrimExpr* const> dims) {
  return workspace().New<ShapeExpr>(workspace().Copy(dims), ShapeType::Get(dims));
}

const Expr* OperandMaker::Shape(std::span<const int64_t> dims) {
  std::vector<const PrimExpr*> values;
  for (const int64_t dim : dims) values.push_back(IRContext::Current().Int(dim));
  return Shape(values);
}

const Expr* OperandMaker::Prim(int64_t value) { return Prim(IRContext::Current().Int(value)); }

const Expr* OperandMaker::Prim(const PrimExpr* value) {
  return workspace().New<PrimValue>(value, PrimType::Get(value));
}

const Expr* OperandMaker::ScalarPrim(const NDArray& array) {
  return MakeLiteral(HostValue(*ScalarOf(array)), workspace());
}

const Expr* OperandMaker::PrimFloat(double value, DataType dtype) {
  return MakeLiteral(HostValue(iropt::Scalar::Float(value, dtype)), workspace());
}

const Expr* OperandMaker::Tuple(std::span<const Expr* const> fields) {
  std::vector<const Type*> types;
  for (const Expr* field : fields) types.push_back(field->type);
  return workspace().New<iropt::Tuple>(workspace().Copy(fields), TupleType::Get(workspace().arena(), types));
}

const Expr* OperandMaker::Field(const Expr* tuple, int index) {
  const auto* type = As<TupleType>(tuple->type);
  const bool has_field = type != nullptr && static_cast<size_t>(index) < type->fields.size();
  const Type* field = has_field ? type->fields[static_cast<uint32_t>(index)] : ObjectType::Get();
  return workspace().New<TupleGetItem>(tuple, index, field);
}

}  // namespace iropt::onnx
