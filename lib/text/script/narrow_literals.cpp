#include "narrow_literals.h"

#include <cmath>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/narrow_element.h"

namespace iropt::text {

bool StoreLiteral(double number, DataType dtype, std::byte& element) {
  element = StoreNarrow(number, dtype, {.saturates = false, .mode = NarrowRounding::Mode::kNearest});
  const double stored = LoadNarrow(element, dtype);
  return dtype.is_integer() ? stored == number : std::isnan(stored) || !std::isnan(number);
}

void PrintNarrow(const NDArray& array, int64_t index, OutputStream& out) {
  const double number = LoadNarrow(array.data()[index], array.dtype());
  array.dtype().is_integer() ? out.AppendInt(static_cast<int64_t>(number)) : PrintFloat(number, out);
}

}  // namespace iropt::text
