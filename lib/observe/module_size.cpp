#include "module_size.h"

#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

uint64_t CountNodes(const Module& module) {
  uint64_t nodes = 0;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      PostOrderVisit(function, [&](const Expr*) { ++nodes; });
    } else if (const auto* prim_func = As<PrimFunc>(entry.func)) {
      tir::PostOrderVisit(prim_func->body, [&](const Node*) { ++nodes; });
    }
  }
  return nodes;
}

size_t ArenaBytes(const Module& module) {
  LookupSet<const Arena*> seen;
  size_t bytes = 0;
  for (const ModuleEntry& entry : module.functions()) {
    if (!entry.storage) continue;
    for (const auto& arena : entry.storage->arenas) {
      if (seen.insert(arena.get())) bytes += arena->bytes_used();
    }
  }
  return bytes;
}

}  // namespace iropt
