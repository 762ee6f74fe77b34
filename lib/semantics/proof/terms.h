// The terms of proofs: elements of tensors as expressions of their indices, and the tensors that they read.
//
// Equal terms are one node, so parts that two functions have in common are the same pointers. A tensor is a term that
// is closed: the variables in it are those of its own dimensions, by their place, and those of its reduction.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::proof {

using Dims = std::vector<const PrimExpr*>;

enum class TermKind : uint8_t {
  // Elements.
  kNumber,  // a number of a dtype, by its bytes
  kIndex,   // an integer that is computed from indices and sizes
  kRead,    // the element of a tensor at indices
  kApply,   // an operator of elements
  kSelect,  // one of two elements, by a condition on indices
  // Tensors and other values.
  kParam,   // a parameter of the function
  kArray,   // a constant
  kResult,  // of an operator or a function of which nothing is known, or a part of such a result
  kReduce,  // for each element, a reduction of elements
  kLambda,  // all elements, by their indices
  kTuple,
  kShape,
  kText,  // a string, a dtype, the name of a function
};

struct Term {
  TermKind kind;
  DataType dtype = DataType::Void();
  OpId op{};                    // of kApply, kResult, kReduce
  int64_t number = 0;           // the bytes of a kNumber, the place of a kParam or a part, the dimensions of a kReduce
  const Attr* attrs = nullptr;  // of kApply and kResult
  const NDArray* array = nullptr;  // of a kArray
  std::vector<const Term*> args = {};
  // The value of a kIndex, the indices of a kRead, the condition of a kSelect, the dimensions of a kLambda, a kShape
  // and a kReduce, for the last followed by those of its reduction.
  Dims indices = {};
  std::string text = {};  // of a kApply: it is not the value of the operator, and no law makes it another one

  uint32_t id = 0;
  uint64_t hash = 0;
  uint64_t skeleton = 0;        // a hash that does not depend on indices
  bool uses_reduction = false;  // refers to a variable of a reduction that is not its own
  bool is_closed() const { return kind >= TermKind::kParam; }
};

// A tensor all of whose elements are a number.
std::shared_ptr<const NDArray> Filled(const Term& number, std::span<const int64_t> shape);

// Keeps each term once.
class TermStore {
 public:
  // The term that is equal to this one.
  const Term* Get(Term term);
  // The array with the same elements.
  const NDArray* Get(const std::shared_ptr<const NDArray>& array);
  size_t size() const { return terms_.size(); }

 private:
  struct Hash {
    size_t operator()(const Term* term) const { return term->hash; }
  };
  struct Equal {
    bool operator()(const Term* a, const Term* b) const;
  };

  std::deque<Term> terms_;
  std::unordered_set<const Term*, Hash, Equal> table_;
  std::vector<std::shared_ptr<const NDArray>> arrays_;
  LookupMap<uint64_t, std::vector<const NDArray*>> arrays_by_hash_;
};

}  // namespace iropt::proof
