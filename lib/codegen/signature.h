// What a PrimFunc takes from its callers when it is compiled, and which functions are compiled with it.
#pragma once

#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"

namespace iropt::codegen {

// The arguments of a compiled function are words of 64 bits, "slots": for each parameter one where it is a number, or
// kPointerSlots where it is a pointer or matched to a buffer; after those of the parameters one for each symbolic
// variable that the buffers bind.
inline constexpr size_t kPointerSlots = 2;  // an address, and how many bytes of memory there are from it on

struct Signature {
  explicit Signature(const PrimFunc& func);

  // What the function does with the elements of a parameter. Where their address is taken, they may be written.
  enum class Access : uint8_t { kRead, kMayWrite, kWrite };
  struct Param {
    const tir::Var* var;
    const tir::Buffer* buffer;  // null where it is a number or a pointer
    size_t slot;
    Access access = Access::kRead;
    bool is_pointer() const { return buffer || var->dtype.is_handle(); }
  };
  std::vector<Param> params;
  std::vector<const tir::Var*> symbols;  // in the order of their slots
  size_t first_symbol = 0;               // the slot of the first
  DataType result;                       // of what T.ret returns; void where it is not called
  size_t num_slots() const { return first_symbol + symbols.size(); }

 private:
  void AddSymbols(List<const PrimExpr*> exprs);
  void AddSymbol(const PrimExpr* expr);
};

// A function and all that it calls, each once, and the arrays that they allocate as constants, in the order in which
// the code numbers them.
struct CallGraph {
  std::vector<const PrimFunc*> functions;  // the first is the function itself
  std::vector<ModuleEntry> entries;        // of the functions
  std::vector<const NDArray*> constants;
};
// Fails where a function that is called is missing or is not a PrimFunc. O(nodes).
Result<CallGraph> CollectCalls(const Module& module, const GlobalVar& var);

}  // namespace iropt::codegen
