// Random PrimFuncs with every kind of statement and part, to be printed and read (see any_expr.h).
#pragma once

#include "choices.h"
#include "iropt/ir/module.h"

namespace iropt::generate {

// A module of one to three PrimFuncs. Equal choices make equal modules.
Module AnyPrimFuncs(Choices& choices);

}  // namespace iropt::generate
