// The properties of the table properties.def.
#pragma once

#include "iropt/pass/property.h"

namespace iropt::properties {

#define IROPT_PROPERTY(Id, ...) extern const FunctionProperty k##Id;
#include "properties.def"

}  // namespace iropt::properties
