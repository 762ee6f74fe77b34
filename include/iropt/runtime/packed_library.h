// Packed functions in shared objects, which are loaded when the first of their functions is called.
#pragma once

#include "iropt/runtime/packed_func.h"

namespace iropt {

// Table that such an object exports, as the C function `const iropt::PackedLibrary* iroptGetPackedFuncs()`. A table in
// packed_func.cpp has the prefixes of their names.
struct PackedLibrary {
  const char* version;  // IROPT_VERSION
  const PackedRegistry* registry;
};
inline constexpr const char* kPackedEntryPoint = "iroptGetPackedFuncs";

}  // namespace iropt
