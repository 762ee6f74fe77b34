#include "arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "iropt/analysis/tir/written_params.h"
#include "iropt/execution/outputs.h"
#include "iropt/execution/random_inputs.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/runtime/operand_reader.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

// Converts a tensor of a file to the kind of the input. Tensors of rank 0 may have the shape (1,) in files.
HostValue FromFile(const EntryInput& input, const Tensor& tensor) {
  const bool is_single = tensor->shape().size() <= 1 && tensor->num_elements() == 1;
  if (input.kind == EntryInput::Kind::kTensor && input.has_dims && input.dims.empty() && is_single)
    return NDArray::View(tensor->dtype(), std::span<const int64_t>(), tensor->data(), tensor);
  if (input.kind == EntryInput::Kind::kScalar && is_single) {
    if (const std::optional<Scalar> scalar = ScalarOf(*tensor)) return *scalar;
  }
  if (input.kind == EntryInput::Kind::kShape && tensor->shape().size() == 1) {
    if (Result<ShapeValue> shape = IntElements(OperandReader("", {}), *tensor); shape.ok()) return *std::move(shape);
  }
  return tensor;
}

// The value of a scalar by symbolic variables, of which a parameter of a PrimFunc may be one; null: any.
const PrimExpr* ValueBySymbols(const EntryInput& input) {
  if (input.scalar || input.kind != EntryInput::Kind::kScalar || !input.dtype.is_integer()) return input.scalar;
  return As<tir::Var>(input.at);
}

std::span<const int64_t> DimsOf(const HostValue& value) {
  if (const NDArray* tensor = value.tensor()) return tensor->shape();
  return value.shape() ? std::span<const int64_t>(*value.shape()) : std::span<const int64_t>();
}

}  // namespace

void ArgumentReader::Report(const EntryInput& input, std::string message) {
  compiler_.diagnostics().Error(Location(*input.at), "bad-input", std::move(message));
  failed_ = true;
}

// ---- Files

const EntryInput* ArgumentReader::FindInput(const std::string& name) const {
  const std::vector<EntryInput>& inputs = entry_.inputs();
  if (const auto it = std::ranges::find(inputs, name, &EntryInput::name); it != inputs.end()) return &*it;
  // The name of the parameter, where that is not the model's own one.
  const auto is_parameter = [&](const EntryInput& input) {
    const auto* param = As<Var>(input.at);
    return param != nullptr && param->name() == name && Is<TensorType>(param->type);
  };
  if (const auto it = std::ranges::find_if(inputs, is_parameter); it != inputs.end()) return &*it;
  std::string_view digits = name;
  for (const std::string_view prefix : {"arr_", "arg_"}) {
    if (digits.starts_with(prefix)) digits.remove_prefix(prefix.size());
  }
  size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && index < inputs.size() ? &inputs[index] : nullptr;
}

Status ArgumentReader::Place(const NamedTensor& named, const std::string& file) {
  const EntryInput* input = nullptr;
  if (named.name.empty()) {
    const auto free = std::ranges::find_if(entry_.inputs(), [&](const EntryInput& i) { return !IsGiven(i); });
    if (free != entry_.inputs().end()) input = &*free;
  } else {
    input = FindInput(named.name);
  }
  if (input && !IsGiven(*input)) {
    ValueOf(*input) = FromFile(*input, named.tensor);
    return {};
  }
  std::vector<std::string_view> names;
  for (const EntryInput& i : entry_.inputs()) names.push_back(i.name);
  std::string message = fmt::format("{}: ", file);
  if (input) {
    message += fmt::format("a second value for parameter '{}'", input->name);
  } else {
    message += fmt::format("tensor '{}' ({}) is not an input of '{}'", named.name,
                           TypeToString(TypeOfTensor(*named.tensor)), entry_.name());
    message += DidYouMean(named.name, names);
  }
  compiler_.diagnostics()
      .Error(Location(entry_.function()), "bad-input", std::move(message))
      .Note(names.empty() ? "it has no inputs" : fmt::format("its inputs are {}", fmt::join(names, ", ")));
  failed_ = true;
  return {};
}

Status ArgumentReader::ReadFiles() {
  for (const std::string& file : options_.inputs) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors, ReadTensors(file));
    for (const NamedTensor& named : tensors) IROPT_RETURN_IF_ERROR(Place(named, file));
  }
  return {};
}

// ---- Sizes

Status ArgumentReader::ReadSymbols() {
  const std::vector<std::pair<std::string_view, const tir::Var*>> stated = StatedDims(entry_.function());
  for (const std::string& text : options_.sym) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string digits = equals == std::string::npos ? "" : text.substr(equals + 1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || value < 0)
      return Error{ErrorCode::Usage, fmt::format("flag '-sym' takes NAME=SIZE, such as n=16, not '{}'", text)};
    std::vector<const tir::Var*> vars = entry_.symbols();
    for (const EntryInput& input : entry_.inputs()) {
      const auto* param = input.scalar ? nullptr : As<tir::Var>(ValueBySymbols(input));
      if (param) vars.push_back(param);
    }
    std::vector<std::string_view> names;
    bool found = false;
    for (const tir::Var* var : vars) {
      // The model's name may be no identifier.
      const auto own = std::ranges::find(stated, var, [](const auto& dim) { return dim.second; });
      names.push_back(own == stated.end() ? std::string_view(var->name) : own->first);
      if (var->name != name && names.back() != name) continue;
      Scalar converted;
      if (!ConvertArgument(Scalar::Int(value), var->dtype, &converted))
        return Error{ErrorCode::Usage, fmt::format("flag '-sym={}': '{}' is of {}, which does not hold the value", text,
                                                   name, var->dtype.ToString())};
      if (!symbols_.Find(var)) symbols_.Bind(var, value);
      found = true;
    }
    if (found) continue;
    return Error{ErrorCode::Usage, fmt::format("'{}' has no symbolic variable '{}'; it has {}", entry_.name(), name,
                                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
  }
  return {};
}

// ---- Checks

std::optional<int64_t> ArgumentReader::Contradicted(const EntryInput& input) {
  const PrimExpr* by_symbols = ValueBySymbols(input);
  const std::optional<int64_t> expected = by_symbols ? symbols_.EvalInt(by_symbols) : std::nullopt;
  const Scalar* given = ValueOf(input).scalar();
  const bool is_other = expected && given && given->dtype == input.dtype && given->integer != *expected;
  return is_other ? expected : std::nullopt;
}

bool ArgumentReader::Fits(const EntryInput& input, const HostValue& value) {
  using Kind = EntryInput::Kind;
  if (input.kind == Kind::kScalar)
    return value.scalar() && value.scalar()->dtype == input.dtype && !Contradicted(input);
  const bool is_kind = input.kind == Kind::kTensor ? value.tensor() != nullptr : value.shape() != nullptr;
  if (input.kind == Kind::kOther || !is_kind) return false;
  if (value.tensor() && !input.dtype.is_void() && value.tensor()->dtype() != input.dtype) return false;
  if (!input.has_dims) return true;
  return std::ranges::equal(DimsOf(value), input.dims, [&](int64_t dim, const PrimExpr* expr) {
    return symbols_.EvalInt(expr).value_or(dim) == dim;
  });
}

// Symbolic variables that are a whole dimension, or a scalar, are bound by all inputs before the checks.
void ArgumentReader::CheckGiven() {
  for (const EntryInput& input : entry_.inputs()) {
    const Scalar* scalar = ValueOf(input).scalar();
    const auto* scalar_var = scalar ? As<tir::Var>(ValueBySymbols(input)) : nullptr;
    if (scalar_var && scalar->dtype == input.dtype && !symbols_.Find(scalar_var))
      symbols_.Bind(scalar_var, scalar->integer);
    const std::span<const int64_t> dims = DimsOf(ValueOf(input));
    if (!IsGiven(input) || dims.size() != input.dims.size()) continue;
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto* var = As<tir::Var>(input.dims[i]);
      if (var && !symbols_.Find(var)) symbols_.Bind(var, dims[i]);
    }
  }
  for (const EntryInput& input : entry_.inputs()) {
    if (!IsGiven(input) || Fits(input, ValueOf(input))) continue;
    if (const std::optional<int64_t> expected = Contradicted(input)) {
      Report(input,
             fmt::format("input '{}' is {}, expected {}", input.name, ValueOf(input).scalar()->integer, *expected));
      continue;
    }
    std::string known;
    for (const auto& [var, value] : symbols_.entries())
      known += fmt::format("{}{} = {}", known.empty() ? " with " : ", ", var->name, value);
    const bool mentions = std::ranges::any_of(input.dims, [](const PrimExpr* dim) { return !Is<tir::IntImm>(dim); });
    Report(input, fmt::format("input '{}' is {}, expected {}{}", input.name, TypeToString(TypeOfValue(ValueOf(input))),
                              DescribeInput(input), mentions ? known : ""));
  }
}

// ---- Random inputs

void ArgumentReader::MakeMissing(const EvalLimits& limits, Storage::Tracking tracking) {
  for (const tir::Var* var : entry_.symbols()) {
    if (options_.other_sizes && !symbols_.Find(var)) symbols_.Bind(var, *options_.other_sizes);
  }
  // An output that the passes left without a store has a value before.
  std::vector<bool> needs_values;
  if (options_.random_inputs && entry_.prim()) {
    const std::vector<bool> written = WrittenParams(*entry_.prim());
    needs_values = ParamsReadFirst(*entry_.prim());
    for (size_t i = 0; i < written.size(); ++i) needs_values[i] = needs_values[i] || !written[i];
  }
  for (const EntryInput& input : entry_.inputs()) {
    if (IsGiven(input)) continue;
    const bool needs_value = input.param < needs_values.size() && needs_values[input.param];
    const bool is_output = input.is_written && !needs_value;
    if (input.kind == EntryInput::Kind::kOther || (!is_output && !options_.random_inputs)) {
      Report(input, fmt::format("no input for parameter '{}': expected {}", input.name, DescribeInput(input)));
      continue;
    }
    if (input.kind == EntryInput::Kind::kScalar) {
      const PrimExpr* by_symbols = ValueBySymbols(input);
      const std::optional<Scalar> scalar = by_symbols ? symbols_.Eval(by_symbols) : std::nullopt;
      Scalar made = scalar ? *scalar : Scalar::Int(1);
      if (!CastScalar(made, input.dtype, &made)) made = Scalar::Int(1, input.dtype);
      ValueOf(input) = made;
      continue;
    }
    std::vector<int64_t> dims;
    for (const PrimExpr* dim : input.dims) {
      const std::optional<int64_t> size = symbols_.EvalInt(dim);
      if (!size) {
        Report(input, fmt::format("the size {} of parameter '{}' is unknown; set it with -sym, such as -sym=n=16",
                                  DimToString(dim), input.name));
        break;
      }
      dims.push_back(*size);
    }
    if (dims.size() != input.dims.size()) continue;
    if (!input.has_dims) {
      Report(input, fmt::format("cannot generate a random input for parameter '{}': its shape is unknown; -inputs=FILE "
                                "gives it a value",
                                input.name));
      continue;
    }
    if (input.kind == EntryInput::Kind::kShape) {
      ValueOf(input) = ShapeValue(dims);
      continue;
    }
    Result<Tensor> tensor =
        AllocateTensor({input.dtype.is_void() ? DataType::Float(32) : input.dtype, dims}, tracking, limits);
    if (!tensor.ok()) {
      code_ = tensor.error().code;
      Report(input, fmt::format("parameter '{}': {}", input.name, tensor.error().message));
    } else {
      is_allocated_[static_cast<size_t>(&input - entry_.inputs().data())] = is_output;
      ValueOf(input) = is_output ? *std::move(tensor)
                                 : MakeRandomTensor((*tensor)->dtype(), dims, RandomSourceOf(input, options_.seed));
    }
  }
}

Result<std::vector<HostValue>> ArgumentReader::Read(const EvalLimits& limits, Storage::Tracking tracking) {
  IROPT_RETURN_IF_ERROR(ReadFiles());
  IROPT_RETURN_IF_ERROR(ReadSymbols());
  CheckGiven();
  MakeMissing(limits, tracking);
  if (failed_) return Failure{code_};
  return std::move(values_);
}

// A parameter whose name another one has already is named by its position.
std::vector<NamedTensor> ArgumentReader::ForFile(const std::vector<HostValue>& values) const {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_allocated_[i]) continue;
    const EntryInput& input = entry_.inputs()[i];
    const bool is_known = FindInput(input.name) == &input;
    const std::string name = is_known ? input.name : fmt::format("arg_{}", i);
    ForEachNamedTensor(values[i], name, [&](const std::string&, const Tensor& tensor) {
      tensors.push_back({name, tensor});
    });
  }
  return tensors;
}

}  // namespace iropt
