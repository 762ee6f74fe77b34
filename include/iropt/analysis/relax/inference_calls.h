// Calls of operators that differ between training and inference, and the mode that says which of them are those of
// inference.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Mode in which R.nn.batch_norm and R.nn.dropout run. In training, a batch norm uses the statistics of its batch and
// moves the moving ones, and a dropout is random; in inference, a batch norm uses the moving statistics, and a dropout
// keeps all elements.
enum class NetworkMode : uint8_t {
  Auto,       // a batch norm is that of inference if its parameters are computed from constants; others, and dropouts,
              // are those of training
  Training,   // all
  Inference,  // all
};

// Of "auto", "training" or "inference"; Auto for any other word.
NetworkMode NetworkModeOf(std::string_view word);

// The calls of both operators in the function and its nested functions that are those of inference. What pure operators
// compute from constants without symbolic sizes counts as constant, and so do `constant_params`. O(size of the
// function).
std::unordered_set<const Call*> FindInferenceCalls(const Function& function, NetworkMode mode,
                                                   std::span<const Var* const> constant_params = {});

}  // namespace iropt
