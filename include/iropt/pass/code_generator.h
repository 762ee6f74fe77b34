// Code generators for functions that MergeCompositeFunctions or FuseOpsByPattern have set apart for another compiler.
// The pass RunCodegen calls them; plugins add them:
//
//   static iropt::Status Register(iropt::PassRegistry&) {
//     return iropt::AddCodeGenerator("my_company", [](const iropt::CodegenRequest& request) { return Compile(request);
//     });
//   }
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/option_value.h"
#include "iropt/support/result.h"

namespace iropt {

struct CodegenRequest {
  const Module& module;
  std::span<const ModuleEntry> functions;  // those with the attribute Codegen of the generator, in the order of names
  const OptionValue& options;              // those of the compiler, an object or null
  DiagnosticEngine& diagnostics;
};

// Gives the compiled functions as text. Each has the symbol SymbolOf(entry).
using CodeGenerator = std::function<Result<std::string>(const CodegenRequest& request)>;

// The name that a compiled function has: its global symbol, or that of the function in the module.
std::string_view SymbolOf(const ModuleEntry& entry);

// Adds the generator for functions with Codegen=`name`, for the whole process. Refused if the name is taken. To be
// called before threads use it.
Status AddCodeGenerator(std::string_view name, const CodeGenerator& generate);
// Null if there is none.
const CodeGenerator* FindCodeGenerator(std::string_view name);
// In alphabetical order.
std::vector<std::string_view> CodeGeneratorNames();

}  // namespace iropt
