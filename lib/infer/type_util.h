// Helpers of type rules. Private to lib/infer.
//
// A helper that can fail reports the error itself and returns a failure; the rule then returns null.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/type_rules.h"
#include "iropt/ir/context.h"
#include "iropt/op/op_attrs.h"

namespace iropt::rules {

using Dim = const PrimExpr*;
// Makes dimensions: interned scalar expressions.
inline constexpr arith::PrimBuilder kDims;

inline Dim One() { return kDims.Int(1); }
inline bool IsOne(Dim d) { return arith::IsInt(d, 1); }

// A conditional that folds if the condition is known.
Dim IfThenElse(Dim condition, Dim a, Dim b);

// A short list of dimensions. Ranks are small; only long lists use the heap.
class DimList {
 public:
  DimList() = default;
  explicit DimList(std::span<const Dim> dims) { Append(dims); }
  void push_back(Dim d) {
    if (size_ < kInline && heap_.empty()) {
      inline_[size_++] = d;
      return;
    }
    if (heap_.empty()) heap_.assign(inline_.begin(), inline_.begin() + size_);
    heap_.push_back(d);
    ++size_;
  }
  void Append(std::span<const Dim> dims) {
    for (const Dim d : dims) push_back(d);
  }
  size_t size() const { return size_; }
  Dim& operator[](size_t i) { return heap_.empty() ? inline_[i] : heap_[i]; }
  Dim operator[](size_t i) const { return heap_.empty() ? inline_[i] : heap_[i]; }
  Dim* begin() { return heap_.empty() ? inline_.data() : heap_.data(); }
  Dim* end() { return begin() + size_; }
  std::span<const Dim> span() const { return {heap_.empty() ? inline_.data() : heap_.data(), size_}; }
  operator std::span<const Dim>() const { return span(); }  // NOLINT

 private:
  static constexpr size_t kInline = 8;
  std::array<Dim, kInline> inline_{};
  size_t size_ = 0;
  std::vector<Dim> heap_;
};

// ---- Operands. False or null after an error.

// `max` is SIZE_MAX if there may be any number.
bool CheckArity(const Call& call, size_t min, size_t max, InferContext& ctx);
const TensorType* TensorArg(const Call& call, size_t i, InferContext& ctx);
const ShapeType* ShapeArg(const Call& call, size_t i, InferContext& ctx);
// All operands, which are N tensors.
template <size_t N>
bool TensorArgs(const Call& call, InferContext& ctx, const TensorType* (&out)[N]) {
  if (!CheckArity(call, N, N, ctx)) return false;
  for (size_t i = 0; i < N; ++i) {
    out[i] = TensorArg(call, i, ctx);
    if (!out[i]) return false;
  }
  return true;
}
// The only operand, which is a tensor.
inline const TensorType* UnaryArg(const Call& call, InferContext& ctx) {
  return CheckArity(call, 1, 1, ctx) ? TensorArg(call, 0, ctx) : nullptr;
}
// The tensors in operand `i`, a tuple of at least one.
bool TensorsOfTuple(const Call& call, size_t i, InferContext& ctx, std::vector<const TensorType*>& out);

// The value of a scalar operand, which must be known.
Dim NumberArg(const Call& call, size_t i, InferContext& ctx);
bool CheckIntegerDType(const Call& call, size_t i, DataType dtype, InferContext& ctx);

// "operand 1 ('x2')", for messages.
std::string OperandName(const Call& call, size_t i);

// ---- Shapes

inline bool HasRank(const TensorType* t) { return t->ndim != kUnknownDim; }
// The dimensions, also if a shape variable has them; null if they are unknown.
const List<Dim>* ShapeValues(const TensorType* t);

// ---- Results

const TensorType* WithDType(const TensorType* t, DataType dtype, InferContext& ctx);
const TensorType* WithVDevice(const TensorType* t, const VDeviceAttr* vdevice, InferContext& ctx);
// A tensor of the known shape of `t`.
const TensorType* WithShapeOf(const TensorType* t, DataType dtype, const VDeviceAttr* vdevice, InferContext& ctx);
// A tensor whose shape is an expression: a literal shape, a variable, or another expression of a shape type.
const TensorType* WithShapeExpr(const Expr* shape, DataType dtype, const VDeviceAttr* vdevice, InferContext& ctx);
// Only the rank is known.
inline const TensorType* WithRank(const TensorType* t, int ndim) { return TensorType::Get(ndim, t->dtype, t->vdevice); }

// ---- Dtypes and devices of two operands

// The common dtype of operands `i` and `j`, void if one is unknown; nothing after an error.
std::optional<DataType> CommonDType(const Call& call, size_t i, DataType a, size_t j, DataType b, InferContext& ctx);
// The common device; nothing after an error.
std::optional<const VDeviceAttr*> CommonVDevice(const Call& call, const Type* a, const Type* b, InferContext& ctx);
// The device of tensors that may be on different devices: null if they are.
const VDeviceAttr* JoinVDevices(std::span<const TensorType* const> tensors);

// ---- Broadcasting and axes

enum class Known : uint8_t { kYes, kNo, kError };
// The broadcast of the dimensions of two operands.
Known Broadcast(const Call& call, std::span<const Dim> a, std::span<const Dim> b, InferContext& ctx, DimList& out);
// The axis counted from the front; nothing after an error.
std::optional<int> NormalizeAxis(const Call& call, int ndim, int64_t axis, InferContext& ctx);
// Counts several axes from the front, which must be distinct; false after an error.
bool NormalizeAxes(const Call& call, int ndim, std::span<const int64_t> axes, InferContext& ctx, std::vector<int>& out);
Dim Product(std::span<const Dim> dims);

// Returns whether the value of a text attribute is one of the given words, separated by spaces; false after an error.
bool CheckChoice(const Call& call, std::string_view attr, std::string_view value, std::string_view words,
                 InferContext& ctx);

}  // namespace iropt::rules
