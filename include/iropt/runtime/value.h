// What the operands and results of operators are at run time: tensors on the host, shapes, scalars, tuples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

using Tensor = std::shared_ptr<const NDArray>;

// A scalar of any dtype that is no vector: integers (booleans are 0 and 1) in `integer`, with the bits of unsigned
// ones; floats in `real`, already rounded to the dtype.
struct Scalar {
  DataType dtype;
  union {
    int64_t integer;
    double real;
  };
  static Scalar Int(int64_t value, DataType dtype = DataType::Int(64));
  static Scalar Float(double value, DataType dtype = DataType::Float(64));
  // The number as a double or an integer, whichever it is; an integer that is cut off from a float must fit.
  double ToDouble() const;
  std::optional<int64_t> ToInt() const;
};

using ShapeValue = std::vector<int64_t>;
struct HostValue;
struct TupleValue {
  std::vector<HostValue> fields;
};

struct HostValue {
  std::variant<std::monostate, Tensor, ShapeValue, Scalar, TupleValue, std::string_view, DataType> state;

  HostValue() = default;
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, HostValue>)
      HostValue(T&& value)  // NOLINT(google-explicit-constructor)
      : state(std::forward<T>(value)) {}

  const NDArray* tensor() const {
    const Tensor* t = std::get_if<Tensor>(&state);
    return t ? t->get() : nullptr;
  }
  const ShapeValue* shape() const { return std::get_if<ShapeValue>(&state); }
  const Scalar* scalar() const { return std::get_if<Scalar>(&state); }
  const TupleValue* tuple() const { return std::get_if<TupleValue>(&state); }
};

// The value of an expression that is one by itself: constants, shapes and scalars without variables, tuples of such,
// strings and dtypes. Nullopt for anything else. Strings refer to the expression.
std::optional<HostValue> LiteralValue(const Expr* expr);

// The type of a tensor that is known as a whole.
const TensorType* TypeOfTensor(const NDArray& tensor, const VDeviceAttr* vdevice = nullptr);

// The expression that stands for a value; its arena keeps the arrays alive. Types are set.
const Constant* MakeConstant(Tensor tensor, Workspace& workspace, const VDeviceAttr* vdevice = nullptr);
const Expr* MakeLiteral(const HostValue& value, Workspace& workspace);

// Tensors with one element and of rank 0, and their element. The dtype must be an element type (IsElementType).
Tensor MakeScalarTensor(const Scalar& value);
std::optional<Scalar> ScalarOf(const NDArray& tensor);

}  // namespace iropt
