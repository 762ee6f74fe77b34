// A plain system does not tell the functions of a stack.
#include "support/stack_trace.h"

namespace iropt {

void PrintStackTrace(std::span<void* const>, FunctionRef<void(std::string_view)>) {}

}  // namespace iropt
