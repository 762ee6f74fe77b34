// Random scalar expressions of every kind of node, made as passes make them: without folding, of any dtype. They are
// meant to be printed and read, not to be run.
#pragma once

#include <string_view>
#include <vector>

#include "choices.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::generate {

// The names that are defined at a place of a function.
struct Scope {
  std::vector<const tir::Var*> vars;      // numbers
  std::vector<const tir::Var*> pointers;  // with an element type, or opaque
  std::vector<const tir::Buffer*> buffers;
};

class ExprMaker {
 public:
  ExprMaker(Choices& choices, Workspace& workspace) : choices_(choices), workspace_(workspace), make_(workspace) {}

  Scope& scope() { return scope_; }
  Workspace& workspace() { return workspace_; }
  Choices& choices() { return choices_; }
  const arith::PrimBuilder& make() const { return make_; }

  // A dtype of a scalar that is a number or a truth value.
  DataType ScalarType();
  DataType IndexType() { return DataType::Int(choices_.OneIn(3) ? 64 : 32); }

  // An expression of a scalar or vector dtype, of about this depth.
  const PrimExpr* Make(DataType dtype, int depth);
  const PrimExpr* Condition(int depth) { return Make(DataType::Bool(), depth); }
  // Without T.Let and T.reduce: the text repeats the begin of a range.
  const PrimExpr* Index(int depth) { return IndexOf(IndexType(), depth); }
  const PrimExpr* IndexOf(DataType dtype, int depth);
  const PrimExpr* Constant(DataType dtype);
  // A call whose value is not used, of any dtype.
  const PrimExpr* Effect(int depth);
  const tir::CommReducer* Reducer(DataType dtype);

  std::vector<const PrimExpr*> Indices(const tir::Buffer& buffer, int depth);
  // A range whose extent has the dtype of the minimum, or a wider one.
  const tir::Range* Range(int depth);
  const tir::BufferRegion* Region(const tir::Buffer& buffer, int depth);
  // A new name; `hint` is a part of it.
  std::string_view Name(std::string_view hint);
  const tir::Var* NewVar(DataType dtype);

  template <class T>
  List<T> Copy(const std::vector<T>& items) {
    return workspace_.Copy(items);
  }

 private:
  const PrimExpr* Scalar(DataType dtype, int depth);
  const PrimExpr* Vector(DataType dtype, int depth);
  const PrimExpr* Truth(int depth);
  const PrimExpr* Leaf(DataType dtype);
  const PrimExpr* Binary(DataType dtype, int depth);
  const PrimExpr* Bits(DataType dtype, int depth);
  const PrimExpr* Math(DataType dtype, int depth);
  const PrimExpr* LetOf(DataType dtype, int depth);
  const PrimExpr* ReduceOf(DataType dtype, int depth);
  // An access of a buffer whose elements have this dtype; null if there is none.
  const PrimExpr* Load(DataType dtype, int depth);
  const PrimExpr* Call(OpId op, DataType dtype, const std::vector<const PrimExpr*>& args);
  const PrimExpr* CallOfUnknown(DataType dtype, int depth);

  Choices& choices_;
  Workspace& workspace_;
  arith::PrimBuilder make_;
  Scope scope_;
  bool has_binders_ = true;
  int num_names_ = 0;
};

}  // namespace iropt::generate
