// Base64, as it is in the JSON of TVM.
#pragma once

#include <string>
#include <string_view>

#include "iropt/support/function_ref.h"

namespace iropt {

// Calls append with the parts of the text, in order. O(bytes).
void EncodeBase64(std::string_view bytes, FunctionRef<void(std::string_view)> append);
// Replaces `out` by the bytes. False if the text has other characters than those of base64 and line breaks.
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace iropt
