// The function that a run begins with, seen from outside: the tensors, shapes and numbers that it takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/runtime/value.h"

namespace iropt {

// A value that a function takes. Those of tuples are named by their place: "params.0".
struct EntryInput {
  enum class Kind : uint8_t { kTensor, kShape, kScalar, kOther };
  std::string name;
  const Node* at = nullptr;  // the parameter
  size_t param = 0;          // its number
  Kind kind = Kind::kOther;
  DataType dtype = DataType::Void();  // of a tensor or a scalar; void where any will do
  bool has_dims = false;              // of a tensor or a shape: whether dims are known
  std::vector<const PrimExpr*> dims = {};
  const PrimExpr* scalar = nullptr;  // what the value of a scalar is; null where any will do
  bool is_written = false;           // a PrimFunc writes to it, so that a result need not be given
};

class Entry {
 public:
  // Fails, with a report, where the module has no function of that name that can be run.
  static Result<Entry> Find(const Module& module, const std::string& name, CompilerInstance& compiler);

  std::string_view name() const { return var_->name; }
  const GlobalVar& var() const { return *var_; }
  const BaseFunc& function() const { return *function_; }
  // Null where it is a PrimFunc.
  const Function* relax() const { return As<Function>(function_); }
  const PrimFunc* prim() const { return As<PrimFunc>(function_); }
  const std::vector<EntryInput>& inputs() const { return inputs_; }
  // The symbolic variables by which the sizes of inputs are named.
  const std::vector<const tir::Var*>& symbols() const { return symbols_; }

  // The arguments of the function from the values of its inputs.
  std::vector<HostValue> MakeArguments(std::vector<HostValue> values) const;

 private:
  Entry(const GlobalVar* var, const BaseFunc* function) : var_(var), function_(function) {}

  void AddRelaxInputs(const Function& function);
  void AddPrimInputs(const PrimFunc& function);
  void AddInput(const std::string& name, const Var* param, size_t index, const Type* type);
  void FindSymbols();

  const GlobalVar* var_;
  const BaseFunc* function_;
  std::vector<EntryInput> inputs_;
  std::vector<const tir::Var*> symbols_;
};

// "R.Tensor((n, 4), dtype="float32")".
std::string DescribeInput(const EntryInput& input);

}  // namespace iropt
