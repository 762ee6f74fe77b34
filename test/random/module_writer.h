// Writes the functions of a module; those that are called are written when a call of them is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "choices.h"
#include "prim_func_writer.h"
#include "types.h"

namespace iropt::generate {

// A private Relax function.
struct FunctionInfo {
  std::string name;
  std::vector<Type> params;
  Type result;
};

class ModuleWriter {
 public:
  ModuleWriter(Choices& choices, int size) : choices_(choices), size_(size) {}

  // The text of the module.
  std::string Write();

  Choices& choices() { return choices_; }
  int NewId() { return next_id_++; }
  // Whether functions may print.
  bool is_pure() const { return is_pure_; }

  // A PrimFunc with these parameters: a new one, or one that was written before.
  PrimFuncInfo PrimFunc(const std::vector<Type>& params);
  // The same for a private function. Its parameters are exact and small. Nothing if the module has enough functions.
  std::optional<FunctionInfo> PrivateFunction(const std::vector<Type>& params);

 private:
  void WriteMain();
  FunctionInfo WritePrivateFunction(const std::string& name, const std::vector<Type>& params);

  Choices& choices_;
  int size_;  // about the number of bindings of main
  int next_id_ = 0;
  bool is_pure_ = true;
  std::vector<PrimFuncInfo> prim_funcs_ = {};
  std::vector<FunctionInfo> functions_ = {};
  int depth_ = 0;  // of private functions that are being written
  std::string text_ = {};
};

}  // namespace iropt::generate
