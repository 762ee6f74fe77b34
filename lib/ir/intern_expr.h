// Interning of whole scalar expressions. Private to lib/ir.
#pragma once

#include "iropt/ir/context.h"

namespace iropt {

const PrimExpr* InternExpr(const PrimExpr* expr, IRContext::Impl& context);

}  // namespace iropt
