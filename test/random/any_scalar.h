// Random scalar expressions of all integer dtypes, and vectors of them, whose nodes are not folded.
#pragma once

#include <vector>

#include "choices.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "scalar_reference.h"

namespace iropt::generate {

class AnyScalar {
 public:
  static constexpr int kLanes = 4;

  // A variable, and the values that it may have.
  struct Variable {
    const tir::Var* var;
    Exact min;
    Exact max;
  };

  AnyScalar(Choices& choices, Workspace& workspace);

  DataType IntType();
  // Constants that fold are left out of the operands if only variables are wanted.
  const PrimExpr* Int(DataType dtype, int depth);
  const PrimExpr* Condition(int depth);
  // With kLanes lanes.
  const PrimExpr* Vector(DataType element, int depth);
  // A value of the dtype, often one near its ends or near 0.
  Exact Number(Exact min, Exact max);

  const std::vector<Variable>& variables() const { return variables_; }
  Assignment AnyAssignment();

 private:
  const tir::Var* VarOf(DataType dtype);
  const PrimExpr* Constant(DataType dtype);
  const PrimExpr* Leaf(DataType dtype);
  const PrimExpr* Arithmetic(DataType dtype, int depth);
  const PrimExpr* Bits(DataType dtype, int depth);
  const PrimExpr* Conversion(DataType dtype, int depth);
  const PrimExpr* Call(DataType dtype, OpId id, std::initializer_list<const PrimExpr*> args);

  Choices& choices_;
  Workspace& workspace_;
  arith::PrimBuilder make_;
  std::vector<Variable> variables_;
};

}  // namespace iropt::generate
