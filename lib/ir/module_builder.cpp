#include "iropt/ir/module_builder.h"

#include <algorithm>

#include "iropt/ir/structural.h"

namespace iropt {

void ModuleBuilder::IndexOnce(NodeKind kind) {
  if (IsIndexed(kind)) return;
  indexed_.push_back(kind);
  for (const ModuleEntry& entry : module_.functions()) {
    if (entry.func->kind == kind) by_hash_.emplace(StructuralHash(entry.func), entry.var);
  }
}

const GlobalVar* ModuleBuilder::AddFunction(const BaseFunc* func, FuncStorageRef storage, std::string_view name_hint) {
  IndexOnce(func->kind);
  const uint64_t hash = StructuralHash(func);
  const GlobalVar* found = nullptr;
  by_hash_.ForEachOf(hash, [&](const GlobalVar* var) {
    const ModuleEntry* entry = module_.Find(var);
    if (entry == nullptr || !StructuralEqual(entry->func, func)) return;
    if (found == nullptr || entry->var->name < found->name) found = entry->var;
  });
  if (found != nullptr) return found;
  std::string hint(name_hint);
  std::replace(hint.begin(), hint.end(), '.', '_');
  const GlobalVar* var = GlobalVar::Get(module_.UniqueName(hint));
  module_.Set(var, func, std::move(storage));
  by_hash_.emplace(hash, var);
  return var;
}

void ModuleBuilder::UpdateFunction(const GlobalVar* var, const BaseFunc* func, FuncStorageRef storage) {
  module_.Set(var, func, std::move(storage));
  if (IsIndexed(func->kind)) by_hash_.emplace(StructuralHash(func), var);
}

Module ModuleBuilder::Finish() {
  by_hash_.clear();
  indexed_.clear();
  return std::exchange(module_, Module());
}

}  // namespace iropt
