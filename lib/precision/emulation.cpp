#include "iropt/precision/emulation.h"

#include "iropt/runtime/map_tensors.h"

namespace iropt::precision {

namespace {

constexpr DataType kWide = DataType::Float(32);

// The rounded tensor, in new memory.
Tensor RoundTensor(const Tensor& tensor, const NumberFormat& format) {
  if (tensor->dtype() != kWide) return tensor;
  const std::shared_ptr<NDArray> rounded = NDArray::Make(kWide, tensor->shape());
  RoundTo(format, tensor->As<float>(), rounded->MutableAs<float>().data());
  return rounded;
}

}  // namespace

HostValue Rounded(const HostValue& value, const NumberFormat& format) {
  return MapTensors(value, [&](const Tensor& tensor) { return RoundTensor(tensor, format); });
}

HostValue Emulator::RoundedOperand(const Expr* operand, const HostValue& value) {
  const auto* constant = As<Constant>(operand);
  if (!constant) return Rounded(value, format_);
  const auto [found, is_new] = constants_.try_emplace(constant->data);
  if (is_new) found->second = Rounded(value, format_);
  return found->second;
}

Result<HostValue> Emulator::Run(const Call& call, const OpInfo& /*op*/, std::span<const HostValue> args,
                                Compute compute) {
  if (!calls_.contains(&call)) return compute(call.attrs, args);
  std::vector<HostValue> rounded;
  rounded.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i)
    rounded.push_back(RoundedOperand(call.args[static_cast<uint32_t>(i)], args[i]));
  IROPT_ASSIGN_OR_RETURN(const HostValue result, compute(call.attrs, rounded));
  return Rounded(result, format_);
}

}  // namespace iropt::precision
