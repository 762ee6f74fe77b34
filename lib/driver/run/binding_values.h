// The values of all bindings of a run: kept for a file, or compared with those of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/exchange/format.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The names of bindings in files. In the entry function, that of the variable: "conv1". In another function, the name
// of the function comes before it: "helper:conv1", "main.local:conv1" for a local function. A name that occurs for the
// n-th time, also in another call of the function, ends in "#n". A model's own names replace those of variables.
class BindingNames {
 public:
  // The module and the names of the model must outlive it.
  BindingNames(const Module& module, const Function& entry, const ValueNames& own);

  struct Name {
    std::string text;      // with the name of the variable
    std::string own_text;  // with that of the model; the same if there is none
    // Of a value that a model has no name for: another model has another value of it.
    bool is_made_up = false;
  };
  // The name of the next value of the variable.
  Name Next(const Function& function, const Var& var);

 private:
  void AddLocalFunctions(const Function& function, const std::string& name);

  const Function& entry_;
  const ValueNames& own_;
  bool is_of_model_;
  LookupMap<const Function*, std::string> prefixes_;
  LookupMap<std::string, size_t> counts_;
};

// Tensors of fields of tuples are named by their indices: "t.0". Values without a tensor, tensors that are not yet
// written when they are bound, and those of types that nothing is computed with, such as int4, are left out.
class ValueRecorder : public RunObserver {
 public:
  explicit ValueRecorder(BindingNames names) : names_(std::move(names)) {}

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind, std::string_view, double) override {}

  // All so far, in the order of the run. Memory that the program may write again is copied.
  const std::vector<NamedTensor>& values() const { return values_; }

 private:
  BindingNames names_;
  std::vector<NamedTensor> values_;
};

// Compares each value with the tensor of its name, up to the first one that differs.
class ValueChecker : public RunObserver {
 public:
  // The options must outlive it; `expected` are the tensors of the file options.check_values.
  ValueChecker(BindingNames names, const std::vector<NamedTensor>& expected, const ProgramOptions& options);

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind, std::string_view, double) override {}

  // Reports the first difference, with the operators between the last values that are equal and this one; else, as a
  // remark, how many values were compared. Fails with ErrorCode::SemanticCheck if a value differs, or if nothing was
  // compared and that is an error.
  Status Report(CompilerInstance& compiler) const;

 private:
  enum class State : uint8_t { Equal, NotInFile, NoTensor };
  struct Difference {
    const Function* function = nullptr;
    const Var* var = nullptr;
    std::string message;
  };

  State Compare(const BindingNames::Name& name, const HostValue& value);
  // What the file has for a value; null if it has none.
  const Tensor* Expected(const BindingNames::Name& name, std::string_view path) const;
  void ReportDifference(CompilerInstance& compiler) const;

  BindingNames names_;
  const ProgramOptions& options_;
  LookupMap<std::string, Tensor> expected_;
  LookupMap<std::string, Tensor> by_identifier_;  // of those whose names are not identifiers
  LookupMap<const Var*, State> states_;           // of the last value of each variable
  size_t num_values_ = 0;                         // that have tensors
  size_t num_compared_ = 0;                       // of them
  size_t num_tensors_ = 0;                        // of the file, that were compared
  int64_t num_elements_ = 0;
  Difference difference_;  // without a variable: none
};

}  // namespace iropt
