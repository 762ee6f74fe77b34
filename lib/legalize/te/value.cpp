// Scalar values of tensor expressions.
#include <array>

#include "iropt/arith/const_fold.h"
#include "iropt/legalize/te.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::te {

std::optional<int64_t> Value::AsInt() const {
  if (!expr_) return literal_;
  const int64_t* value = arith::AsInt(expr_);
  return value ? std::optional(*value) : std::nullopt;
}

namespace {

// The builder of one of the operands; null if both are plain integers.
Builder* BuilderOf(const Value& a, const Value& b) { return a.te() ? a.te() : b.te(); }

// Both operands as nodes: a plain integer takes the dtype of the other operand.
struct Operands {
  Builder& te;
  const PrimExpr* a;
  const PrimExpr* b;
  Operands(Value x, Value y)
      : te(*BuilderOf(x, y)), a(x.expr() ? x.expr() : te.NodeOf(x, y.dtype())), b(te.NodeOf(y, a->dtype)) {}
};

Value MakeCall(Builder& te, OpId intrinsic, DataType dtype, std::span<const PrimExpr* const> args) {
  return {te.make().Keep(tir::Call(dtype, GetOp(intrinsic), te.make().Operands(args))), te};
}

}  // namespace

Value Binary(NodeKind kind, Value a, Value b) {
  if (!BuilderOf(a, b)) return Value(*arith::FoldIntegersWrapping(kind, a.literal(), b.literal()));
  const Operands operands(a, b);
  return {operands.te.make().Binary(kind, operands.a, operands.b), operands.te};
}

Value operator!(Value a) {
  if (!a.te()) return Value(a.literal() == 0);
  return {a.te()->make().Not(a.expr()), *a.te()};
}

Value Bitwise(arith::BitOp op, Value a, Value b) {
  const Operands operands(a, b);
  return {operands.te.make().Bitwise(op, operands.a, operands.b), operands.te};
}

Value Cast(DataType dtype, Value a) {
  if (!a.te()) return a;
  return {a.te()->make().Cast(dtype, a.expr()), *a.te()};
}

Value Select(Value condition, Value a, Value b) {
  if (!condition.te()) return condition.literal() != 0 ? a : b;
  Builder& te = *condition.te();
  const PrimExpr* x = te.NodeOf(a, b.dtype());
  return {te.make().Keep(tir::Select(condition.expr(), x, te.NodeOf(b, x->dtype))), te};
}

Value IfThenElse(Value condition, Value a, Value b) {
  if (const auto known = condition.AsInt()) return *known != 0 ? a : b;
  Builder& te = *condition.te();
  const PrimExpr* x = te.NodeOf(a, b.dtype());
  const PrimExpr* y = te.NodeOf(b, x->dtype);
  te.make().Match(x, y);
  const std::array<const PrimExpr*, 3> args = {condition.expr(), x, y};
  return MakeCall(te, op::kTirIfThenElse, x->dtype, args);
}

Value Call(OpId intrinsic, std::initializer_list<Value> args) { return Call(intrinsic, args.begin()->dtype(), args); }

Value Call(OpId intrinsic, DataType dtype, std::initializer_list<Value> args) {
  Builder* te = nullptr;
  for (const Value& arg : args) te = te ? te : arg.te();
  std::vector<const PrimExpr*> operands;
  for (const Value& arg : args) operands.push_back(te->NodeOf(arg, dtype));
  return MakeCall(*te, intrinsic, dtype, operands);
}

Value Tensor::operator()(Values indices) const {
  IROPT_CHECK(indices.size() == ndim(), "{} indices for '{}'", indices.size(), name());
  std::vector<const PrimExpr*> list;
  list.reserve(indices.size());
  for (const Value& index : indices) list.push_back(te_->NodeOf(index));
  return {te_->make().Keep(tir::BufferLoad(dtype(), buffer_, te_->make().Operands(list))), *te_};
}

Shape Tensor::shape() const {
  Shape shape;
  for (const PrimExpr* dim : buffer_->shape) shape.emplace_back(dim, *te_);
  return shape;
}

}  // namespace iropt::te
