// Numbers that DLPack and TVM give to kinds of scalars.
#pragma once

#include <cstdint>

#include "iropt/ir/dtype.h"

namespace iropt {

// DLPack's number, or TVM's own where DLPack has none.
int64_t DLPackCode(TypeCode code);

}  // namespace iropt
