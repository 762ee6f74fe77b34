// Rules to compute operators on dequantized tensors on the quantized ones, as Relay's FakeQuantizationToInteger does.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/ir/relax/pattern.h"
#include "rule_call.h"

namespace iropt {

class IntegerRule {
 public:
  using Build = std::optional<IntegerValue> (*)(RuleCall&);

  constexpr explicit IntegerRule(Build build, bool is_optional = false) : build_(build), is_optional_(is_optional) {}

  // Only where an option of the pass names the operator.
  bool is_optional() const { return is_optional_; }
  // Nothing after a report.
  std::optional<IntegerValue> Apply(RuleCall& call) const;

 private:
  Build build_;
  bool is_optional_;
};

// Calls that a rule takes as one operator. The reader of Relay writes some operators as several of Relax.
struct RegionCall {
  const Call* call = nullptr;              // the last one of them
  const IntegerRule* rule = nullptr;       // null if there is none
  std::vector<const Expr*> operands = {};  // the tensors and tuples that are computed from, in the order of the rule
};
RegionCall RegionCallOf(const Call* call, const Definitions& definitions);

// Returns whether TVM's pass computes the operator on integers by itself, between dequantizations, if the network was
// trained for that: the result is quantized as the operands say.
bool IsComputedAlone(const RegionCall& region);
// Returns whether qnn.<op> is the same as the operator between a dequantization and a quantization.
bool IsComputedInFloats(const RegionCall& region);

}  // namespace iropt
