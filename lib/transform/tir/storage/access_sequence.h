// The statements of a function that access allocated memory, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// A store or T.evaluate, or the begin or end of a scope: a loop, a conditional, a binding, a launch of threads.
struct AccessEvent {
  const tir::Stmt* stmt = nullptr;
  // The distance to the end of the scope that begins here, or (negative) to the begin of the one that ends here; 0 for
  // a statement.
  int64_t to_pair = 0;
  // The data pointers that the statement accesses, with repetitions. A scope accesses, at its end, what is accessed in
  // it and allocated directly outside.
  std::vector<const tir::Var*> touched = {};

  bool begins() const { return to_pair > 0; }
  bool ends() const { return to_pair < 0; }
};

struct AccessSequence {
  std::vector<AccessEvent> events;
  // By data pointer, but for the fixed ones.
  LookupMap<const tir::Var*, const tir::Allocate*> allocations;
  // The innermost launches of threads around allocations, by data pointer.
  LookupMap<const tir::Var*, const tir::AttrStmt*> launches;
  // Allocations whose sizes depend on variables that the function binds, which have no value in other places.
  LookupSet<const tir::Allocate*> fixed;
  // The buffers that are read or written.
  LookupMap<const tir::Buffer*, bool> accessed;
};

// The pointer whose memory a buffer is declared over, for the binding of the buffer's own pointer to it; null for other
// bindings.
inline const tir::Var* SourceOfPointer(const tir::LetStmt& let) {
  return (let.var->flags & tir::Var::kBufferPointer) != 0 ? As<tir::Var>(let.value) : nullptr;
}

// O(nodes). An access outside of a statement is reported.
AccessSequence FindAccesses(const tir::Stmt* body, DiagnosticEngine& diagnostics);

}  // namespace iropt
