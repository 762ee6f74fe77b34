// Adding functions to a module, each only once.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt {

class ModuleBuilder {
 public:
  explicit ModuleBuilder(Module module) : module_(std::move(module)) {}

  const Module& module() const { return module_; }
  // The name of the function in the module: that of a structurally equal one if the module has one (the least of
  // several), otherwise the function is added under the hint or, if that is taken, the hint and a number.
  const GlobalVar* AddFunction(const BaseFunc* func, FuncStorageRef storage, std::string_view name_hint);
  void UpdateFunction(const GlobalVar* var, const BaseFunc* func, FuncStorageRef storage);
  // The result. The builder is empty afterwards.
  Module Finish();

 private:
  // Functions of one kind are never equal to those of another one.
  void IndexOnce(NodeKind kind);
  bool IsIndexed(NodeKind kind) const { return std::ranges::find(indexed_, kind) != indexed_.end(); }

  Module module_;
  std::vector<NodeKind> indexed_;  // the kinds of functions of which by_hash_ has all
  // By structural hash. An entry may be out of date; the module decides.
  LookupMultiMap<uint64_t, const GlobalVar*> by_hash_;
};

}  // namespace iropt
