// Synchronization of GPU threads in PrimFuncs.
#pragma once

#include <string_view>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Returns whether threads of an axis with this tag may synchronize. Blocks of threads never do.
bool IsThreadTag(std::string_view tag);

// Returns whether the pointer is to thread-local memory.
bool IsLocalMemory(const tir::Var* data);

// The statements in `body`, itself included, that contain a T.tvm_storage_sync or T.tvm_thread_allreduce. They must be
// executed in lockstep. O(nodes).
LookupSet<const tir::Stmt*> FindSynchronizing(const tir::Stmt* body);

}  // namespace iropt
