// Functions of a module under other names.
#pragma once

#include <unordered_map>

#include "iropt/ir/module.h"

namespace iropt {

using GlobalRenames = std::unordered_map<const GlobalVar*, const GlobalVar*>;

// The module with functions under their new names, also where other functions refer to them, graph-level and loop-level
// ones. New names must not be taken. The functions keep their places. O(nodes).
Module RenameGlobals(const Module& module, const GlobalRenames& renames);

}  // namespace iropt
