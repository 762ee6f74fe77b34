#include "arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/ir/dlpack.h"
#include "iropt/runtime/tensor_size.h"

namespace iropt::codegen {

namespace {

class ArgumentBinder {
 public:
  explicit ArgumentBinder(const Signature& signature) : signature_(signature), slots_(signature.num_slots()) {}

  Result<std::vector<uint64_t>> Bind(std::span<const LoopArg> args) {
    if (args.size() != signature_.params.size()) {
      return Error{ErrorCode::SemanticCheck,
                   fmt::format("expected {} arguments, got {}", signature_.params.size(), args.size())};
    }
    // Scalars are bound first, then dimensions that are variables: other dimensions may be computed from them.
    for (size_t i = 0; i < args.size(); ++i) {
      if (!signature_.params[i].buffer) IROPT_RETURN_IF_ERROR(BindNumber(signature_.params[i], args[i]));
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (signature_.params[i].buffer) IROPT_RETURN_IF_ERROR(BindTensor(signature_.params[i], args[i]));
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (signature_.params[i].buffer)
        IROPT_RETURN_IF_ERROR(CheckTensor(*signature_.params[i].buffer, *args[i].tensor));
    }
    for (size_t i = 0; i < signature_.symbols.size(); ++i) {
      const Scalar* value = evaluator_.env().Find(signature_.symbols[i]);
      slots_[signature_.first_symbol + i] = value ? static_cast<uint64_t>(value->integer) : 0;
    }
    return std::move(slots_);
  }

 private:
  static Error Mismatch(std::string message) { return {ErrorCode::SemanticCheck, std::move(message)}; }

  Status BindNumber(const Signature::Param& param, const LoopArg& arg) {
    if (param.is_pointer()) {
      if (arg.kind != LoopArg::Kind::kPointer)
        return Mismatch(fmt::format("parameter '{}' requires a pointer", param.var->name));
      // The size of the memory is unknown, so accesses through the pointer are not checked.
      slots_[param.slot] = reinterpret_cast<uint64_t>(arg.pointer);
      slots_[param.slot + 1] = INT64_MAX;
      return {};
    }
    Scalar value;
    const Scalar given = arg.kind == LoopArg::Kind::kFloat ? Scalar::Float(arg.real) : Scalar::Int(arg.integer);
    const bool is_number = arg.kind == LoopArg::Kind::kFloat || arg.kind == LoopArg::Kind::kInt;
    if (!is_number || !ConvertArgument(given, param.var->dtype, &value))
      return Mismatch(fmt::format("parameter '{}' requires a number that its dtype can represent", param.var->name));
    evaluator_.env().Bind(param.var, value);
    slots_[param.slot] =
        value.dtype.is_floating() ? std::bit_cast<uint64_t>(value.real) : static_cast<uint64_t>(value.integer);
    return {};
  }

  Status BindTensor(const Signature::Param& param, const LoopArg& arg) {
    const tir::Buffer& buffer = *param.buffer;
    if (arg.kind != LoopArg::Kind::kTensor || !arg.tensor)
      return Mismatch(fmt::format("buffer '{}' requires a tensor", buffer.name));
    const LoopTensor& tensor = *arg.tensor;
    if (tensor.code != DLPackCode(buffer.dtype.code) || tensor.bits != buffer.dtype.bits ||
        tensor.lanes != buffer.dtype.lanes) {
      return Mismatch(fmt::format("buffer '{}' has dtype {}, but its argument has type code {}, {} bits and {} lanes",
                                  buffer.name, buffer.dtype.ToString(), tensor.code, tensor.bits, tensor.lanes));
    }
    if (tensor.ndim < 0 || static_cast<size_t>(tensor.ndim) != buffer.shape.size())
      return Mismatch(fmt::format("buffer '{}' has {} dimensions, but its argument has {}", buffer.name,
                                  buffer.shape.size(), tensor.ndim));
    IROPT_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(buffer, tensor));
    const uint64_t address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byte_offset;
    if (bytes > 0 && address % static_cast<uint64_t>(buffer.dtype.with_lanes(1).bytes()) != 0)
      return Mismatch(fmt::format("the elements of the argument for buffer '{}' are not aligned", buffer.name));
    slots_[param.slot] = address;
    slots_[param.slot + 1] = static_cast<uint64_t>(bytes);
    for (size_t i = 0; i < buffer.shape.size(); ++i)
      IROPT_RETURN_IF_ERROR(BindSymbol(buffer.shape[i], tensor.shape[i]));
    for (size_t i = 0; i < buffer.strides.size(); ++i)
      IROPT_RETURN_IF_ERROR(BindSymbol(buffer.strides[i], StrideOf(tensor, i)));
    // The slot has the address of the first element, so the offset is 0.
    return buffer.elem_offset ? BindSymbol(buffer.elem_offset, 0) : Status();
  }

  // A tensor without strides is row-major.
  static int64_t StrideOf(const LoopTensor& tensor, size_t dim) {
    if (tensor.strides) return tensor.strides[dim];
    int64_t stride = 1;
    for (size_t i = dim + 1; i < static_cast<size_t>(tensor.ndim); ++i) stride *= std::max<int64_t>(tensor.shape[i], 1);
    return stride;
  }

  // The size in bytes from the first element to the end of the last one.
  Result<int64_t> BytesOf(const tir::Buffer& buffer, const LoopTensor& tensor) {
    const int64_t element = buffer.dtype.with_lanes(1).bytes() * buffer.dtype.lanes;
    int64_t count = 1;
    int64_t last = 0;
    for (int32_t i = 0; i < tensor.ndim; ++i) {
      if (tensor.shape[i] < 0 || __builtin_mul_overflow(count, tensor.shape[i], &count))
        return Mismatch(fmt::format("the shape of the argument for buffer '{}' is out of range", buffer.name));
    }
    if (count == 0) return 0;
    int64_t compact = 1;
    for (int32_t i = tensor.ndim; i-- > 0; compact *= tensor.shape[i]) {
      const int64_t stride = tensor.strides ? tensor.strides[i] : compact;
      if (buffer.strides.empty() && stride != compact && tensor.shape[i] != 1)
        return Mismatch(fmt::format("buffer '{}' requires a compact tensor", buffer.name));
      int64_t reach = 0;
      if (stride < 0 || __builtin_mul_overflow(tensor.shape[i] - 1, stride, &reach) ||
          __builtin_add_overflow(last, reach, &last))
        return Mismatch(fmt::format("the strides of the argument for buffer '{}' are out of range", buffer.name));
    }
    int64_t bytes = 0;
    if (__builtin_mul_overflow(last + 1, element, &bytes))
      return Mismatch(fmt::format("the argument for buffer '{}' is out of range", buffer.name));
    return bytes;
  }

  // Binds a variable without a value to the actual value.
  Status BindSymbol(const PrimExpr* expr, int64_t actual) {
    const auto* var = As<tir::Var>(expr);
    if (!var || evaluator_.env().Find(var)) return {};
    Scalar value;
    if (!CastScalar(Scalar::Int(actual), var->dtype, &value) || value.integer != actual)
      return Mismatch(fmt::format("{} is out of range for variable '{}'", actual, var->name));
    evaluator_.env().Bind(var, value);
    return {};
  }

  Status CheckTensor(const tir::Buffer& buffer, const LoopTensor& tensor) {
    for (size_t i = 0; i < buffer.shape.size(); ++i)
      IROPT_RETURN_IF_ERROR(Match(buffer.shape[i], tensor.shape[i], "dimension", i, buffer));
    for (size_t i = 0; i < buffer.strides.size(); ++i)
      IROPT_RETURN_IF_ERROR(Match(buffer.strides[i], StrideOf(tensor, i), "stride", i, buffer));
    return {};
  }

  Status Match(const PrimExpr* expr, int64_t actual, const char* what, size_t index, const tir::Buffer& buffer) {
    const auto* constant = As<tir::IntImm>(expr);
    int64_t expected = constant ? constant->value : 0;
    if (!constant && !evaluator_.EvalInt(expr, &expected)) return evaluator_.error();
    if (expected == actual) return {};
    return Mismatch(fmt::format("{} {} of buffer '{}' is {}, expected {}", what, index, buffer.name, actual, expected));
  }

  const Signature& signature_;
  std::vector<uint64_t> slots_;
  ScalarEvaluator evaluator_;
};

LoopArg ArgOf(const Scalar& scalar) {
  return scalar.dtype.is_floating() ? LoopArg::Float(scalar.real) : LoopArg::Int(scalar.integer);
}

}  // namespace

Result<std::vector<uint64_t>> BindArguments(const Signature& signature, std::span<const LoopArg> args) {
  return ArgumentBinder(signature).Bind(args);
}

LoopTensor DescribeTensor(const NDArray& tensor, void* data) {
  LoopTensor described;
  described.data = data;
  described.ndim = static_cast<int32_t>(tensor.shape().size());
  described.code = static_cast<uint8_t>(DLPackCode(tensor.dtype().code));
  described.bits = tensor.dtype().bits;
  described.lanes = static_cast<uint16_t>(tensor.dtype().lanes);
  described.shape = tensor.shape().data();
  return described;
}

Result<std::vector<Tensor>> CallWithValues(const CompiledFunction& function, std::span<const HostValue> inputs,
                                           std::span<const OutputSpec> outputs, std::span<const int64_t> tir_vars,
                                           const LoopCallOptions& options) {
  std::vector<LoopTensor> tensors;
  tensors.reserve(inputs.size() + outputs.size());  // the arguments point into it
  std::vector<std::shared_ptr<NDArray>> copies;
  std::vector<LoopArg> args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (const Scalar* scalar = inputs[i].scalar()) {
      args.push_back(ArgOf(*scalar));
      continue;
    }
    const NDArray* tensor = inputs[i].tensor();
    if (!tensor) return Error{ErrorCode::SemanticCheck, fmt::format("argument {} is neither a tensor nor a scalar", i)};
    // Inputs that the function may write to are copied.
    const std::byte* data = tensor->data();
    if (function.MayWrite(i)) {
      copies.push_back(NDArray::Make(tensor->dtype(), {tensor->shape().begin(), tensor->shape().end()}));
      std::copy_n(data, tensor->num_bytes(), copies.back()->mutable_data());
      data = copies.back()->data();
    }
    tensors.push_back(DescribeTensor(*tensor, const_cast<std::byte*>(data)));
    args.push_back(LoopArg::Tensor(&tensors.back()));
  }
  std::vector<Tensor> results;
  for (const OutputSpec& output : outputs) {
    IROPT_RETURN_IF_ERROR(TensorBytes(output.dtype, output.shape, options.max_bytes));
    const std::shared_ptr<NDArray> result = NDArray::Make(output.dtype, output.shape);
    tensors.push_back(DescribeTensor(*result, result->mutable_data()));
    args.push_back(LoopArg::Tensor(&tensors.back()));
    results.push_back(result);
  }
  for (const int64_t value : tir_vars) args.push_back(LoopArg::Int(value));
  IROPT_RETURN_IF_ERROR(function.Call(args, options));
  return results;
}

}  // namespace iropt::codegen
