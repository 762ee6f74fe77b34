// Functions with the signature of TVM's FFI: (self_handle, args, num_args, result), since TVM 0.22.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// The function with this signature, under the symbol with a prefix, for the host of the target. Null after an error.
const PrimFunc* MakeFfiFunc(const PrimFunc& func, std::string_view symbol, const DictAttr& target, Workspace& workspace,
                            DiagnosticEngine& diagnostics);

}  // namespace iropt
