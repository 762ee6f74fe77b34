// Adding functions to a module, each only once.
#pragma once

#include <string_view>
#include <unordered_map>

#include "iropt/ir/module.h"

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
  void IndexOnce();

  Module module_;
  bool indexed_ = false;
  // By structural hash. An entry may be out of date; the module decides.
  std::unordered_multimap<uint64_t, const GlobalVar*> by_hash_;
};

}  // namespace iropt
