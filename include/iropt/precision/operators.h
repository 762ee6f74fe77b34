// The operators of a function whose format can be chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/number_format.h"

namespace iropt::precision {

// A call of an operator on tensors of float32.
struct Operator {
  const Call* call = nullptr;
  const Var* var = nullptr;     // that is bound to it
  std::string name;             // as people know it: that of the node in the file, or of the variable
  std::string reason;           // why it keeps its format; empty: the format can be chosen
  uint64_t constant_bytes = 0;  // of constants of float32 among its operands
  uint64_t elements = 0;        // of operands and results whose sizes are known

  bool is_candidate() const { return reason.empty(); }
};

// The operator that is called: "R.matmul", or "onnx.LSTM" for one of ONNX that stays whole.
std::string_view ScriptOf(const Call& call);

// Gives an operator its name.
using OperatorNamer = std::function<std::string(const Var& var, const Call& call)>;
// Returns whether the user wants the operator of this name to keep its format.
using KeepFilter = std::function<bool(const std::string& name)>;

// The operators of the function in the order of its bindings, with those in branches and local functions. `format` is
// that of floats. O(nodes).
std::vector<Operator> FindOperators(const Module& module, const Function& function, const NumberFormat& format,
                                    const OperatorNamer& namer, const KeepFilter& keeps);

}  // namespace iropt::precision
