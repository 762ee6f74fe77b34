// The adjoints of the operands of a call from those of its result: products of a vector and the Jacobian.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt::precision {

// A call that a run has computed.
struct CallRecord {
  const Call* call = nullptr;
  const OpInfo* op = nullptr;
  std::vector<HostValue> args = {};
  HostValue result = {};
  bool is_inference = false;  // as in EvalOp
};

// The tensors of values, in order.
std::vector<Tensor> LeavesOf(std::span<const HostValue> values);
std::vector<Tensor> TensorsOf(const HostValue& value);

class OperatorGradients {
 public:
  // By probe and tensor of the result; null: zero.
  using Adjoints = std::vector<std::vector<Tensor>>;

  // The adjoints of the operands by probe and tensor, float32; null where they are not wanted. Exact for operators that
  // move or select elements, and those with rules of the pass Gradient; by differences for other operators that compute
  // each element by itself. For the rest, the norm is that of a random change of the operands, and the direction
  // random.
  Adjoints Pull(const CallRecord& record, const Adjoints& adjoints, const std::vector<bool>& wanted);

 private:
  // A function of the tensors of a call and of the adjoint of its result, which returns those of wanted operands.
  struct Compiled {
    Module module;
    const Function* function;
  };

  std::optional<Adjoints> ByPositions(const CallRecord& record, const Adjoints& adjoints,
                                      const std::vector<bool>& wanted);
  std::optional<Adjoints> ByElement(const CallRecord& record, const Adjoints& adjoints,
                                    const std::vector<bool>& wanted);
  std::optional<Adjoints> ByRule(const CallRecord& record, const Adjoints& adjoints, const std::vector<bool>& wanted);
  Adjoints ByNorm(const CallRecord& record, const Adjoints& adjoints, const std::vector<bool>& wanted);
  const std::optional<Compiled>& RuleFor(const CallRecord& record, const std::vector<bool>& wanted);

  std::map<std::string, std::optional<Compiled>> rules_;  // by operator, attributes and types
};

}  // namespace iropt::precision
