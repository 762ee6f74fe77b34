// The calling convention of compiled PrimFuncs, and the functions that are compiled together.
#pragma once

#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"

namespace iropt::codegen {

// The arguments of a compiled function are passed in 64-bit slots: one per scalar parameter, kPointerSlots per
// parameter that is a pointer or matched to a buffer, then one per symbolic variable that the buffers bind.
inline constexpr size_t kPointerSlots = 2;  // the address, and the number of accessible bytes from there

struct Signature {
  explicit Signature(const PrimFunc& func);

  // Accesses of the function to the elements of the parameter. Elements whose address is taken may be written.
  enum class Access : uint8_t { kRead, kMayWrite, kWrite };
  struct Param {
    const tir::Var* var;
    const tir::Buffer* buffer;  // null for a scalar or a pointer
    size_t slot;
    Access access = Access::kRead;
    bool is_pointer() const { return buffer || var->dtype.is_handle(); }
  };
  std::vector<Param> params;
  std::vector<const tir::Var*> symbols;  // in the order of their slots
  size_t first_symbol = 0;               // the slot of the first
  DataType result;                       // of T.ret; void if the function has none
  size_t num_slots() const { return first_symbol + symbols.size(); }

 private:
  void AddSymbols(List<const PrimExpr*> exprs);
  void AddSymbol(const PrimExpr* expr);
};

// A function and its direct and indirect callees, each once, and the arrays of their AllocateConst statements.
// Generated code refers to the arrays by their index here.
struct CallGraph {
  std::vector<const PrimFunc*> functions;  // the first is the function itself
  std::vector<ModuleEntry> entries;        // of the functions
  std::vector<const NDArray*> constants;
};
// Fails if a callee is missing or is not a PrimFunc. O(nodes).
Result<CallGraph> CollectCalls(const Module& module, const GlobalVar& var);

}  // namespace iropt::codegen
