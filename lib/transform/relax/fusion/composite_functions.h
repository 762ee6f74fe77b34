// Functions that match a pattern (attribute Composite), and functions of such that one external compiler takes
// (attribute Codegen).
#pragma once

#include <optional>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The compiler that a pattern is for: "tensorrt" of "tensorrt.conv2d". Nothing if the name has no full stop.
std::optional<std::string_view> CompilerOf(std::string_view composite);

// The Relax function of the module that the call calls, if it was made by a pattern; else null.
const Function* CompositeCallee(const Module& module, const Call& call);

// Checks that the names of all composite functions begin with a compiler; reports those that do not.
bool CheckCompositeNames(const Module& module, DiagnosticEngine& diagnostics);

// A copy in the workspace, with variables of its own, that other functions can contain: without the attribute
// Primitive.
const Function* CopyAsLocal(const Function& composite, Workspace& workspace);

// The attributes of a function for an external compiler, under which it knows the function.
const DictAttr* ExternalAttrs(const DictAttr* attrs, std::string_view compiler, std::string_view symbol);

}  // namespace iropt
