// Generates the LLVM module of a PrimFunc and of all that it calls.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "backend.h"
#include "iropt/support/result.h"

namespace iropt::codegen {

// The symbol of the function that callers enter by, a LoopEntry.
inline constexpr const char* kEntrySymbol = "iropt_entry";

struct EmittedModule {
  std::unique_ptr<llvm::Module> module;
  bool is_deep = false;  // loops nest very deep
};

// Fails where something cannot be compiled for a host.
Result<EmittedModule> EmitModule(const CompileRequest& request, llvm::LLVMContext& context,
                                 const llvm::DataLayout& layout, bool has_half);

}  // namespace iropt::codegen
