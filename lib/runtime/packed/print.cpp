// Formatting of values, and the packed functions that print and assert.
#include <fmt/format.h>

#include <charconv>

#include "builtins.h"
#include "iropt/ir/assertion.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The maximum number of elements that are printed.
constexpr int64_t kMostElements = 1000;

template <class T>
std::string ElementText(T element) {
  const MathOf<T> value = Element<T>::Load(element);
  if constexpr (std::is_same_v<MathOf<T>, bool>) return value ? "True" : "False";
  if constexpr (sizeof(MathOf<T>) == 1) return fmt::format("{}", static_cast<int>(value));
  return fmt::format("{}", value);
}

// Appends the elements from `first`, in nested brackets for the dimensions from `axis`.
template <class T>
void RenderElements(const NDArray& tensor, size_t axis, size_t first, std::string& out) {
  const std::span<const int64_t> shape = tensor.shape();
  if (axis == shape.size()) {
    out += ElementText(tensor.As<T>()[first]);
    return;
  }
  size_t stride = 1;
  for (const int64_t dim : shape.subspan(axis + 1)) stride *= static_cast<size_t>(dim);
  out += '[';
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (i != 0) out += ", ";
    WithStack([&] { RenderElements<T>(tensor, axis + 1, first + static_cast<size_t>(i) * stride, out); });
  }
  out += ']';
}

std::string RenderTensor(const NDArray& tensor) {
  std::string out;
  const std::string facts =
      fmt::format("tensor of shape ({}) and dtype {}", fmt::join(tensor.shape(), ", "), tensor.dtype().ToString());
  if (tensor.num_elements() > kMostElements) return '<' + facts + '>';
  if (const auto wide = Widened(tensor); wide && tensor.num_elements() != 0) return RenderTensor(*wide);
  const bool known = DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    if (tensor.num_elements() == 0) {
      out = '<' + facts + '>';
    } else {
      RenderElements<T>(tensor, 0, 0, out);
    }
  });
  return known ? out : '<' + facts + '>';
}

std::string RenderScalar(const Scalar& scalar) {
  if (scalar.dtype.is_floating()) return fmt::format("{}", scalar.real);
  if (scalar.dtype.is_bool()) return scalar.integer != 0 ? "True" : "False";
  return scalar.dtype.is_uint() ? fmt::format("{}", static_cast<uint64_t>(scalar.integer))
                                : fmt::format("{}", scalar.integer);
}

std::string RenderAll(std::span<const HostValue> values, std::string_view separator) {
  std::string out;
  for (const HostValue& value : values) {
    if (&value != values.data()) out += separator;
    out += WithStack([&] { return RenderValue(value); });
  }
  return out;
}

}  // namespace

std::string RenderValue(const HostValue& value) {
  if (const NDArray* tensor = value.tensor()) return RenderTensor(*tensor);
  if (const ShapeValue* shape = value.shape()) return fmt::format("({})", fmt::join(*shape, ", "));
  if (const Scalar* scalar = value.scalar()) return RenderScalar(*scalar);
  if (const TupleValue* tuple = value.tuple()) return '(' + RenderAll(tuple->fields, ", ") + ')';
  if (const auto* text = std::get_if<std::string>(&value.state)) return *text;
  if (const auto* dtype = std::get_if<DataType>(&value.state)) return dtype->ToString();
  if (const FunctionValue* function = value.function()) return fmt::format("<function {}>", function->name);
  return std::holds_alternative<std::monostate>(value.state) ? "None" : "<storage>";
}

Result<std::string> FormatValues(std::string_view format, std::span<const HostValue> values) {
  std::string out;
  size_t next = 0;
  const auto fail = [&](std::string_view why) {
    return Error{ErrorCode::SemanticCheck, fmt::format("invalid format '{}': {}", format, why)};
  };
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    const bool doubled = (c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c;
    if (c == '}' && !doubled) return fail("a '}' without a '{'");
    if (doubled || c != '{') {
      out += c;
      i += doubled ? 1 : 0;
      continue;
    }
    const size_t end = format.find('}', i);
    if (end == std::string_view::npos) return fail("a '{' without a '}'");
    const std::string_view field = format.substr(i + 1, end - i - 1);
    size_t index = next;
    const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), index);
    if (field.empty()) {
      ++next;
    } else if (error != std::errc() || stop != field.data() + field.size()) {
      return fail("a field is empty or a number");
    }
    if (index >= values.size()) return fail(fmt::format("there are {} values", values.size()));
    out += RenderValue(values[index]);
    i = end;
  }
  return out;
}

namespace packed {

namespace {

// (format, values). If there is no format, the values are joined.
Result<std::string> RenderMessage(const PackedCall& call, size_t format_operand, std::string_view separator) {
  IROPT_ASSIGN_OR_RETURN(const std::string_view format, call.StringArg(format_operand));
  const std::span<const HostValue> values = call.args().subspan(format_operand + 1);
  if (format.empty()) return RenderAll(values, separator);
  return FormatValues(format, values);
}

}  // namespace

Result<HostValue> PrintValues(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::string line, RenderMessage(call, 0, " "));
  call.context().Print(line);
  return HostValue();
}

// (condition, format, values)
Result<HostValue> AssertCondition(PackedCall& call) {
  const NDArray* tensor = call.num_args() == 0 ? nullptr : call.arg(0).tensor();
  const bool is_scalar_tensor = tensor && tensor->dtype().is_bool() && tensor->shape().empty();
  if (call.num_args() == 0 || (!call.arg(0).scalar() && !is_scalar_tensor))
    return call.Fail("the condition is not a boolean scalar");
  const std::optional<Scalar> value = tensor ? ScalarOf(*tensor) : *call.arg(0).scalar();
  if (value->ToDouble() != 0) return HostValue();
  IROPT_ASSIGN_OR_RETURN(const std::string message, RenderMessage(call, 1, ", "));
  return Error{ErrorCode::SemanticCheck, AssertionFailure(message)};
}

}  // namespace packed

}  // namespace iropt
