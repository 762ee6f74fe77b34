// Values at run time: tensors on the host, storage, shapes, scalars, tuples, strings, dtypes, functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
struct TupleValue;
struct FunctionValue;

// A value. Copies share tensors, tuples, storage and functions. Strings refer to the program.
struct HostValue {
  using TupleRef = std::shared_ptr<const TupleValue>;
  using CalleeRef = std::shared_ptr<const FunctionValue>;

  // std::monostate is the null object, None in a script.
  std::variant<std::monostate, Tensor, ShapeValue, Scalar, TupleRef, std::string_view, DataType,
               std::shared_ptr<Storage>, CalleeRef>
      state;

  HostValue() = default;
  HostValue(TupleValue value);  // NOLINT(google-explicit-constructor)
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

// A function as a value: a Relax function, a PrimFunc or an external function, and what it brings along.
struct FunctionValue {
  const BaseFunc* function = nullptr;
  std::string_view name;  // in messages
  // Of a local function: the values of the variables outside, graph-level and symbolic, that it uses.
  std::vector<std::pair<const Var*, HostValue>> captured;
  std::vector<std::pair<const tir::Var*, int64_t>> symbols;
  const Var* self = nullptr;     // the variable by which it calls itself
  std::vector<HostValue> bound;  // arguments that follow those of a call
};

// What messages call a value: "a tensor", "a shape".
std::string_view KindOf(const HostValue& value);

// The tensors of a value, in the order of its tuples.
void ForEachTensor(const HostValue& value, FunctionRef<void(const Tensor&)> f);

// Whether all elements of the tensors in it have values, as far as their storage tracks it.
bool IsWritten(const HostValue& value);

// The value of an expression that is one by itself: constants, shapes and scalars without variables, tuples of such,
// strings and dtypes. Nullopt for anything else. Strings refer to the expression.
std::optional<HostValue> LiteralValue(const Expr* expr);

// The type of a tensor that is known as a whole.
const TensorType* TypeOfTensor(const NDArray& tensor, const VDeviceAttr* vdevice = nullptr);

// The expression that stands for a value; its arena keeps the arrays alive. Types are set. Null for values that no
// literal stands for: storage, functions, the null object.
const Constant* MakeConstant(Tensor tensor, Workspace& workspace, const VDeviceAttr* vdevice = nullptr);
const Expr* MakeLiteral(const HostValue& value, Workspace& workspace);

// Tensors with one element and of rank 0, and their element. The dtype must be an element type (IsElementType).
Tensor MakeScalarTensor(const Scalar& value);
std::optional<Scalar> ScalarOf(const NDArray& tensor);

}  // namespace iropt
