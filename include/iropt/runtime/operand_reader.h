// Typed access to the operands of a kernel or a packed function.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt {

class OperandReader {
 public:
  // `callee` and `args` must outlive the reader.
  OperandReader(std::string_view callee, std::span<const HostValue> args) : callee_(callee), args_(args) {}

  std::string_view callee() const { return callee_; }
  size_t num_args() const { return args_.size(); }
  const HostValue& arg(size_t i) const { return args_[i]; }
  std::span<const HostValue> args() const { return args_; }

  // Returns the error "callee: message".
  Error Fail(std::string_view message, ErrorCode code = ErrorCode::SemanticCheck) const;

  // Operand `i`; fails if it is missing or of another kind.
  Result<Tensor> TensorArg(size_t i) const;
  Result<ShapeValue> ShapeArg(size_t i) const;
  Result<Scalar> ScalarArg(size_t i) const;
  // An integer scalar.
  Result<int64_t> IntArg(size_t i) const;
  Result<std::string_view> StringArg(size_t i) const;
  Result<DataType> DTypeArg(size_t i) const;
  Result<const TupleValue*> TupleArg(size_t i) const;
  // A shape, or a tuple of integer scalars.
  Result<ShapeValue> IntsArg(size_t i) const;
  // A tuple of tensors.
  Result<std::vector<Tensor>> TensorsArg(size_t i) const;

 private:
  Error NotA(size_t i, std::string_view kind) const;

  std::string_view callee_;
  std::span<const HostValue> args_;
};

// Returns the elements of an integer tensor. Fails for other dtypes and for uninitialized elements.
Result<ShapeValue> IntElements(const OperandReader& call, const NDArray& tensor);

}  // namespace iropt
