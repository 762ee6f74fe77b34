#include "operand_maker.h"

#include "exchange/relay/constants.h"
#include "iropt/arith/prim_builder.h"

namespace iropt::relay {

const Expr* OperandMaker::MakeTuple(std::span<const Expr* const> fields) {
  std::vector<const Type*> types;
  for (const Expr* field : fields) {
    if (field == nullptr) return nullptr;
    types.push_back(field->type);
  }
  const auto list = iropt::List<const Expr*>(workspace().arena().Copy(fields));
  return workspace().New<Tuple>(list, TupleType::Get(workspace().arena(), types));
}

Scalars::Scalars(std::span<const int64_t> values) {
  for (const int64_t value : values) values_.push_back(arith::PrimBuilder().Int(value));
}

const Expr* OperandMaker::Shape(const Scalars& dims) {
  return workspace().New<ShapeExpr>(workspace().Copy(std::span(dims.values())), ShapeType::Get(dims.values()));
}

const Expr* OperandMaker::Prims(const Scalars& values) {
  std::vector<const Expr*> fields;
  for (const PrimExpr* value : values.values()) fields.push_back(Prim(value));
  return MakeTuple(fields);
}

const Expr* OperandMaker::Prim(const PrimExpr* value) {
  return workspace().New<PrimValue>(value, PrimType::Get(value));
}
const Expr* OperandMaker::Prim(int64_t value) { return Prim(arith::PrimBuilder().Int(value)); }
const Expr* OperandMaker::PrimFloat(double value) {
  return Prim(arith::PrimBuilder().Float(value, DataType::Float(64)));
}

const Expr* OperandMaker::Item(const Expr* tuple, int index) {
  const auto* type = tuple ? As<TupleType>(tuple->type) : nullptr;
  if (type == nullptr) return nullptr;
  if (const auto* literal = As<Tuple>(tuple)) return literal->fields[static_cast<size_t>(index)];
  return workspace().New<TupleGetItem>(tuple, index, type->fields[static_cast<size_t>(index)]);
}

const Expr* OperandMaker::Scalar(double value, DataType dtype) { return MakeScalar(dtype, value, workspace()); }
const Expr* OperandMaker::Scalar(int64_t value, DataType dtype) { return MakeScalar(dtype, value, workspace()); }

const Expr* OperandMaker::IntTensor(std::span<const int64_t> values, DataType dtype) {
  const auto size = static_cast<int64_t>(values.size());
  return MakeConstant(dtype, std::span<const int64_t>(&size, 1), values, workspace());
}

PyValue OperandMaker::ListOf(std::span<const int64_t> values) {
  std::vector<PyValue> items;
  for (const int64_t value : values) items.push_back(PyValue::Int(value, {}));
  return ListOf(items);
}

PyValue OperandMaker::ListOf(std::span<const PyValue> values) {
  return PyValue(PyValue::Kind::kList, workspace().arena().Copy(values), {});
}

PyValue OperandMaker::DTypeValue(DataType dtype) {
  return PyValue::String(workspace().arena().CopyString(dtype.ToString()), {});
}

std::vector<const Expr*> OperandMaker::Fields(const Expr* tuple) {
  if (const auto* literal = As<Tuple>(tuple)) return {literal->fields.begin(), literal->fields.end()};
  std::vector<const Expr*> fields;
  const auto* type = tuple ? As<TupleType>(tuple->type) : nullptr;
  for (uint32_t i = 0; type != nullptr && i < type->fields.size(); ++i)
    fields.push_back(Item(tuple, static_cast<int>(i)));
  return fields;
}

}  // namespace iropt::relay
