// Answers a query by an SMT solver, in the language SMT-LIB 2.
#pragma once

#include "analysis/tir/races/query.h"
#include "iropt/support/result.h"

namespace iropt::races {

// Z3 (libz3.so.4, of Debian's libz3-4), which is loaded when the first query is asked. Integers are those of
// mathematics, and memory that does not change is a function of its indices: an answer is kUnknown if it depends on
// what is in memory. The work is limited, in units of the solver, so that answers do not depend on the machine. Fails
// with ErrorCode::Usage if there is no Z3.
Result<Answer> SolveBySmt(const Query& query, uint64_t limit);

}  // namespace iropt::races
