// The operands of something that is called with values, checked one by one: of a kernel, of a packed function.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt {

class OperandReader {
 public:
  // Both must outlive it.
  OperandReader(std::string_view callee, std::span<const HostValue> args) : callee_(callee), args_(args) {}

  std::string_view callee() const { return callee_; }
  size_t num_args() const { return args_.size(); }
  const HostValue& arg(size_t i) const { return args_[i]; }
  std::span<const HostValue> args() const { return args_; }

  // "callee: message".
  Error Fail(std::string_view message, ErrorCode code = ErrorCode::SemanticCheck) const;

  // Operands by kind; an error where operand `i` is missing or of another kind.
  Result<Tensor> TensorArg(size_t i) const;
  Result<ShapeValue> ShapeArg(size_t i) const;
  Result<Scalar> ScalarArg(size_t i) const;
  // A scalar that is an integer.
  Result<int64_t> IntArg(size_t i) const;
  Result<std::string_view> StringArg(size_t i) const;
  Result<DataType> DTypeArg(size_t i) const;
  Result<const TupleValue*> TupleArg(size_t i) const;
  // Integers given as a shape or as a tuple of scalars.
  Result<ShapeValue> IntsArg(size_t i) const;
  // The tensors of a tuple.
  Result<std::vector<Tensor>> TensorsArg(size_t i) const;

 private:
  Error NotA(size_t i, std::string_view kind) const;

  std::string_view callee_;
  std::span<const HostValue> args_;
};

// The elements of a tensor of integers, or an error of the call.
Result<ShapeValue> IntElements(const OperandReader& call, const NDArray& tensor);

}  // namespace iropt
