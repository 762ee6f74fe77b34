// Arrays as attribute values, in TVM's form of them in text.
#pragma once

#include <memory>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"
#include "iropt/support/text_version.h"

namespace iropt {

// The type key of such an object, and its one field: the bytes that TVM stores an array as, in base64.
inline constexpr std::string_view kArrayKey = "runtime.NDArray";
inline constexpr std::string_view kArrayField = "repr_str";

// Calls append with the parts of the base64 form, in order. O(bytes). The numbers of data types depend on the version.
void EncodeArray(const NDArray& array, FunctionRef<void(std::string_view)> append,
                 TextVersion version = TextVersion::kV0_18);
// The array of a base64 form, or what is wrong with it.
Result<std::shared_ptr<const NDArray>> DecodeArray(std::string_view base64, TextVersion version = TextVersion::kV0_18);

// The array as an attribute value.
const ObjectAttr* MakeArrayAttr(const NDArray& array);

}  // namespace iropt
