// Calls of packed functions in opaque blocks.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/legalize/te.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::legalize {

// A tensor as an operand of a packed function.
inline const PrimExpr* PackedTensor(te::Builder& te, const te::Tensor& x) {
  const arith::PrimBuilder& make = te.make();
  Workspace& workspace = te.workspace();
  std::vector<const PrimExpr*> dims;
  for (const te::Value& dim : x.shape()) dims.push_back(te.NodeOf(dim));
  const PrimExpr* shape =
      make.Keep(tir::Call(DataType::Handle(), GetOp(op::kTirTvmStackMakeShape), workspace.Copy(dims)));
  const std::vector<const PrimExpr*> args = {x.buffer()->data,
                                             shape,
                                             make.Int(0, DataType::Int(32)),
                                             make.Int(static_cast<int64_t>(x.ndim()), DataType::Int(32)),
                                             te.NodeOf(te.Const(0, x.dtype())),
                                             make.Int(0)};
  return make.Keep(tir::Call(DataType::Handle(), GetOp(op::kTirTvmStackMakeArray), workspace.Copy(args)));
}

// The indices that sort tensors along an axis, by a packed function that takes the inputs, the result, the axis and the
// direction.
inline te::Tensor SortedIndices(te::Builder& te, std::string_view stage, std::string_view function,
                                std::span<const te::Tensor> inputs, DataType dtype, size_t axis, bool ascending) {
  const te::Builder::ExternOutput output[] = {{"out_buf", inputs[0].shape(), dtype, 8}};
  return te.Extern(stage, inputs, output, [&](tir::StmtBuilder& code, std::span<const te::Tensor> out) {
    std::vector<const PrimExpr*> args = {te.workspace().New<tir::StringImm>(function)};
    for (const te::Tensor& input : inputs) args.push_back(PackedTensor(te, input));
    args.push_back(PackedTensor(te, out[0]));
    args.push_back(te.make().Int(static_cast<int64_t>(axis), DataType::Int(32)));
    args.push_back(te.make().Bool(ascending));
    const DataType result = DataType::Int(32);
    code.Evaluate(te.make().Keep(tir::Call(result, GetOp(op::kTirTvmCallPacked), te.workspace().Copy(args))));
  })[0];
}

}  // namespace iropt::legalize
