// Rules about numbers that are dequantized and quantized again.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// A tensor of integers that is dequantized and then quantized by the same scale and zero point is what it was: for the
// operators of ONNX, which stay calls.
void AddRequantizedPairRules(RuleSet& rules);

}  // namespace iropt
