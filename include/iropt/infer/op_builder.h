// Calls of operators by name, with inferred types:
//
//   OpBuilder ops(builder);
//   const Expr* sum = op::Add(ops, op::Matmul(ops, x, weight, {.out_dtype = DataType::Float(32)}), bias);
//
// An OpBuilder is cheap to copy.
#pragma once

#include <initializer_list>
#include <span>

#include "iropt/ir/relax/builder.h"
#include "iropt/op/op_id.h"

namespace iropt {

// Makes calls and their operands. Cheap to copy.
class OpBuilder {
 public:
  // The builder has a TypeInferrer, and lives longer.
  explicit OpBuilder(BlockBuilder& builder) : builder_(builder) {}
  // For readers, to which null is an expression with a reported error: calls get the span, and a call with a null
  // operand, or whose type cannot be inferred, is null.
  OpBuilder(BlockBuilder& builder, Span span) : builder_(builder), span_(span), propagates_null_(true) {}

  // ---- Any operator. Calls are not bound to variables: operands may be calls themselves, and all have types. If the
  // type of a call cannot be inferred, the inferrer reports why, and builder.failed() holds.
  const Call* Make(OpId op, std::span<const Expr* const> args, const Attr* attrs = nullptr,
                   const TupleType* type_args = nullptr);
  const Call* Make(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr,
                   const TupleType* type_args = nullptr) {
    return Make(op, std::span<const Expr* const>(args.begin(), args.size()), attrs, type_args);
  }
  // Null, without a report, if the operator does not take these operands and attributes.
  const Call* TryMake(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr);

  // ---- Operands
  const Expr* MakeTuple(std::span<const Expr* const> fields);
  const Expr* MakeItem(const Expr* tuple, int index);
  const Expr* MakeShape(std::span<const PrimExpr* const> dims);
  // A constant of rank 0, rounded to the dtype, which must be one that tensors can have (IsElementType).
  const Expr* MakeScalar(double value, DataType dtype);

  // ---- What functions of operators are made of
  // Leaves out operands of `rest` that are null.
  const Call* MakeGiven(OpId op, std::initializer_list<const Expr*> first, std::initializer_list<const Expr*> rest,
                        const Attr* attrs, const TupleType* type_args = nullptr);
  const Call* MakeRest(OpId op, std::initializer_list<const Expr*> first, std::span<const Expr* const> rest,
                       const Attr* attrs, const TupleType* type_args = nullptr);
  // The operand; an empty tuple for null.
  const Expr* OrVoid(const Expr* operand);

 private:
  BlockBuilder& builder_;
  Span span_;
  bool propagates_null_ = false;
};

}  // namespace iropt
