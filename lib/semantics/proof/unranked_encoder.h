// Operators on the elements of tensors of unknown shape.
//
// For an element of its result, an operator that broadcasts reads one element of each operand: the one at the same
// indices, but for axes on which the operand has one element. An expression of such operators reads each tensor at one
// place, whatever its rank is: the same in all parts of the expression. So elements are terms of one place, and the
// shape of the result is the one to which all tensors are broadcast.
#pragma once

#include <optional>

#include "semantics/proof/op_encoder.h"
#include "semantics/proof/term_builder.h"
#include "semantics/proof/value.h"

namespace iropt::proof {

class UnrankedEncoder {
 public:
  explicit UnrankedEncoder(TermBuilder& terms) : terms_(terms), indices_(terms.indices()) {}

  Value Tensor(const Term* tensor);
  // The tensor as a closed term.
  const Term* Close(const Value& unranked);
  // Nothing if the operator is another one: then nothing is known about its result.
  std::optional<Value> Encode(const OpCall& call);

 private:
  TermBuilder& terms_;
  IndexSpace& indices_;
};

}  // namespace iropt::proof
