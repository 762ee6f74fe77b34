// A number that an opaque block computes with.
#pragma once

#include "iropt/legalize/te.h"

namespace iropt::legalize {

// A local buffer of one element, which lives until the object ends.
class LocalNumber {
 public:
  LocalNumber(te::Builder& te, tir::StmtBuilder& code, DataType dtype)
      : one_(te.make().Int(1)),
        memory_(code.Allocate("buffer", dtype, std::span(&one_, 1), "local")),
        tensor_(Declare(te, dtype)),
        declared_(code.DeclBuffer(tensor_.buffer())) {}
  LocalNumber(const LocalNumber&) = delete;
  LocalNumber& operator=(const LocalNumber&) = delete;

  const te::Tensor& tensor() const { return tensor_; }
  te::Value value() const { return tensor_(te::Value(0)); }

 private:
  te::Tensor Declare(te::Builder& te, DataType dtype) const {
    tir::BufferSpec spec;
    spec.shape = {one_};
    spec.dtype = dtype;
    spec.data = memory_.var;
    spec.scope = "local";
    return {tir::MakeBuffer(te.workspace(), spec, "buffer"), te};
  }

  const PrimExpr* one_;
  tir::VarFrame memory_;
  te::Tensor tensor_;
  tir::Frame declared_;
};

}  // namespace iropt::legalize
