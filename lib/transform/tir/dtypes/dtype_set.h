// The float formats that passes make legal, and the targets that compute with them.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/dtype.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

using DTypePredicate = bool (*)(DataType);

constexpr bool IsBFloat16(DataType dtype) { return dtype.code == TypeCode::kBFloat; }
constexpr bool IsFloat8(DataType dtype) {
  return dtype.code == TypeCode::kFloat8E4M3 || dtype.code == TypeCode::kFloat8E5M2;
}

// Whether 8-bit floats of the function must be made legal: not for GPUs of CUDA's compute capability 8.9 and newer.
// Also false after the error that the function does not state a target.
bool NeedsFloat8Legalization(const PrimFunc& func, DiagnosticEngine& diagnostics);

}  // namespace iropt
