#include "iropt/eval/relax/wide_arithmetic.h"

#include <algorithm>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/element.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/runtime/map_tensors.h"

namespace iropt {

namespace {

constexpr DataType kWide = DataType::Float(32);

bool IsHalf(DataType dtype) { return dtype == DataType::Float(16) || dtype == DataType::BFloat(16); }

Tensor Converted(const Tensor& tensor, DataType dtype) {
  const std::shared_ptr<NDArray> made = NDArray::Make(dtype, tensor->shape());
  DispatchElement(tensor->dtype(), [&]<class From>(std::type_identity<From>) {
    DispatchElement(dtype, [&]<class To>(std::type_identity<To>) {
      std::ranges::transform(tensor->As<From>(), made->MutableAs<To>().begin(), [](From element) {
        return Element<To>::Store(static_cast<MathOf<To>>(Element<From>::Load(element)));
      });
    });
  });
  return made;
}

// The attributes with float32 for the dtype that results have.
const Attr* WideAttrs(const Call& call, const OpInfo& op) {
  const OpAttr* attr = op.FindAttr("out_dtype");
  if (!attr) attr = op.FindAttr("dtype");
  if (!attr) return call.attrs;
  const auto field = static_cast<uint32_t>(attr - op.attrs.data());
  const auto* record = To<ObjectAttr>(call.attrs);
  const auto* given = As<DTypeAttr>(record->values[field]);
  return given && IsHalf(given->value) ? record->With(field, DTypeAttr::Get(kWide)) : call.attrs;
}

// Floats as integers: their integer parts modulo 2^bits, 0 for infinities, NaN and what 64 bits do not hold.
Tensor Wrapped(const Tensor& tensor, DataType dtype) {
  const std::shared_ptr<NDArray> made = NDArray::Make(dtype, tensor->shape());
  DispatchElement(tensor->dtype(), [&]<class From>(std::type_identity<From>) {
    DispatchElement(dtype, [&]<class To>(std::type_identity<To>) {
      if constexpr (std::is_integral_v<To> && std::is_floating_point_v<MathOf<From>>) {
        std::ranges::transform(tensor->As<From>(), made->MutableAs<To>().begin(), [](From element) {
          To exact;
          if (ConvertElement(element, &exact)) return exact;
          int64_t whole = 0;
          return ConvertElement(element, &whole) ? static_cast<To>(whole) : To{0};
        });
      }
    });
  });
  return made;
}

// The conversion of a tensor of floats to integers; null if the call is not one.
Tensor AsIntegers(const Call& call, const OpInfo& op, std::span<const HostValue> args) {
  const auto* type = op.id == op::kAstype ? As<TensorType>(call.type) : nullptr;
  const auto* tensor = type && !args.empty() ? std::get_if<Tensor>(&args[0].state) : nullptr;
  if (!tensor || !IsElementType((*tensor)->dtype()) || !IsElementType(type->dtype)) return nullptr;
  const bool converts = (*tensor)->dtype().is_floating() && type->dtype.is_integer() && !type->dtype.is_bool();
  return converts ? Wrapped(*tensor, type->dtype) : nullptr;
}

}  // namespace

bool RoundsOnce(const Module& module) { return module.attrs()->Find(attr::kOnnxModel) != nullptr; }

Result<HostValue> ComputeWide(const Call& call, const OpInfo& op, std::span<const HostValue> args,
                              OperatorRunner::Compute compute) {
  if (Tensor integers = AsIntegers(call, op, args)) return HostValue(std::move(integers));
  bool has_half = false;
  for (const HostValue& arg : args)
    ForEachTensor(arg, [&](const Tensor& tensor) { has_half |= IsHalf(tensor->dtype()); });
  if (!has_half || op.id == op::kAstype || !HasKernel(op)) return compute(call.attrs, args);
  std::vector<DataType> dtypes;
  ForEachLeaf(call.type, [&](const Type* leaf) {
    const auto* tensor = As<TensorType>(leaf);
    dtypes.push_back(tensor ? tensor->dtype : DataType::Void());
  });
  // What the results are rounded to has to be known.
  if (std::ranges::find(dtypes, DataType::Void()) != dtypes.end()) return compute(call.attrs, args);
  std::vector<HostValue> wide;
  wide.reserve(args.size());
  for (const HostValue& arg : args) {
    wide.push_back(MapTensors(
        arg, [](const Tensor& tensor) { return IsHalf(tensor->dtype()) ? Converted(tensor, kWide) : tensor; }));
  }
  IROPT_ASSIGN_OR_RETURN(const HostValue result, compute(WideAttrs(call, op), wide));
  size_t next = 0;
  return MapTensors(result, [&](const Tensor& tensor) {
    const DataType dtype = next < dtypes.size() ? dtypes[next++] : DataType::Void();
    return tensor->dtype() == kWide && IsHalf(dtype) ? Converted(tensor, dtype) : tensor;
  });
}

}  // namespace iropt
