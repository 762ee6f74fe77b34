// Packed functions: what programs call by name and what is not part of their module. TVM's runtime has thousands; those
// that lowered modules call are here (see lib/runtime/packed/builtins.def), and a program may add its own.
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

// What a packed function may ask of the program that calls it.
class PackedContext {
 public:
  virtual ~PackedContext() = default;
  // Calls a function value.
  virtual Result<HostValue> Invoke(const HostValue& callee, std::span<const HostValue> args) = 0;
  // Writes a line for the user of the program.
  virtual void Print(std::string_view line) = 0;
  // Memory for tensors, zeroed; an error where it is more than the program may take.
  virtual Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) = 0;
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
  // Replaces the function of that name.
  void Set(std::string name, PackedFunc func);
  // Null where there is none. O(log n).
  const PackedFunc* Find(std::string_view name) const;
  // Calls the function; an unknown name is an error that names the nearest one.
  Result<HostValue> Call(std::string_view name, std::span<const HostValue> args, PackedContext& context) const;
  // In alphabetical order.
  std::vector<std::string_view> Names() const;

 private:
  std::map<std::string, PackedFunc, std::less<>> funcs_;
};

// The functions of this area: shapes, memory, checks, tuples, closures, printing. They do what TVM 0.18's
// src/runtime/relax_vm/builtin.cc says.
PackedRegistry MakeRuntimePackedFuncs();

// A tensor of storage. The error says what does not fit.
Result<Tensor> MakeTensorView(const std::shared_ptr<Storage>& storage, int64_t offset, const ShapeValue& shape,
                              DataType dtype);

// A value as users read it: "[[1, 2], [3, 4]]", "(3, 4.5)". Long tensors are cut short.
std::string RenderValue(const HostValue& value);
// The text with "{}" and "{0}" replaced by the values, as Python's str.format does.
Result<std::string> FormatValues(std::string_view format, std::span<const HostValue> values);

}  // namespace iropt
