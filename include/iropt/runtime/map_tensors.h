// Values with other tensors.
#pragma once

#include <utility>
#include <vector>

#include "iropt/runtime/value.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/stack.h"

namespace iropt {

// The value with f(tensor) for each tensor, in order; other parts stay.
inline HostValue MapTensors(const HostValue& value, FunctionRef<Tensor(const Tensor&)> f) {
  if (const auto* tensor = std::get_if<Tensor>(&value.state)) return f(*tensor);
  const TupleValue* tuple = value.tuple();
  if (!tuple) return value;
  TupleValue mapped;
  for (const HostValue& field : tuple->fields) mapped.fields.push_back(WithStack([&] { return MapTensors(field, f); }));
  return HostValue(std::move(mapped));
}

}  // namespace iropt
