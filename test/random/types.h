// Types of generated values, and their text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iropt::generate {

// A dimension: scale * var + offset, or only the offset if there is no variable.
struct Dim {
  std::string var = {};
  int64_t scale = 0;
  int64_t offset = 0;

  static Dim Of(int64_t value) { return {{}, 0, value}; }
  static Dim Of(std::string var) { return {std::move(var), 1, 0}; }

  bool is_static() const { return var.empty(); }
  bool is(int64_t value) const { return is_static() && offset == value; }
  std::string Text() const;
  friend bool operator==(const Dim&, const Dim&) = default;
};

using Dims = std::vector<Dim>;

// Nothing if the result has two variables.
std::optional<Dim> Sum(const Dim& a, const Dim& b);
std::optional<Dim> Product(const Dim& a, const Dim& b);
std::string Join(const std::vector<std::string>& items);
// "n, 4"
std::string DimsText(const Dims& dims);
// "R.shape([n, 4])"
std::string ShapeText(const Dims& dims);
// The shape of tensors of both shapes, by the rules of NumPy; nothing if they do not fit.
std::optional<Dims> BroadcastShapes(const Dims& a, const Dims& b);

// A tensor, or a tuple if the dtype is empty.
struct Type {
  std::string dtype = {};
  Dims dims = {};
  std::vector<Type> fields = {};

  bool is_tuple() const { return dtype.empty(); }
  bool is_float() const { return dtype.starts_with("float"); }
  bool is_int() const { return dtype.starts_with("int"); }
  int ndim() const { return static_cast<int>(dims.size()); }
  friend bool operator==(const Type&, const Type&) = default;
};

// As in the signature of a function, where dimensions are quoted, or in its body.
enum class Place { kSignature, kBody };
std::string TypeText(const Type& type, Place place);

// A variable of the program. Results of convolutions and matrix products depend on the precision in which they are
// computed, by as much as the operators after them magnify rounding errors; the generator uses such a value only
// where the error stays small.
struct Traits {
  bool is_exact = true;  // depends on no convolution or matrix product
  bool is_small = true;  // fits float16, also when a few hundred products of two of these are summed up
};

struct Value {
  std::string name;
  Type type;
  Traits traits = {};
};

}  // namespace iropt::generate
