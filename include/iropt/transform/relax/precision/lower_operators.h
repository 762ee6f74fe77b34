// Computing single operators of a function in a lower floating-point dtype.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"

namespace iropt {

// Returns whether the call is one of an operator of ONNX that stays whole, and that only moves elements, such as
// Gather.
bool IsWholeMove(const Call& call);

// Returns whether the call has a type if all of its operands of float32 have the dtype, and accumulators follow. O(1).
bool CanLower(const Call& call, DataType dtype, const Module& module);

// Computes `calls`, which are values of bindings in the blocks of the function `name`, in a lower dtype:
//
//   lv = R.nn.conv2d(x, w)             lv = R.astype(x, "float16")
//   lv1 = R.nn.relu(lv)                lv1 = R.nn.conv2d(lv, w in float16)
//   gv = R.nn.softmax(lv1)      -->    lv2 = R.nn.relu(lv1)
//   return gv                          lv3 = R.astype(lv2, "float32")
//                                      gv = R.nn.softmax(lv3)
//
// Operands of float32 are converted, constants at once, and other calls get the dtypes that they had. A value is
// converted once in a block. Parameters, results, branches and local functions keep their dtypes. O(nodes).
Result<Module> LowerOperators(const Module& module, const GlobalVar& name, const LookupSet<const Call*>& calls,
                              DataType dtype, DiagnosticEngine& diagnostics);

}  // namespace iropt
