// Random modules whose Relax functions have what RandomModule leaves out: types, attributes, and expressions that are
// hard to run. They are meant to be printed and read.
#pragma once

#include <string>

#include "choices.h"

namespace iropt::generate {

// The text of a well-formed module, as people write it. Equal choices make equal texts.
std::string AnyRelaxModule(Choices& choices);

}  // namespace iropt::generate
