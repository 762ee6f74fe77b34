// The statements of opaque blocks that select boxes in images.
#pragma once

#include <initializer_list>
#include <vector>

#include "iropt/legalize/te.h"
#include "local_number.h"

namespace iropt::legalize {

inline constexpr DataType kInt32 = DataType::Int(32);
inline constexpr DataType kInt64 = DataType::Int(64);

inline te::Value Wide(te::Value x) { return te::Cast(kInt64, x); }

// The indices of the element at a position in row-major order.
inline std::vector<te::Value> AtPosition(const te::Tensor& x, te::Value position) {
  std::vector<te::Value> indices(x.ndim());
  for (size_t i = x.ndim(); i-- > 0;) {
    indices[i] = i == 0 ? position : te::FloorMod(position, x.dim(i));
    if (i > 0) position = te::FloorDiv(position, x.dim(i));
  }
  return indices;
}

// Statements on tensors at indices, one for each axis.
class BoxCode {
 public:
  BoxCode(te::Builder& te, tir::StmtBuilder& code) : te_(te), code_(code) {}

  te::Builder& te() const { return te_; }
  tir::StmtBuilder& statements() const { return code_; }
  // A conversion that stays even if the dtype is the same.
  te::Value Number(double value, DataType dtype) const {
    const te::Value number = te_.Const(value, DataType::Float(32));
    return {te_.make().Keep(tir::Cast(dtype, number.expr())), te_};
  }
  te::Value True() const { return te_.Const(1, DataType::Bool()); }

  void Store(const te::Tensor& x, std::initializer_list<te::Value> at, te::Value value) {
    Store(x, te::Values(at.begin(), at.size()), value);
  }
  void Store(const te::Tensor& x, te::Values at, te::Value value) {
    std::vector<const PrimExpr*> indices;
    for (const te::Value& i : at) indices.push_back(te_.NodeOf(i));
    code_.Store(x.buffer(), indices, te_.NodeOf(value, x.dtype()));
  }
  void Store(const LocalNumber& x, te::Value value) { Store(x.tensor(), {0}, value); }
  void For(te::Value extent, tir::ForKind kind, FunctionRef<void(te::Value)> body) {
    const tir::LoopFrame loop = code_.For("v", te_.NodeOf(extent), kind);
    body(te::Value(loop.vars[0], te_));
  }
  void For(te::Value extent, FunctionRef<void(te::Value)> body) { For(extent, tir::ForKind::kSerial, body); }
  void If(te::Value condition, FunctionRef<void()> body) {
    const tir::Frame choice = code_.If(te_.NodeOf(condition));
    const tir::Frame then = code_.Then();
    body();
  }
  void If(te::Value condition, FunctionRef<void()> body, FunctionRef<void()> otherwise) {
    const tir::Frame choice = code_.If(te_.NodeOf(condition));
    {
      const tir::Frame then = code_.Then();
      body();
    }
    const tir::Frame other = code_.Else();
    otherwise();
  }

 private:
  te::Builder& te_;
  tir::StmtBuilder& code_;
};

}  // namespace iropt::legalize
