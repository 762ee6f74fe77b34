#include "iropt/ir/module.h"

#include <algorithm>

#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

size_t FuncStorage::bytes() const {
  size_t bytes = 0;
  for (const auto& arena : arenas) bytes += arena->bytes_used();
  return bytes;
}

namespace {

constexpr size_t kFewArenas = 64;

}  // namespace

Workspace::Workspace(TextVersion version) : arena_(std::make_shared<Arena>()), version_(version) {}

Workspace::Workspace(const Module& module) : Workspace(module.version()) {}

Workspace::Workspace(const Module& module, const FuncStorageRef& base) : Workspace(module) {
  if (base == nullptr) return;
  bases_ = base->arenas;
  num_vars_ = base->num_vars;
  live_bytes_ = base->live_bytes;
}

tir::Var* Workspace::NewPrimVar(std::string_view name, DataType dtype, const tir::PointerInfo* pointer) {
  return New<tir::Var>(arena_->CopyString(name), dtype, NextVarId(), pointer);
}

void Workspace::Adopt(const FuncStorageRef& other) {
  for (const auto& arena : other->arenas) {
    // Of many, repetitions are removed at the end.
    if (bases_.size() >= kFewArenas || std::find(bases_.begin(), bases_.end(), arena) == bases_.end())
      bases_.push_back(arena);
  }
  live_bytes_ += other->live_bytes;
}

FuncStorageRef Workspace::Finish() {
  auto storage = std::make_shared<FuncStorage>();
  storage->num_vars = num_vars_;
  // Without older nodes, all new nodes count as live.
  storage->live_bytes = bases_.empty() ? arena_->bytes_used() : live_bytes_;
  if (bases_.size() > kFewArenas) {
    LookupSet<const Arena*> seen;
    std::erase_if(bases_, [&](const auto& arena) { return !seen.insert(arena.get()); });
  }
  storage->arenas = std::move(bases_);
  if (arena_->bytes_used() > 0) storage->arenas.push_back(std::move(arena_));
  return storage;
}

Module::Module() : context_(std::make_shared<const IRContext>(IRContext::Current())) {}
Module::Module(const Module&) = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(const Module&) = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

IRContext Module::context() const { return *context_; }

int Module::IndexOf(const GlobalVar* var) const { return var->id < index_.size() ? index_[var->id] : -1; }

const ModuleEntry* Module::Find(const GlobalVar* var) const {
  const int index = IndexOf(var);
  return index < 0 ? nullptr : &functions_[static_cast<size_t>(index)];
}

const ModuleEntry* Module::Find(std::string_view name) const {
  const GlobalVar* var = IRContext::Current().FindGlobalVar(name);
  return var ? Find(var) : nullptr;
}

const Type* Module::TypeOf(const GlobalVar* var) const {
  const ModuleEntry* entry = Find(var);
  return entry ? entry->func->type : nullptr;
}

void Module::Set(const GlobalVar* var, const BaseFunc* func, FuncStorageRef storage) {
  if (const int index = IndexOf(var); index >= 0) {
    SetAt(static_cast<size_t>(index), func, std::move(storage));
    return;
  }
  functions_.push_back({var, func, std::move(storage)});
  Reindex(functions_.size() - 1);
}

void Module::SetAt(size_t index, const BaseFunc* func, FuncStorageRef storage) {
  functions_[index].func = func;
  functions_[index].storage = std::move(storage);
}

void Module::Filter(const std::vector<bool>& keep) {
  size_t kept = 0;
  for (size_t i = 0; i < functions_.size(); ++i) {
    if (!keep[i]) {
      index_[functions_[i].var->id] = -1;
    } else {
      if (kept != i) functions_[kept] = std::move(functions_[i]);
      ++kept;
    }
  }
  functions_.resize(kept);
  Reindex(0);
}

void Module::Remove(const GlobalVar* var) {
  const int index = IndexOf(var);
  if (index < 0) return;
  functions_.erase(functions_.begin() + index);
  index_[var->id] = -1;
  Reindex(static_cast<size_t>(index));
}

std::string Module::UniqueName(std::string_view hint) const {
  std::string name(hint);
  if (Find(name) == nullptr) return name;
  const auto with_suffix = [&](size_t suffix) { return std::string(hint) + std::to_string(suffix); };
  // A module may have many functions of one hint, numbered without gaps: find the end in a logarithmic number of steps.
  size_t taken = 0;
  size_t free = 1;
  while (Find(with_suffix(free)) != nullptr) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const size_t middle = taken + (free - taken) / 2;
    (Find(with_suffix(middle)) != nullptr ? taken : free) = middle;
  }
  return with_suffix(free);
}

void Module::Reindex(size_t from) {
  for (size_t i = from; i < functions_.size(); ++i) {
    const uint32_t id = functions_[i].var->id;
    if (id >= index_.size()) index_.resize(std::max<size_t>(id + 1, index_.size() * 2), -1);
    index_[id] = static_cast<int32_t>(i);
  }
}

}  // namespace iropt
