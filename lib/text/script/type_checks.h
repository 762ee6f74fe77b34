// Warnings about types that are well-formed, as in TVM, but that no tensor has at run time.
#pragma once

#include <span>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::text {

// A dtype of elements such as float33.
void WarnOfDType(DataType dtype, Span span, DiagnosticEngine& diagnostics);
// Dimensions below 0.
void WarnOfDims(std::span<const PrimExpr* const> dims, Span span, DiagnosticEngine& diagnostics);

}  // namespace iropt::text
