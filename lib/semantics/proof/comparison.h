// Proofs that terms are equal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "semantics/proof/term_builder.h"

namespace iropt::proof {

class Comparison {
 public:
  // The work of Z3 for one question is limited, in its units; 0: it is not asked.
  Comparison(TermBuilder& terms, uint64_t solver_limit) : terms_(terms), solver_limit_(solver_limit) {}

  // False if they are not equal, or it is not known.
  bool IsEqual(const Term* a, const Term* b);

  // The innermost terms that were not found equal; empty if all were.
  const std::string& difference() const { return difference_; }
  size_t num_queries() const { return num_queries_; }

 private:
  bool IsEqualByParts(const Term* a, const Term* b);
  bool AreIndicesEqual(const Term* a, const Term* b);
  // For both values of the condition of a choice.
  bool IsEqualByCases(const Term* a, const Term* b);
  bool AskSolver(const Term* a, const Term* b);
  // Elements of tensors of which the terms read no other one: these may be any numbers.
  std::vector<const Term*> ReadOnce(const Term* a, const Term* b);
  // The first tensor that is known to be equal.
  const Term* RepresentativeOf(const Term* tensor);
  void Note(const Term* a, const Term* b);

  TermBuilder& terms_;
  uint64_t solver_limit_;
  LookupMap<std::pair<const Term*, const Term*>, bool> known_;
  std::vector<const Term*> tensors_;
  std::string difference_;
  size_t num_queries_ = 0;
};

// The term in short, for messages.
std::string Describe(const Term* term);

}  // namespace iropt::proof
