// Remarks about what passes could optimize if parameters were bound or operators supported it.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// Weights are the parameters from num_input on; without that attribute, all but the first one.

// The calls in dataflow blocks that FoldConstant would fold if weights were bound: "unbound-parameter". Only if remarks
// are wanted. O(nodes).
void RemarkUnboundParams(const Function& function);

// The conversions of weights to float16 at each run, and those of values back to float32 for an operator:
// "staying-cast". Only if remarks are wanted. O(nodes).
void RemarkStayingCasts(const Function& function);

// The batch norms that stay because their scales or statistics are parameters: "unbound-batch-norm". Each is a remark,
// if these are wanted, and their number is one diagnostic. O(nodes).
void RemarkUnboundBatchNorms(const Function& function, DiagnosticEngine& diagnostics);

}  // namespace iropt
