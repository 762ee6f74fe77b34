// Statements that allocate memory or declare buffers over it: parts of statements.cpp.
#pragma once

#include <string_view>

#include "parser.h"

namespace iropt::text {

// T.allocate([16], "float32"). As the other functions of the table in statements.cpp.
bool Allocate(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);
// T.allocate_const([1, 2], "int32", [2])
bool AllocateConst(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);
// Opens the allocation of the buffer, with its declaration.
void OpenAllocation(TirParser& p, const tir::Buffer* buffer, const DictAttr* annotations, Span span);
// A buffer: with a data pointer a view of it, without one a new allocation. `what` is the statement in messages.
bool Declare(TirParser& p, PyArgs& args, std::string_view what, std::string_view scope, PyValue& result);

}  // namespace iropt::text
