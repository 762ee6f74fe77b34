// Builds terms in normal form.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/support/function_ref.h"
#include "semantics/proof/index_space.h"
#include "semantics/proof/near_constants.h"
#include "semantics/proof/terms.h"

namespace iropt::proof {

// Laws that are used besides those that hold for every float.
struct Laws {
  // Sums and products of floats are those of real numbers, as far as that keeps infinities and NaNs: they are computed
  // in any order, and multiplied out with constants. Zeros have no sign, also where a quotient by them is an infinity,
  // and constants are equal up to rounding.
  bool reals = false;
  // There are no infinities and NaNs: everything is multiplied out, and what cancels out is 0. Only with `reals`.
  bool finite = false;
  size_t max_terms = 400'000;

  // Returns whether the order of the elements that are reduced matters: the sign of a zero that is the greatest element
  // depends on it.
  bool IsOrdered(OpId op, DataType dtype) const;
  // Returns whether elements of the dtype form a ring: sums and products may be rearranged.
  bool AreRing(DataType dtype) const { return dtype.is_floating() ? reals : dtype.is_integer() && !dtype.is_bool(); }
};

class TermBuilder {
 public:
  explicit TermBuilder(const Laws& laws, Assumptions assumptions = {})
      : laws_(laws), indices_(std::move(assumptions)) {}

  IndexSpace& indices() { return indices_; }
  TermStore& store() { return store_; }
  const Laws& laws() const { return laws_; }
  bool is_full() const { return store_.size() > laws_.max_terms; }

  // ---- Elements
  const Term* Number(DataType dtype, int64_t bytes);
  // Of a float or an integer that the dtype rounds; null if tensors do not have the dtype.
  const Term* Number(DataType dtype, double value);
  const Term* Index(const PrimExpr* value);
  const Term* Read(const Term* tensor, Dims indices);
  const Term* Apply(OpId op, const Attr* attrs, std::vector<const Term*> args, DataType dtype);
  const Term* Cast(const Term* x, DataType dtype);
  const Term* Select(const PrimExpr* condition, const Term* a, const Term* b);
  // The reduction of the body, an expression of these dimensions, by the operator.
  const Term* Reduce(OpId op, const Dims& reduced, const Term* body);

  // ---- Values
  const Term* Make(Term term) { return Keep(std::move(term)); }
  const Term* Array(const std::shared_ptr<const NDArray>& array);
  const Term* Lambda(const Dims& dims, const Term* body);

  // The element with other values of its variables, by the dimensions of its tensor.
  const Term* At(const Term* body, const Dims& dims, const Dims& values);
  const Term* Substitute(const Term* body, const SymVarMap& map);

  // The element with what the function makes of each part; null: that of its parts.
  const Term* Map(const Term* body, FunctionRef<const Term*(const Term*)> map);

  // Adds the variables in the term, in the order of their first use.
  void VarsInOrder(const Term* term, LookupSet<const Term*>& seen, std::vector<const PrimExpr*>& vars);

  // Returns whether the term is a number, or an element of a constant whose indices are variables: then sums and
  // products of such are computed.
  bool IsConstant(const Term* term) const;
  // What an operator makes of such; null if it cannot be computed.
  const Term* FoldConstants(OpId op, const Attr* attrs, const std::vector<const Term*>& args, DataType dtype);
  // The sum of such, if floats are real numbers; null if it is not computed.
  const Term* SumConstant(const Dims& reduced, const Term* body);
  // The same constant for those of a sum or a product that differ by rounding, if floats are real numbers.
  const Term* UpToRounding(const Term* constant);
  // The product of a constant and a sum, as a sum; null if the term is not one, or it would become long.
  const Term* ScaleSum(const Term* term, const Term* constant);

  // The only element of a constant; nothing if it is not a number.
  std::optional<double> ValueOf(const Term* term) const;
  // The number that all elements are; null if there are several.
  const Term* UniformOf(const NDArray& array);

 private:
  const Term* SubstituteIn(const Term* term, const SymVarMap& map, LookupMap<const Term*, const Term*>& done);
  // The same operator on other parts.
  const Term* Rebuild(const Term* term, Dims indices, std::vector<const Term*> args);
  const Term* Fold(OpId op, const Attr* attrs, const std::vector<const Term*>& args, DataType dtype);
  // Null if no law applies.
  const Term* ApplyLaws(OpId op, const std::vector<const Term*>& args, DataType dtype);
  const Term* FloatLaws(OpId op, const std::vector<const Term*>& args, DataType dtype);
  const Term* OfConstant(const std::shared_ptr<const NDArray>& array, Dims indices);
  // The element of the constant as one of a constant with these variables; null if it is one, or the indices are
  // others.
  const Term* ReadConstant(const NDArray& array, const Dims& indices);
  bool IsNumber(const Term* term, double value) const;
  // The reduction in another form, if its body is a reduction, or a choice between ranges; null otherwise.
  const Term* RearrangeReduction(OpId op, const Dims& reduced, const Term* body);
  // A reduction of one element: a sum begins at 0, whose sign is positive.
  const Term* OfOneElement(OpId op, const Term* body);
  // Moves what does not depend on the variables of a sum out of it, sums in it to the front, and makes sums over
  // variables that are not used together a product; null if nothing changes.
  const Term* FactorSum(const Dims& reduced, const Term* body);
  const Term* Keep(Term term);

  const Laws laws_;
  IndexSpace indices_;
  TermStore store_;
  NearConstants near_;
};

// The element where choices by this condition are made.
const Term* Assuming(const Term* body, const PrimExpr* condition, bool holds, TermBuilder& terms);

}  // namespace iropt::proof
