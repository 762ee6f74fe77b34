// The failures of a function: operators that are not defined for all operands, and sizes that have to be equal.
#pragma once

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "semantics/proof/comparison.h"
#include "semantics/proof/op_encoder.h"

namespace iropt::proof {

// A term that stands for what may fail, and the conditions under which it is computed, from outside to inside.
struct Failure {
  const Term* term;
  std::vector<const Term*> path;
  friend bool operator==(const Failure&, const Failure&) = default;
  friend bool operator<(const Failure& a, const Failure& b) {
    return std::tie(a.term, a.path) < std::tie(b.term, b.path);
  }
};

// Each failure once, in the order in which they were found.
class FailureSet {
 public:
  void Add(const Term* term) { Add({term, path_}); }
  // Those of a part that has its own conditions.
  void AddAll(const FailureSet& part);
  void Enter(const Term* condition) { path_.push_back(condition); }
  void Leave() { path_.pop_back(); }
  std::span<const Failure> all() const { return all_; }

 private:
  void Add(Failure failure);

  std::vector<const Term*> path_;
  std::vector<Failure> all_;
  std::set<Failure> known_;
};

// Returns whether the operator is not defined for all elements of its operands.
bool MayFailOnElements(const OpCall& call);

// What may fail in a call of an operator that OpEncoder knows, for this result.
std::vector<const Term*> FailuresOf(const OpCall& call, const Value& result, TermBuilder& terms);

// A failure that the other set does not have, under these conditions or fewer; null if it has all.
const Failure* FindOtherFailure(const FailureSet& set, const FailureSet& other, Comparison& comparison);

}  // namespace iropt::proof
