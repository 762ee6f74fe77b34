#include "iropt/infer/op_builder.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/op/op.h"
#include "iropt/runtime/value.h"

namespace iropt {

const Call* OpBuilder::Make(OpId op, std::span<const Expr* const> args, const Attr* attrs, const TupleType* type_args) {
  if (!propagates_null_) return builder_.MakeCall(GetOp(op), args, attrs, type_args);
  if (std::ranges::find(args, nullptr) != args.end()) return nullptr;
  Workspace& workspace = builder_.workspace();
  auto* call = workspace.New<Call>(GetOp(op), workspace.Copy(args), attrs, type_args, nullptr);
  call->set_span(span_);
  call->type = builder_.inferrer()->Infer(call);
  return call->type ? call : nullptr;
}

const Call* OpBuilder::TryMake(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs) {
  Workspace& workspace = builder_.workspace();
  const std::span<const Expr* const> operands(args.begin(), args.size());
  Call* call = workspace.New<Call>(GetOp(op), workspace.Copy(operands), attrs, nullptr, nullptr);
  InferContext quiet(nullptr, workspace.arena(), nullptr);
  call->type = InferType(call, quiet);
  return call->type ? call : nullptr;
}

const Expr* OpBuilder::MakeTuple(std::span<const Expr* const> fields) {
  auto* tuple = builder_.workspace().New<Tuple>(builder_.workspace().Copy(fields), nullptr);
  tuple->type = builder_.inferrer()->Infer(tuple);
  return tuple;
}

const Expr* OpBuilder::MakeItem(const Expr* tuple, int index) {
  auto* item = builder_.workspace().New<TupleGetItem>(tuple, index, nullptr);
  item->type = builder_.inferrer()->Infer(item);
  return item;
}

const Expr* OpBuilder::MakeShape(std::span<const PrimExpr* const> dims) {
  return builder_.workspace().New<ShapeExpr>(builder_.workspace().Copy(dims), ShapeType::Get(dims));
}

const Expr* OpBuilder::MakeScalar(double value, DataType dtype) {
  const Scalar scalar =
      dtype.is_floating() ? Scalar::Float(value, dtype) : Scalar::Int(static_cast<int64_t>(value), dtype);
  return MakeConstant(MakeScalarTensor(scalar), builder_.workspace());
}

const Call* OpBuilder::MakeGiven(OpId op, std::initializer_list<const Expr*> first,
                                 std::initializer_list<const Expr*> rest, const Attr* attrs,
                                 const TupleType* type_args) {
  std::vector<const Expr*> given(first);
  std::ranges::copy_if(rest, std::back_inserter(given), [](const Expr* arg) { return arg != nullptr; });
  return Make(op, given, attrs, type_args);
}

const Call* OpBuilder::MakeRest(OpId op, std::initializer_list<const Expr*> first, std::span<const Expr* const> rest,
                                const Attr* attrs, const TupleType* type_args) {
  std::vector<const Expr*> args(first);
  args.insert(args.end(), rest.begin(), rest.end());
  return Make(op, args, attrs, type_args);
}

const Expr* OpBuilder::OrVoid(const Expr* operand) { return operand ? operand : MakeTuple({}); }

}  // namespace iropt
