// The entry function of a run and its inputs: tensors, shapes and numbers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/runtime/value.h"

namespace iropt {

// An input of the entry function: a parameter, or a field of a tuple parameter, which is named by its index:
// "params.0". A parameter of a model's function has the name that it has in the model.
struct EntryInput {
  enum class Kind : uint8_t { kTensor, kShape, kScalar, kOther };
  std::string name;
  const Node* at = nullptr;  // the parameter
  size_t param = 0;          // the index of the parameter
  Kind kind = Kind::kOther;
  DataType dtype = DataType::Void();  // of a tensor or a scalar; void: any
  bool has_dims = false;              // of a tensor or a shape: `dims` are known
  std::vector<const PrimExpr*> dims = {};
  int32_t ndim = kUnknownDim;        // the rank, which may be known although `dims` are not
  const PrimExpr* scalar = nullptr;  // the value of a scalar; null: any
  bool is_written = false;           // a PrimFunc writes to it, so it is an output and needs no input
};

class Entry {
 public:
  // The function of the name; without a name "main", or else the only function, or the only Relax function. Reports an
  // error and fails if the module has no such function, or it cannot be run.
  static Result<Entry> Find(const Module& module, const std::optional<std::string>& name,
                            DiagnosticEngine& diagnostics);
  // The function that Find looks for; null if there is none that can be run.
  static const ModuleEntry* Lookup(const Module& module, const std::optional<std::string>& name);
  // A function of a module that is not an external one. The module must outlive the entry.
  static Entry Of(const ModuleEntry& function);

  std::string_view name() const { return var_->name; }
  const GlobalVar& var() const { return *var_; }
  const BaseFunc& function() const { return *function_; }
  // Null if the function is a PrimFunc.
  const Function* relax() const { return As<Function>(function_); }
  const PrimFunc* prim() const { return As<PrimFunc>(function_); }
  const std::vector<EntryInput>& inputs() const { return inputs_; }
  // The symbolic variables in the shapes of the inputs.
  const std::vector<const tir::Var*>& symbols() const { return symbols_; }

  // Makes an input of a PrimFunc one of its results, though the function does not write to it.
  void AddOutput(size_t input) { inputs_[input].is_written = true; }

  // Makes the arguments of the function from the values of its inputs.
  std::vector<HostValue> MakeArguments(std::vector<HostValue> values) const;

 private:
  Entry(const GlobalVar* var, const BaseFunc* function) : var_(var), function_(function) {}

  void AddRelaxInputs(const Function& function);
  void AddPrimInputs(const PrimFunc& function);
  void AddInput(std::string& name, const Var* param, size_t index, const Type* type);
  // Makes a buffer of vectors a tensor of their elements.
  void CountElements(EntryInput& input);
  void FindSymbols();

  const GlobalVar* var_;
  const BaseFunc* function_;
  std::vector<EntryInput> inputs_;
  std::vector<const tir::Var*> symbols_;
  std::shared_ptr<Workspace> products_ = nullptr;  // dimensions that are computed
};

// The value of a type from those that it consists of, beginning with values[next], which is increased.
HostValue TakeValue(const Type* type, std::vector<HostValue>& values, size_t& next);

// The names that a function's model has for its inputs or outputs, which need not be identifiers; empty if they are not
// known.
std::vector<std::string_view> StatedNames(const BaseFunc& function, std::string_view kind);

// The symbolic variables that are dimensions of the inputs, by the names that a function's model has for them. Of a
// variable with a name of its own there is nothing.
std::vector<std::pair<std::string_view, const tir::Var*>> StatedDims(const BaseFunc& function);

// "R.Tensor((n, 4), dtype="float32")".
std::string DescribeInput(const EntryInput& input);

}  // namespace iropt
