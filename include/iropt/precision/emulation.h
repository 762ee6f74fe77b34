// Runs in which operators compute in another number format, exactly: operands and results are rounded to the format,
// and what is in between is computed in float32, its accumulator.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/number_format.h"
#include "iropt/support/lookup.h"

namespace iropt::precision {

// The tensors of float32 in a value, rounded to the format; what has no such tensors is the same.
HostValue Rounded(const HostValue& value, const NumberFormat& format);

// Computes some calls of a function of float32 in the format.
class Emulator : public OperatorRunner {
 public:
  // The format and the calls must outlive it.
  Emulator(const NumberFormat& format, const LookupSet<const Call*>& calls) : format_(format), calls_(calls) {}
  Result<HostValue> Run(const Call& call, const OpInfo& op, std::span<const HostValue> args, Compute compute) override;

  // Operands that are constants of the function; they are rounded once.
  HostValue RoundedOperand(const Expr* operand, const HostValue& value);

 private:
  const NumberFormat& format_;
  const LookupSet<const Call*>& calls_;
  std::map<const NDArray*, HostValue> constants_;
};

}  // namespace iropt::precision
