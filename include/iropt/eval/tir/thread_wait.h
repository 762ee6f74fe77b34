// Threads of loop-level functions that wait for each other.
#pragma once

#include <string_view>
#include <unordered_set>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether threads of an axis with this tag may wait for each other. Blocks of threads never do.
bool IsThreadTag(std::string_view tag);

// Returns whether the pointer is to memory that each thread has its own copy of.
bool IsLocalMemory(const tir::Var* data);

// The statements at and below `body` that have a T.tvm_storage_sync or T.tvm_thread_allreduce in them: all threads
// reach these together. O(nodes).
std::unordered_set<const tir::Stmt*> FindWaiting(const tir::Stmt* body);

}  // namespace iropt
