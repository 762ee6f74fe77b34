// Moving modules from the text of one version of TVM to that of another.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/support/text_version.h"

namespace iropt {

// Makes the version that of the module (Module::text_version), and brings what the versions say in different ways into
// the form of the new one, so that a module that is moved to another version and back is the same:
//  - From 0.24 on, a buffer is declared before it is used, and an allocation makes one. Before, FlattenBuffer left
//    allocations, and buffers without declarations. Code in which everything is flat gets that form again.
//  - From 0.27 on, a call whose result is bound to a pointer has the type of the pointer.
//  - From 0.26 on, no text has the pointers of parameters that are buffers; before, TVM calls them var_A.
//  - From 0.22 on, calls of LLVM's intrinsics do not state the number of their operands.
//  - From 0.21 on, flags such as tir.is_host_func and Primitive are booleans; before, they are numbers.
// O(nodes) where the versions differ in these, O(functions) where they do not.
void MoveToVersion(Module& module, TextVersion version);

// Brings what passes wrote in the form of older versions into that of the module's version, in which its text reads
// back: declarations of buffers, types of pointers, scopes of reductions. For the result of passes; doing it again
// changes nothing. O(nodes) from 0.24 on.
void CompleteForVersion(Module& module);

// The module without the declarations of buffers in its PrimFuncs, if it is of version 0.24 or newer, whose text has
// them where the module does not. For comparing it with what its text reads back as.
Module WithoutBufferDeclarations(Module module);

}  // namespace iropt
