// JSON texts as values, with errors as results.
#pragma once

#include <string_view>

#include "iropt/pass/option_value.h"
#include "iropt/support/result.h"

namespace iropt::schedule {

Result<OptionValue> ParseJson(std::string_view text);

}  // namespace iropt::schedule
