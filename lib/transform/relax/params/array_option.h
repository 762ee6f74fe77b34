// Arrays as values of options: {"dtype": "float32", "shape": [2, 2], "data": [[1, 2], [3, 4]]}.
#pragma once

#include <memory>
#include <string>

#include "iropt/ir/ndarray.h"
#include "iropt/pass/option_value.h"
#include "iropt/support/result.h"

namespace iropt {

// `data` may be nested as the shape is, or flat. An error has a message and, if the value has one, a location.
struct ArrayOptionError {
  SourceSpan span;
  std::string message;
};

// The array, or null with an error.
std::shared_ptr<const NDArray> ReadArrayOption(const OptionValue& value, ArrayOptionError& error);

}  // namespace iropt
