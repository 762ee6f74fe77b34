// Rules about numbers that are dequantized and quantized again.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// A tensor of integers that is dequantized and then quantized by the same scale and zero point is what it was, also if
// its elements were moved in between; of R.quantize and R.dequantize, and of the operators of ONNX that stay calls.
// What moves a dequantized constant moves the constant.
void AddQuantizedMoveRules(RuleSet& rules);

}  // namespace iropt
