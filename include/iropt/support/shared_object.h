// Shared objects that come with a program and are loaded when they are needed.
#pragma once

#include <string>

#include "iropt/support/result.h"

namespace iropt {

// Opens a shared object, which stays loaded until the program ends. A path with a slash is taken as it is; a name is
// looked for next to the program, in the folder ../lib from there (in a build), where cmake --install puts it
// (iropt in the folder lib), next to the object that has this library, such as the Python package, and where the loader
// looks. Fails with ErrorCode::Usage and the loader's reason.
Result<void*> OpenSharedObject(const std::string& name);

// The address of a symbol of an opened object; null if it does not have the symbol.
void* FindSymbol(void* object, const char* symbol);

}  // namespace iropt
