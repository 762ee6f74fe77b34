// The cost of calls in multiply-adds, for -metrics.
#pragma once

#include <cstdint>
#include <optional>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The number of elements of a tensor; nothing if the type does not tell, or if it has symbolic or too many elements.
std::optional<uint64_t> StaticElements(const Type* type);

// The multiply-adds of a call of a matrix product, einsum, convolution or attention by the definition of the operator:
// zeros of padding and masked positions count. 0 for other calls; nothing if the types do not tell the sizes. O(rank).
std::optional<uint64_t> CountMultiplyAdds(const Call& call);

}  // namespace iropt
