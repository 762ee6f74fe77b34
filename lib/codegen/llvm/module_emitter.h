// Generates the LLVM module of a PrimFunc and its callees.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "backend.h"
#include "frame.h"
#include "iropt/support/result.h"

namespace iropt::codegen {

// The symbol of the entry point, a LoopEntry.
inline constexpr const char* kEntrySymbol = "iropt_entry";

struct EmittedModule {
  std::unique_ptr<llvm::Module> module;
  bool is_deep = false;  // loops are nested very deeply
};

// Fails if something cannot be compiled for the host.
Result<EmittedModule> EmitModule(const CompileRequest& request, llvm::LLVMContext& context,
                                 const llvm::DataLayout& layout, const CpuFeatures& cpu);

}  // namespace iropt::codegen
