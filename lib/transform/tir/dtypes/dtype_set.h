// The float formats that passes make legal, and the targets that compute with them.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/dtype.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/text_version.h"

namespace iropt {

using DTypePredicate = bool (*)(DataType);

constexpr bool IsBFloat16(DataType dtype) { return dtype.code == TypeCode::kBFloat; }
constexpr bool IsFloat8(DataType dtype) {
  switch (dtype.code) {
    case TypeCode::kFloat8E4M3:
    case TypeCode::kFloat8E5M2:
    case TypeCode::kFloat8E3M4:
    case TypeCode::kFloat8E4M3Ieee:
    case TypeCode::kFloat8E4M3B11Fnuz:
    case TypeCode::kFloat8E4M3Fnuz:
    case TypeCode::kFloat8E5M2Fnuz:
    case TypeCode::kFloat8E8M0: return true;
    default: return false;
  }
}

// Returns whether 8-bit floats of the function must be made legal: not for GPUs of CUDA's compute capability 8.9 and
// newer. Also false after the error that the function does not state a target, which TVM before 0.24 needs.
bool NeedsFloat8Legalization(const PrimFunc& func, TextVersion version, DiagnosticEngine& diagnostics);
// Returns whether bfloat16 in the function must be made legal: since TVM 0.20 not for GPUs of compute capability 8.0
// and newer.
bool NeedsBFloat16Legalization(const PrimFunc& func, TextVersion version);

}  // namespace iropt
