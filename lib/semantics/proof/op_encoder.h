// What operators compute, as terms.
#pragma once

#include <optional>
#include <vector>

#include "iropt/op/op_attrs.h"
#include "semantics/proof/term_builder.h"
#include "semantics/proof/value.h"

namespace iropt::proof {

// A call of an operator on values.
struct OpCall {
  OpId op;
  const Attr* attrs;
  std::vector<Value> args = {};
  // The dtype and the dimensions of the result, if it is a tensor of which they are known.
  DataType dtype = DataType::Void();
  Dims dims = {};
  bool is_inference = false;  // of a batch norm
};

class OpEncoder {
 public:
  explicit OpEncoder(TermBuilder& terms) : terms_(terms), indices_(terms.indices()) {}

  // Nothing if the operator, or the form of the call, is not known: then nothing is known about its result.
  std::optional<Value> Encode(const OpCall& call);

  Value Tensor(const Term* term, Dims dims) const {
    return {.kind = Value::Kind::kTensor, .term = term, .dims = std::move(dims)};
  }
  // The indices of an element of a tensor of these dimensions.
  Dims Places(const Dims& dims);
  // An integer of the host; null if the value is another one.
  const PrimExpr* IntegerOf(const Value& value);
  // The integer that is an element of a tensor of one axis; null if it is not known.
  const PrimExpr* IntegerAt(const Value& tensor, size_t place);
  // An operand that is a number of the host, or a tensor that is broadcast; null if it is not known whether it is.
  const Term* Operand(const Value& operand, const Dims& dims);

 private:
  using Result = std::optional<Value>;

  Result Elementwise(const OpCall& call);
  Result Create(const OpCall& call);
  Result Reshape(const OpCall& call);
  Result PermuteDims(const OpCall& call);
  Result BroadcastTo(const OpCall& call);
  Result Concat(const OpCall& call);
  Result Stack(const OpCall& call);
  Result Split(const OpCall& call);
  Result Take(const OpCall& call);
  Result StridedSlice(const OpCall& call);
  Result DynamicStridedSlice(const OpCall& call);
  Result SliceScatter(const OpCall& call);
  Result ShapeToTensor(const OpCall& call);
  Result Arange(const OpCall& call);
  Result Flip(const OpCall& call);
  Result Repeat(const OpCall& call);
  Result Tile(const OpCall& call);
  Result Pad(const OpCall& call);
  Result Triangle(const OpCall& call);
  Result Reduction(const OpCall& call);
  Result Matmul(const OpCall& call);
  Result Einsum(const OpCall& call);
  Result Conv(const OpCall& call);
  Result Pool(const OpCall& call);
  Result BatchNorm(const OpCall& call);
  Result Softmax(const OpCall& call);
  Result RowNorm(const OpCall& call);

  // The parts one after the other along an axis.
  Result Joined(const std::vector<Value>& parts, size_t axis, const Dims& dims);
  const Term* At(const Value& tensor, const Dims& places) { return terms_.At(tensor.term, tensor.dims, places); }
  const PrimExpr* Add(const PrimExpr* a, const PrimExpr* b) { return indices_.make().Add(a, b); }
  const PrimExpr* Sub(const PrimExpr* a, const PrimExpr* b) { return indices_.make().Sub(a, b); }
  const PrimExpr* Mul(const PrimExpr* a, const PrimExpr* b) { return indices_.make().Mul(a, b); }
  // The result with its indices in normal form.
  Value Simplified(const Value& tensor, const Dims& places, const Dims& dims);

  TermBuilder& terms_;
  IndexSpace& indices_;
};

// The place that R.take takes of an axis, as a function of the indices of its result; null if it is not known.
const PrimExpr* TakenPlace(const OpCall& call, size_t axis, TermBuilder& terms);

}  // namespace iropt::proof
