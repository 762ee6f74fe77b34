// Files that are not modules, for messages.
#pragma once

#include <string_view>

#include "iropt/support/result.h"

namespace iropt {

// Fails for contents that are known not to be the text of a module: with what the file looks like, and what to do with
// it. The message has no bytes of the file.
Status CheckIsText(std::string_view contents);

}  // namespace iropt
