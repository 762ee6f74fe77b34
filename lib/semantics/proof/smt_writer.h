// Elements in the language SMT-LIB: integers as bit vectors, which wrap around as they do, floats as real numbers or in
// their format. Of operations on the latter, conversions, comparisons and choices are known. Tensors are functions of
// their indices, which are integers of mathematics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/arith/smt_script.h"
#include "iropt/support/function_ref.h"
#include "semantics/proof/term_builder.h"

namespace iropt::proof {

class SmtWriter {
 public:
  // One tensor for all that are known to be equal.
  using Representative = FunctionRef<const Term*(const Term*)>;

  // Of `numbers`, it does not matter where they are read.
  SmtWriter(TermBuilder& terms, Representative representative, const std::vector<const Term*>& numbers)
      : terms_(terms), representative_(representative) {
    numbers_.InsertAll(numbers);
  }

  // Asserts what is known of the variables in indices.
  void Assume(const Dims& indices) {
    for (const PrimExpr* index : indices) WriteIndex(index);
  }
  // The name of the element; its definition is part of the script.
  std::string Write(const Term* term);
  std::string script() const { return indices_.text() + script_; }
  // That two elements, of these names, are equal. Zeros have no sign where the laws are those of real numbers.
  std::string Equation(DataType dtype, std::string_view a, std::string_view b) const;
  size_t num_terms() const { return names_.size(); }

 private:
  // Returns whether elements of the dtype are real numbers: of infinities and NaNs, their laws do not hold.
  bool IsReal(DataType dtype) const { return terms_.laws().reals && terms_.laws().finite && dtype.is_floating(); }
  bool IsOfFormat(DataType dtype) const;
  std::string Sort(DataType dtype);
  std::string Form(const Term* term);
  std::string Apply(const Term* term);
  std::string Integers(const Term* term, const std::vector<std::string>& args);
  std::string Reals(const Term* term, const std::vector<std::string>& args);
  std::string Choices(const Term* term, const std::vector<std::string>& args);
  std::string Comparison(const Term* term, const std::vector<std::string>& args);
  std::string Convert(const Term* term, const std::string& arg);
  // An integer between two numbers.
  std::string Clip(const Term* term, const std::string& x);
  std::string Number(const Term* term);
  std::string Read(const Term* term);
  std::string WriteIndex(const PrimExpr* index);
  // A value of its own.
  std::string Unknown(DataType dtype, const void* key);
  std::string Function(const Term* term, const std::vector<std::string>& args);

  TermBuilder& terms_;
  Representative representative_;
  LookupSet<const Term*> numbers_;
  arith::SmtScript indices_;
  std::string script_;
  LookupMap<const Term*, std::string> names_;
  LookupMap<const void*, std::string> unknown_;
  LookupMap<const Term*, std::string> tensors_;
  LookupSet<const PrimExpr*> assumed_;
  std::vector<std::pair<std::string, std::string>> functions_;
  std::vector<std::string> sorts_;
};

}  // namespace iropt::proof
