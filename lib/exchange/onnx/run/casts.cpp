// Conversions to and from element types that Relax computes nothing with, and to 8 bits where numbers saturate.

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/tensors.h"

namespace iropt::onnx {

namespace {

NarrowRounding RoundingOf(const OnnxCall& call) {
  const std::string_view mode = call.String("round_mode", "up");
  using Mode = NarrowRounding::Mode;
  return {.saturates = call.Int("saturate", 1) != 0,
          .mode = mode == "down"      ? Mode::kDown
                  : mode == "nearest" ? Mode::kNearest
                                      : Mode::kUp};
}

Result<HostValue> CastToType(OnnxCall& call, std::optional<DataType> dtype) {
  if (!dtype) return call.Fail("no number has this type");
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  return HostValue(FromNumbers(*dtype, call.Shape(0), x, RoundingOf(call)));
}

Result<HostValue> RunCast(OnnxCall& call) {
  return CastToType(call, DataTypeOf(static_cast<ElementType>(call.Int("to"))));
}

Result<HostValue> RunCastLike(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor like, call.TensorIn(1));
  return CastToType(call, like->dtype());
}

// The same bits as elements of another type.
Result<HostValue> RunBitCast(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorIn(0));
  const std::optional<DataType> dtype = DataTypeOf(static_cast<ElementType>(call.Int("to")));
  if (!dtype || dtype->bits != x->dtype().bits) return call.Fail("the elements are not of the same size");
  auto result = NDArray::Make(*dtype, x->shape());
  // Integers of less than a byte have their sign in all of its bits.
  const bool is_part = dtype->bits < 8 && dtype->is_integer();
  for (size_t i = 0; i < x->num_bytes(); ++i)
    result->mutable_data()[i] = is_part ? StoreNarrow(std::to_integer<int>(x->data()[i]), *dtype, {}) : x->data()[i];
  return HostValue(Tensor(std::move(result)));
}

constexpr KernelRow kCastKernels[] = {
    {"BitCast", "0", RunBitCast},
    {"Cast", "0", RunCast},
    {"CastLike", "01", RunCastLike},
};

}  // namespace

std::span<const KernelRow> CastKernels() { return kCastKernels; }

}  // namespace iropt::onnx
