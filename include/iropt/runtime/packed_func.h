// Packed functions: functions of the runtime that modules call by name. This area has those of TVM's runtime that
// lowered modules call (lib/runtime/packed/builtins.def); C++ programs can register others.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/runtime/operand_reader.h"
#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt {

// Services of the executor for packed functions.
class PackedContext {
 public:
  virtual ~PackedContext() = default;
  // Calls a closure or another function value.
  virtual Result<HostValue> Invoke(const HostValue& callee, std::span<const HostValue> args) = 0;
  // Prints a line of the program's output.
  virtual void Print(std::string_view line) = 0;
  // Allocates zeroed memory for tensors. Fails if it exceeds the memory limit of the run.
  virtual Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) = 0;
  // The most bytes that a tensor may have, for functions that run others.
  virtual size_t max_bytes() const = 0;
};

// One call of a packed function.
class PackedCall : public OperandReader {
 public:
  PackedCall(std::string_view name, std::span<const HostValue> args, PackedContext& context)
      : OperandReader(name, args), context_(context) {}
  PackedContext& context() const { return context_; }

 private:
  PackedContext& context_;
};

using PackedFunc = std::function<Result<HostValue>(PackedCall& call)>;

// Packed functions by name.
class PackedRegistry {
 public:
  // Adds a function, or replaces the one with this name.
  void Set(std::string name, PackedFunc func);
  // Returns null if the function is not registered. O(log n).
  const PackedFunc* Find(std::string_view name) const;
  // Calls the function. The error for an unknown name suggests the nearest one.
  Result<HostValue> Call(std::string_view name, std::span<const HostValue> args, PackedContext& context) const;
  // In alphabetical order.
  std::vector<std::string_view> Names() const;

 private:
  std::map<std::string, PackedFunc, std::less<>> funcs_;
};

// The built-in packed functions for shapes, memory, type checks, tuples, closures and printing, with the semantics of
// TVM 0.18's src/runtime/relax_vm/builtin.cc.
PackedRegistry MakeRuntimePackedFuncs();

// Makes a tensor that is a view of storage, at a byte offset. Fails if it exceeds the storage or is misaligned.
Result<Tensor> MakeTensorView(const std::shared_ptr<Storage>& storage, int64_t offset, const ShapeValue& shape,
                              DataType dtype);

// Formats a value for users: "[[1, 2], [3, 4]]", "(3, 4.5)". Long tensors are abbreviated.
std::string RenderValue(const HostValue& value);
// Replaces "{}" and "{0}" in the text by the values, as Python's str.format does.
Result<std::string> FormatValues(std::string_view format, std::span<const HostValue> values);

}  // namespace iropt
