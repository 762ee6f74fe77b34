// PrimFuncs that options of a pass name: the functions of a file, or of the module that the pass runs on.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/ir/module_builder.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

class NamedPrimFuncs {
 public:
  // Reads the file that the option names, unless it is empty. Errors are reported.
  NamedPrimFuncs(const PassOptions& options, const TypedOption<std::string>& path);

  // The function of the file, or else of the module; null if neither has a PrimFunc of this name.
  const ModuleEntry* Find(std::string_view name, const Module& module) const;
  // The name in the module of what Find found there: a private copy is added if it is a function of the file.
  const GlobalVar* Import(const ModuleEntry& found, ModuleBuilder& builder) const;

 private:
  std::optional<Module> file_;
};

// Returns whether the first parameters of the function are buffers for tensors of these types, of which dtypes, ranks
// and dimensions must be known and equal. A variable of the function stands for one dimension.
bool AcceptsTensors(const PrimFunc& func, std::span<const Type* const> types);

}  // namespace iropt
