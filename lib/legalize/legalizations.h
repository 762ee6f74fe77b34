// The legalizations of the operators, in ops/ by family. Private to lib/legalize.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/op_attrs.h"

namespace iropt::legalize {

#define IROPT_LEGALIZE(id) const Expr* Legalize##id(LegalizeCall& call);
#define IROPT_LEGALIZE_ANY_SHAPE(id) IROPT_LEGALIZE(id)
#include "legalize/legalizations.def"

}  // namespace iropt::legalize
