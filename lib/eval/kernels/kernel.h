// The context of operator kernels: checked access to operands and attributes, allocation within the limits, failure.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/element.h"
#include "iropt/op/op_attrs.h"
#include "iropt/runtime/operand_reader.h"
#include "iropt/runtime/tensor_size.h"

namespace iropt::eval {

using Shape = std::vector<int64_t>;

// One evaluation: the operands, the attributes, and the limits.
class KernelCall : public OperandReader {
 public:
  KernelCall(const OpInfo& op, const Attr* attrs, std::span<const HostValue> args, const EvalLimits& limits,
             RandomSource* random, bool is_inference)
      : OperandReader(op.name, args),
        attrs_(attrs),
        limits_(limits),
        random_(random),
        is_inference_(is_inference),
        available_work_(limits.AvailableWork()),
        work_left_(available_work_) {}
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;
  ~KernelCall() {
    if (limits_.work) *limits_.work += available_work_ - work_left_;
  }

  Error UnsupportedDType(DataType dtype) const;

  // The typed view of the attribute record, which was checked before the kernel runs.
  template <class View>
  View attrs() const {
    return View(attrs_);
  }
  // The source of random numbers; null if operators must give the same each time.
  RandomSource* random() const { return random_; }
  // Returns whether batch_norm and dropout compute what they do in inference.
  bool is_inference() const { return is_inference_; }

  // A zeroed tensor, if the limits allow one.
  Result<std::shared_ptr<NDArray>> Allocate(DataType dtype, Shape shape) const;
  // The same for kernels that only move elements, also of types that nothing is computed with, such as int4.
  Result<std::shared_ptr<NDArray>> AllocateMoved(DataType dtype, Shape shape) const;
  // Charges `units` elementary operations to the budget.
  Status Charge(uint64_t units);

 private:
  const Attr* attrs_;
  EvalLimits limits_;
  RandomSource* random_;
  bool is_inference_;
  uint64_t available_work_;
  uint64_t work_left_;
};

using Kernel = Result<HostValue> (*)(KernelCall& call);

// The dtype of an attribute, or the default if it is void.
inline DataType DTypeOr(DataType given, DataType otherwise) { return given.is_void() ? otherwise : given; }

// The non-negative form of an axis of a tensor of rank `rank`, or an error.
Result<int64_t> NormalizeAxis(const KernelCall& call, int64_t axis, size_t rank);
// The non-negative forms of axes in the given order, or an error, also for duplicates.
Result<Shape> NormalizeAxes(const KernelCall& call, std::span<const int64_t> axes, size_t rank);
// The shape that operands of these shapes broadcast to, or an error.
Result<Shape> BroadcastShapes(const KernelCall& call, std::span<const int64_t> a, std::span<const int64_t> b);
// A view of the same bytes with another shape of as many elements; nothing is copied.
Tensor Reshaped(const Tensor& tensor, Shape shape);
inline Shape ShapeOf(const NDArray& tensor) { return Shape(tensor.shape().begin(), tensor.shape().end()); }
// Strides in elements of a row-major tensor.
Shape RowMajorStrides(std::span<const int64_t> shape);
// The tensor converted to `dtype`; itself if it has that dtype already.
Result<Tensor> CastTensor(KernelCall& call, const Tensor& tensor, DataType dtype);

}  // namespace iropt::eval
