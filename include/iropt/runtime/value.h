// Runtime values: tensors in host memory, storage, shapes, scalars, tuples, strings, dtypes, functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/function_ref.h"

namespace iropt {

using Tensor = std::shared_ptr<const NDArray>;

// A scalar of any dtype that is not a vector. Integers are in `integer` (booleans as 0 and 1, unsigned integers by
// their bits), floats in `real`, rounded to the dtype.
struct Scalar {
  DataType dtype;
  union {
    int64_t integer;
    double real;
  };
  static Scalar Int(int64_t value, DataType dtype = DataType::Int(64));
  static Scalar Float(double value, DataType dtype = DataType::Float(64));
  // The value converted to double.
  double ToDouble() const;
  // The value as an integer; floats are truncated. Nullopt if the result is out of range.
  std::optional<int64_t> ToInt() const;
};

using ShapeValue = std::vector<int64_t>;
struct TupleValue;
struct FunctionValue;

// A runtime value. Copies share tensors, tuples, storage and functions.
struct HostValue {
  using TupleRef = std::shared_ptr<const TupleValue>;
  using CalleeRef = std::shared_ptr<const FunctionValue>;

  // std::monostate is the null object, which is None in TVMScript.
  std::variant<std::monostate, Tensor, ShapeValue, Scalar, TupleRef, std::string, DataType, std::shared_ptr<Storage>,
               CalleeRef>
      state;

  HostValue() = default;
  HostValue(TupleValue value);                                    // NOLINT(google-explicit-constructor)
  HostValue(std::string_view text) : state(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, HostValue> && !std::is_same_v<std::remove_cvref_t<T>, TupleValue>)
      HostValue(T&& value)  // NOLINT(google-explicit-constructor)
      : state(std::forward<T>(value)) {}

  const NDArray* tensor() const {
    const Tensor* t = std::get_if<Tensor>(&state);
    return t ? t->get() : nullptr;
  }
  const ShapeValue* shape() const { return std::get_if<ShapeValue>(&state); }
  const Scalar* scalar() const { return std::get_if<Scalar>(&state); }
  const TupleValue* tuple() const {
    const TupleRef* t = std::get_if<TupleRef>(&state);
    return t ? t->get() : nullptr;
  }
  const FunctionValue* function() const {
    const CalleeRef* f = std::get_if<CalleeRef>(&state);
    return f ? f->get() : nullptr;
  }
};

struct TupleValue {
  std::vector<HostValue> fields;
};

// A function value: a Relax function, a PrimFunc or an external function, with captured variables and bound arguments.
struct FunctionValue {
  const BaseFunc* function = nullptr;
  std::string_view name;  // for messages
  // For a local function: the values of the Relax variables and the symbolic variables that it captures.
  std::vector<std::pair<const Var*, HostValue>> captured;
  std::vector<std::pair<const tir::Var*, int64_t>> symbols;
  const Var* self = nullptr;     // the variable of a local function in recursive calls
  std::vector<HostValue> bound;  // arguments that are appended to those of each call
};

// The kind of a value for messages: "a tensor", "a shape".
std::string_view KindOf(const HostValue& value);

// Calls f for each tensor in a value; tuples are visited in order.
void ForEachTensor(const HostValue& value, FunctionRef<void(const Tensor&)> f);

// Returns whether all elements of the tensors in a value are initialized. Storage without tracking counts as
// initialized.
bool IsWritten(const HostValue& value);

// The value of a literal expression: a constant, a string, a dtype, a shape or scalar without variables, or a tuple of
// literals. Nullopt for other expressions.
std::optional<HostValue> LiteralValue(const Expr* expr);

// The type of a tensor, with its dtype and shape.
const TensorType* TypeOfTensor(const NDArray& tensor, const VDeviceAttr* vdevice = nullptr);

// Makes a literal expression with this value, and its types. The arena of the workspace keeps the arrays alive. Null
// for values without a literal: storage, functions, the null object.
const Constant* MakeConstant(Tensor tensor, Workspace& workspace, const VDeviceAttr* vdevice = nullptr);
const Expr* MakeLiteral(const HostValue& value, Workspace& workspace);

// Conversion between a scalar and a tensor. MakeScalarTensor makes a tensor of rank 0; ScalarOf returns the element of
// a tensor with one element, else nullopt. The dtype must be an element type (IsElementType).
Tensor MakeScalarTensor(const Scalar& value);
std::optional<Scalar> ScalarOf(const NDArray& tensor);

}  // namespace iropt
