// Reading the bodies of the functions of a module, in parallel, after all headers were read.
#pragma once

#include <memory>
#include <vector>

#include "iropt/text/script/parser.h"
#include "parser_core.h"
#include "pending_function.h"

namespace iropt::text {

// Reads the bodies and puts the functions into the module. If options.reading is set, functions that are in it with the
// same text and the same functions around them are taken from it, and it gets what was read. False after errors.
bool ReadBodies(ParserCore::Shared shared, const ParseOptions& options,
                const std::vector<std::unique_ptr<PendingFunction>>& functions);

}  // namespace iropt::text
