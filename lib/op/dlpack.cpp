#include "iropt/op/dlpack.h"

#include "iropt/support/check.h"

namespace iropt {

int64_t DLPackCode(TypeCode code) {
  switch (code) {
    case TypeCode::kInt: return 0;
    case TypeCode::kUInt: return 1;
    case TypeCode::kFloat: return 2;
    case TypeCode::kHandle: return 3;
    case TypeCode::kBFloat: return 4;
    // TVM's own numbers beyond DLPack's.
    case TypeCode::kFloat8E4M3: return 6;
    case TypeCode::kFloat8E5M2: return 7;
    case TypeCode::kFloat4E2M1: return 8;
  }
  IROPT_UNREACHABLE("all codes are listed above");
}

}  // namespace iropt
