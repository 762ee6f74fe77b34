// ir-opt -diff: compares two modules by structure.
#pragma once

#include <string>

#include "iropt/driver/compiler_options.h"
#include "iropt/driver/driver_options.h"

namespace iropt {

struct DiffOptions {
  CompilerOptions compiler;
  std::vector<std::string> plugins = {};  // shared objects with operators
  std::string before;                     // the file of a module; "-" is the standard input
  std::string after;                      // the file of the other module; not both are "-"
  std::string output = "-";               // the file for the difference; "-" is the standard output
  ShownForm form = ShownForm::Text;
  std::string page;  // the file for a page with the difference, instead of it; empty: none
};

// The exit code of -diff for modules that differ.
inline constexpr int kModulesDiffer = 1;

// Reads and verifies both modules and compares their functions by name, as StructuralEqual does, and their attributes.
// Writes nothing as text if they are equal; otherwise the names of added and removed functions, and for each changed
// one its bindings and calls in numbers and the difference of its text, in which variables that correspond have the
// names of the first module. Returns 0 if the modules are equal, kModulesDiffer if they are not; else the exit code of
// the error (see ErrorCode), or that of ErrorCode::Parse for a wrong option or a file that cannot be read or written.
int DiffModules(const DiffOptions& options);

}  // namespace iropt
