// The values of expressions in proofs.
#pragma once

#include <memory>
#include <vector>

#include "semantics/proof/terms.h"

namespace iropt::proof {

struct Value {
  enum class Kind : uint8_t {
    kTensor,    // an element by its indices
    kUnranked,  // a tensor of unknown rank: the element at a place
    kTuple,
    kShape,   // dims
    kScalar,  // of the host: a term
    kOther,   // a closed term
  };
  Kind kind = Kind::kOther;
  const Term* term = nullptr;
  Dims dims = {};
  std::vector<Value> fields = {};
  std::vector<const Term*> shapes = {};  // of a kUnranked, by id: the tensors whose shapes are broadcast to its own
  std::shared_ptr<const NDArray> array = nullptr;  // of a tensor that is a constant

  bool is_tensor() const { return kind == Kind::kTensor; }
  DataType dtype() const { return term ? term->dtype : DataType::Void(); }
};

}  // namespace iropt::proof
