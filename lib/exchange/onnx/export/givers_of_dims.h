// Values that give dimensions which would have to be computed.
#pragma once

#include <span>

#include "exchange/onnx/export/dim_values.h"
#include "exchange/onnx/export/fusion.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

struct ExportedValue;

// What a graph has so far.
struct WrittenValues {
  const Definitions& definitions;
  const LookupMap<const Var*, ExportedValue>& values;
  const DimValues& dims;
};

// The one of the bindings after the first one, not far away, that can be written before it and has a dimension that the
// first one has an expression of; null if none has, or the dimensions are known.
const Binding* GiverOfDims(std::span<const Binding* const> bindings, const WrittenValues& written);

}  // namespace iropt::onnx
