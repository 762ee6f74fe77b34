// Renaming of functions of a module.
#pragma once

#include <unordered_map>

#include "iropt/ir/module.h"

namespace iropt {

using GlobalRenames = std::unordered_map<const GlobalVar*, const GlobalVar*>;

// Renames functions, and the references to them in Relax functions and PrimFuncs. New names must not be taken. The
// order of the functions stays. O(nodes).
Module RenameGlobals(const Module& module, const GlobalRenames& renames);

}  // namespace iropt
