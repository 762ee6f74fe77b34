// Bindings of operators and calls. Each function writes one kind of them, or returns false if it does not apply.
#include <algorithm>
#include <string_view>

#include "body_writer.h"

namespace iropt::generate {

namespace {

using Names = std::vector<std::string>;

bool IsTensor(const Value& v) { return !v.type.is_tuple(); }
bool IsFloat(const Value& v) { return v.type.is_float(); }
bool IsExactFloat(const Value& v) { return v.type.is_float() && v.traits.is_exact; }
bool IsNumber(const Value& v) { return v.type.is_float() || v.type.is_int(); }
bool HasAxes(const Value& v) { return IsTensor(v) && v.type.ndim() > 0; }

Traits Both(const Traits& a, const Traits& b) { return {a.is_exact && b.is_exact, a.is_small && b.is_small}; }
Traits Large(const Traits& a) { return {a.is_exact, false}; }

Type WithDims(const Type& type, Dims dims) { return {type.dtype, std::move(dims)}; }
Type WithDtype(const Type& type, std::string dtype) { return {std::move(dtype), type.dims}; }

std::string ScalarConstant(Choices& choices, const std::string& dtype) {
  static constexpr std::string_view kFloats[] = {"0.5", "-1.25", "2.0", "0.0", "1.0"};
  static constexpr std::string_view kInts[] = {"1", "-2", "3", "0"};
  if (dtype == "bool") return fmt::format("R.const({}, \"bool\")", choices.OneIn(2) ? "True" : "False");
  return fmt::format("R.const({}, \"{}\")", dtype.starts_with("float") ? choices.Pick(kFloats) : choices.Pick(kInts),
                     dtype);
}

// Nested lists of numbers.
std::string ListText(Choices& choices, const Dims& dims, size_t axis, bool is_float) {
  if (axis == dims.size()) return fmt::format("{}{}", choices.Below(5) - 2, is_float ? ".5" : "");
  Names items;
  for (int64_t i = 0; i < dims[axis].offset; ++i) items.push_back(ListText(choices, dims, axis + 1, is_float));
  return fmt::format("[{}]", Join(items));
}

std::string Constant(Choices& choices, const Type& type) {
  return fmt::format("R.const({}, \"{}\")", ListText(choices, type.dims, 0, type.is_float()), type.dtype);
}

// An operand that is broadcast with the value, and the shape of both.
struct Operand {
  std::string text;
  Dims dims;
  Traits traits;
};

Operand FindOperand(BodyWriter& body, const Value& value) {
  Choices& choices = body.choices();
  const int kind = choices.Below(6);
  if (kind == 0) return {ScalarConstant(choices, value.type.dtype), value.type.dims, {}};
  if (kind == 1 && value.type.dtype != "bool" && value.type.ndim() > 0 && value.type.dims.back().is_static()) {
    return {Constant(choices, WithDims(value.type, {value.type.dims.back()})), value.type.dims, {}};
  }
  const Value* other = body.Find([&](const Value& v) {
    return v.type.dtype == value.type.dtype && BroadcastShapes(value.type.dims, v.type.dims).has_value();
  });
  return {other->name, *BroadcastShapes(value.type.dims, other->type.dims), other->traits};
}

bool WriteUnary(BodyWriter& body) {
  static constexpr std::string_view kBounded[] = {"tanh", "sigmoid", "sin", "cos", "erf"};
  static constexpr std::string_view kMonotone[] = {"nn.relu", "negative", "abs", "nn.gelu", "nn.silu"};
  static constexpr std::string_view kSteep[] = {"exp",   "sqrt", "square", "floor", "ceil",
                                                "round", "sign", "log",    "rsqrt"};
  const Value* value = body.Find(IsFloat);
  if (!value) return false;
  const int kind = body.choices().Below(value->traits.is_exact ? 3 : 2);
  const std::string_view op = kind == 0   ? body.choices().Pick(kBounded)
                              : kind == 1 ? body.choices().Pick(kMonotone)
                                          : body.choices().Pick(kSteep);
  const Traits traits{value->traits.is_exact, kind == 0 || (kind == 1 && value->traits.is_small)};
  body.Bind(fmt::format("R.{}({})", op, value->name), value->type, traits);
  return true;
}

bool WriteBinary(BodyWriter& body) {
  static constexpr std::string_view kSums[] = {"add", "subtract"};
  static constexpr std::string_view kExtremes[] = {"maximum", "minimum"};
  static constexpr std::string_view kProducts[] = {"multiply", "multiply", "divide"};
  const Value* found = body.Find(IsNumber);
  if (!found) return false;
  const Value value = *found;
  const Operand other = FindOperand(body, value);
  const Traits both = Both(value.traits, other.traits);
  std::string_view op;
  Traits traits = Large(both);
  const int kind = body.choices().Below(3);
  if (kind == 0) {
    op = body.choices().Pick(kExtremes);
    traits = both;
  } else if (kind == 1 && (both.is_exact || both.is_small)) {
    op = value.type.is_int() || !both.is_exact ? std::string_view("multiply") : body.choices().Pick(kProducts);
  } else {
    op = body.choices().Pick(kSums);
  }
  const bool swaps = body.choices().OneIn(3);
  body.Bind(fmt::format("R.{}({}, {})", op, swaps ? other.text : value.name, swaps ? value.name : other.text),
            WithDims(value.type, other.dims), traits);
  return true;
}

bool WriteComparison(BodyWriter& body) {
  static constexpr std::string_view kOps[] = {"greater", "less", "equal", "greater_equal", "less_equal", "not_equal"};
  const Value* found = body.Find([](const Value& v) { return IsNumber(v) && v.traits.is_exact; });
  if (!found) return false;
  const Value value = *found;
  const Operand other = FindOperand(body, value);
  if (!other.traits.is_exact) return false;
  body.Bind(fmt::format("R.{}({}, {})", body.choices().Pick(kOps), value.name, other.text), {"bool", other.dims}, {});
  return true;
}

bool WriteLogical(BodyWriter& body) {
  static constexpr std::string_view kOps[] = {"logical_and", "logical_or", "logical_xor"};
  const Value* found = body.Find([](const Value& v) { return v.type.dtype == "bool"; });
  if (!found) return false;
  const Value value = *found;
  const Operand other = FindOperand(body, value);
  if (body.choices().OneIn(4)) {
    body.Bind(fmt::format("R.logical_not({})", value.name), value.type, {});
  } else {
    body.Bind(fmt::format("R.{}({}, {})", body.choices().Pick(kOps), value.name, other.text), {"bool", other.dims}, {});
  }
  return true;
}

bool WriteWhere(BodyWriter& body) {
  const Value* found = body.Find([](const Value& v) { return v.type.dtype == "bool"; });
  if (!found) return false;
  const Value condition = *found;
  const Value* first = body.Find(
      [&](const Value& v) { return IsNumber(v) && BroadcastShapes(v.type.dims, condition.type.dims).has_value(); });
  if (!first) return false;
  const Value value = *first;
  const Operand other = FindOperand(body, value);
  const std::optional<Dims> dims = BroadcastShapes(other.dims, condition.type.dims);
  if (!dims) return false;
  body.Bind(fmt::format("R.where({}, {}, {})", condition.name, value.name, other.text), WithDims(value.type, *dims),
            Both(value.traits, other.traits));
  return true;
}

bool WriteCast(BodyWriter& body) {
  const Value* value = body.Find(IsTensor);
  if (!value) return false;
  Names dtypes = {"float32", "float16", "float64"};
  if (value->type.dtype == "bool" || value->type.is_int()) dtypes = {"float32", "int32", "int64"};
  if (!value->traits.is_small) std::erase(dtypes, "float16");
  const std::string dtype = body.choices().Pick(dtypes);
  body.Bind(fmt::format("R.astype({}, dtype=\"{}\")", value->name, dtype), WithDtype(value->type, dtype),
            value->traits);
  return true;
}

// To a narrow dtype and back.
bool WriteCastPair(BodyWriter& body) {
  const Value* found = body.Find([](const Value& v) { return v.type.dtype == "float32" && v.traits.is_small; });
  if (!found) return false;
  const Value value = *found;
  const Value narrow = body.Bind(fmt::format("R.astype({}, dtype=\"float16\")", value.name),
                                 WithDtype(value.type, "float16"), value.traits);
  body.Bind(fmt::format("R.astype({}, dtype=\"float32\")", narrow.name), value.type, value.traits);
  return true;
}

bool WriteReduction(BodyWriter& body) {
  static constexpr std::string_view kOps[] = {"max", "min", "mean", "sum", "prod", "variance", "std"};
  const Value* value = body.Find([](const Value& v) { return HasAxes(v) && (IsFloat(v) || v.type.dtype == "int32"); });
  if (!value) return false;
  Names ops = {"max", "min", "sum"};
  if (value->type.is_float()) ops.emplace_back("mean");
  if (IsExactFloat(*value)) ops.assign(std::begin(kOps), std::end(kOps));
  const std::string op = body.choices().Pick(ops);
  const bool keeps = body.choices().OneIn(2);
  const int axis = body.choices().Below(value->type.ndim() + 1);
  Dims dims = value->type.dims;
  const bool is_total = axis == value->type.ndim();
  for (int i = value->type.ndim(); i-- > 0;) {
    if (!is_total && i != axis) continue;
    if (keeps)
      dims[static_cast<size_t>(i)] = Dim::Of(1);
    else
      dims.erase(dims.begin() + i);
  }
  const Traits traits = op == "max" || op == "min" || op == "mean" ? value->traits : Large(value->traits);
  body.Bind(fmt::format("R.{}({}, axis={}, keepdims={})", op, value->name,
                        is_total ? "None" : fmt::format("[{}]", axis), keeps ? "True" : "False"),
            WithDims(value->type, dims), traits);
  return true;
}

bool WriteAlongAxis(BodyWriter& body) {
  const Value* value = body.Find([](const Value& v) { return HasAxes(v) && IsFloat(v); });
  if (!value) return false;
  const int axis = body.choices().Below(value->type.ndim());
  switch (body.choices().Below(3)) {
    case 0:
      body.Bind(fmt::format("R.nn.softmax({}, axis={})", value->name, axis), value->type,
                {value->traits.is_exact, true});
      break;
    case 1:
      body.Bind(fmt::format("R.cumsum({}, axis={})", value->name, axis), value->type, Large(value->traits));
      break;
    default: body.Bind(fmt::format("R.flip({}, axis={})", value->name, axis), value->type, value->traits); break;
  }
  return true;
}

// Another shape with the same number of elements; the same one if there is none.
Dims Regroup(Choices& choices, Dims dims) {
  const auto position = static_cast<size_t>(choices.Below(static_cast<int>(dims.size()) + 1));
  if (position + 1 < dims.size()) {
    if (const std::optional<Dim> product = Product(dims[position], dims[position + 1])) {
      dims[position] = *product;
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(position) + 1);
      return dims;
    }
  }
  const auto place = dims.begin() + static_cast<std::ptrdiff_t>(position);
  if (place != dims.end() && place->is_static() && place->offset % 2 == 0) {
    place->offset /= 2;
    dims.insert(place, Dim::Of(2));
  } else {
    dims.insert(place, Dim::Of(1));
  }
  return dims;
}

bool WriteReshape(BodyWriter& body) {
  const Value* value = body.Find([](const Value& v) { return IsTensor(v) && v.type.ndim() < 5; });
  if (!value) return false;
  if (body.choices().OneIn(5)) {
    const Value operand = *value;
    const std::string shape = body.BindHidden(fmt::format("R.shape_of({})", operand.name));
    body.Bind(fmt::format("R.reshape({}, {})", operand.name, shape), operand.type, operand.traits);
    return true;
  }
  const Dims dims = Regroup(body.choices(), value->type.dims);
  body.Bind(fmt::format("R.reshape({}, {})", value->name, ShapeText(dims)), WithDims(value->type, dims), value->traits);
  return true;
}

bool WritePermute(BodyWriter& body) {
  const Value* value = body.Find([](const Value& v) { return IsTensor(v) && v.type.ndim() > 1; });
  if (!value) return false;
  const int ndim = value->type.ndim();
  const int shift = 1 + body.choices().Below(ndim - 1);
  Dims dims;
  Names axes;
  for (int i = 0; i < ndim; ++i) {
    dims.push_back(value->type.dims[static_cast<size_t>((i + shift) % ndim)]);
    axes.push_back(std::to_string((i + shift) % ndim));
  }
  body.Bind(fmt::format("R.permute_dims({}, axes=[{}])", value->name, Join(axes)), WithDims(value->type, dims),
            value->traits);
  return true;
}

// A transposition, perhaps with its inverse.
bool WriteLayoutTransform(BodyWriter& body) {
  const Value* found = body.Find([](const Value& v) { return IsTensor(v) && v.type.ndim() == 2; });
  if (!found) return false;
  const auto transpose = [&](const Value& value) {
    return body.Bind(fmt::format("R.layout_transform({}, index_map=T.index_map(lambda i, j: (j, i)), pad_value=None, "
                                 "axis_separators=[], input_axis_separators=[])",
                                 value.name),
                     WithDims(value.type, {value.type.dims[1], value.type.dims[0]}), value.traits);
  };
  const Value once = transpose(Value(*found));
  if (body.choices().OneIn(2)) transpose(once);
  return true;
}

bool WriteOneAxis(BodyWriter& body) {
  const Value* value = body.Find([](const Value& v) { return IsTensor(v) && v.type.ndim() < 5; });
  if (!value) return false;
  Dims dims = value->type.dims;
  const auto one = std::ranges::find_if(dims, [](const Dim& dim) { return dim.is(1); });
  if (one != dims.end()) {
    const auto axis = one - dims.begin();
    dims.erase(one);
    body.Bind(fmt::format("R.squeeze({}, axis=[{}])", value->name, axis), WithDims(value->type, dims), value->traits);
    return true;
  }
  const int axis = body.choices().Below(value->type.ndim() + 1);
  dims.insert(dims.begin() + axis, Dim::Of(1));
  body.Bind(fmt::format("R.expand_dims({}, axis=[{}])", value->name, axis), WithDims(value->type, dims), value->traits);
  return true;
}

bool WriteRepeated(BodyWriter& body) {
  const Value* value = body.Find(HasAxes);
  if (!value) return false;
  const int axis = body.choices().Below(value->type.ndim());
  Dims dims = value->type.dims;
  if (body.choices().OneIn(3) && value->type.ndim() < 4) {
    dims.insert(dims.begin(), Dim::Of(2));
    body.Bind(fmt::format("R.broadcast_to({}, {})", value->name, ShapeText(dims)), WithDims(value->type, dims),
              value->traits);
    return true;
  }
  Dim& dim = dims[static_cast<size_t>(axis)];
  if (dim.is_static() && dim.offset > 16) return false;
  dim = *Product(dim, Dim::Of(2));
  body.Bind(fmt::format("R.repeat({}, repeats=2, axis={})", value->name, axis), WithDims(value->type, dims),
            value->traits);
  return true;
}

bool WriteConcat(BodyWriter& body) {
  const Value* found = body.Find(HasAxes);
  if (!found) return false;
  const Value a = *found;
  const auto axis = static_cast<size_t>(body.choices().Below(a.type.ndim()));
  const auto joined = [&](const Value& v) -> std::optional<Dims> {
    if (v.type.dtype != a.type.dtype || v.type.ndim() != a.type.ndim()) return std::nullopt;
    const std::optional<Dim> sum = Sum(a.type.dims[axis], v.type.dims[axis]);
    if (!sum || (sum->is_static() && sum->offset > 32)) return std::nullopt;
    Dims dims = a.type.dims;
    dims[axis] = v.type.dims[axis];
    if (dims != v.type.dims) return std::nullopt;
    dims[axis] = *sum;
    return dims;
  };
  const Value* b = body.Find([&](const Value& v) { return joined(v).has_value(); });
  if (!b) return false;
  const Dims dims = *joined(*b);
  body.Bind(fmt::format("R.concat(({}, {}), axis={})", a.name, b->name, axis), WithDims(a.type, dims),
            Both(a.traits, b->traits));
  return true;
}

// An axis with a constant, even extent; or nothing.
std::optional<size_t> EvenAxis(const Type& type) {
  const auto even = [](const Dim& dim) { return dim.is_static() && dim.offset > 0 && dim.offset % 2 == 0; };
  const auto found = std::ranges::find_if(type.dims, even);
  if (found == type.dims.end()) return std::nullopt;
  return static_cast<size_t>(found - type.dims.begin());
}

bool WriteParts(BodyWriter& body) {
  const Value* found = body.Find([](const Value& v) { return IsTensor(v) && EvenAxis(v.type).has_value(); });
  if (!found) return false;
  const Value value = *found;
  const size_t axis = *EvenAxis(value.type);
  Type half = value.type;
  half.dims[axis].offset /= 2;
  const int64_t extent = value.type.dims[axis].offset;
  switch (body.choices().Below(4)) {
    case 0: {
      const std::string operands = fmt::format("{}, indices_or_sections=2, axis={}", value.name, axis);
      body.Bind(fmt::format("R.split({})", operands), {{}, {}, {half, half}}, value.traits);
      return true;
    }
    case 1: {
      const std::string indices = fmt::format("R.const([{}, 0], \"int64\")", extent - 1);
      Type taken = value.type;
      taken.dims[axis] = Dim::Of(2);
      body.Bind(fmt::format("R.take({}, {}, axis={})", value.name, indices, axis), taken, value.traits);
      return true;
    }
    case 2: {
      if (value.type.ndim() != 1) return false;
      // The type of the result has no shape; the match_cast states it.
      const std::string part = body.BindHidden(fmt::format(
          "R.dynamic_strided_slice({}, R.const([0], \"int64\"), R.const([{}], \"int64\"), R.const([1], \"int64\"))",
          value.name, extent / 2));
      body.Bind(fmt::format("R.match_cast({}, {})", part, TypeText(half, Place::kBody)), half, value.traits);
      return true;
    }
    default:
      body.Bind(
          fmt::format("R.strided_slice({}, axes=[{}], begin=[{}], end=[{}])", value.name, axis, extent / 2, extent),
          half, value.traits);
      return true;
  }
}

bool WriteCreation(BodyWriter& body) {
  const Value* value = body.Find([](const Value& v) { return IsNumber(v) && v.type.ndim() > 0; });
  if (!value) return false;
  static constexpr std::string_view kLike[] = {"zeros_like", "ones_like"};
  static constexpr std::string_view kOf[] = {"zeros", "ones"};
  switch (body.choices().Below(3)) {
    case 0: body.Bind(fmt::format("R.{}({})", body.choices().Pick(kLike), value->name), value->type, {}); break;
    case 1:
      body.Bind(
          fmt::format("R.{}({}, \"{}\")", body.choices().Pick(kOf), ShapeText(value->type.dims), value->type.dtype),
          value->type, {});
      break;
    default: {
      const Type type = value->type;
      const std::string scalar = ScalarConstant(body.choices(), type.dtype);
      body.Bind(fmt::format("R.full({}, {}, dtype=\"{}\")", ShapeText(type.dims), scalar, type.dtype), type, {});
    }
  }
  return true;
}

// The value, or its tanh if it may be too large for float16.
Value MakeSmall(BodyWriter& body, const Value& value) {
  if (value.traits.is_small) return value;
  return body.Bind(fmt::format("R.tanh({})", value.name), value.type, {value.traits.is_exact, true});
}

bool WriteMatmul(BodyWriter& body) {
  const Value* found = body.Find([](const Value& v) {
    return v.type.dtype == "float32" && v.type.ndim() > 1 && v.type.dims.back().is_static() &&
           v.type.dims.back().offset <= 16;
  });
  if (!found) return false;
  const Value a = MakeSmall(body, *found);
  const Dim& k = a.type.dims.back();
  const Value* weight =
      body.Find([&](const Value& v) { return v.type.dtype == "float32" && v.type.ndim() == 2 && v.type.dims[0] == k; });
  Dims dims = a.type.dims;
  std::string operand;
  if (weight) {
    const Value b = MakeSmall(body, *weight);
    dims.back() = b.type.dims[1];
    operand = b.name;
  } else {
    dims.back() = Dim::Of(2);
    operand = Constant(body.choices(), {"float32", {k, Dim::Of(2)}});
  }
  body.Bind(fmt::format("R.matmul({}, {})", a.name, operand), WithDims(a.type, dims), {false, false});
  return true;
}

// An image in the layout NCHW.
bool IsImage(const Value& v) {
  return v.type.dtype == "float32" && v.type.ndim() == 4 && std::ranges::all_of(v.type.dims, &Dim::is_static) &&
         v.type.dims[2].offset >= 3 && v.type.dims[3].offset >= 3 && v.type.dims[2].offset <= 16;
}

bool WriteWindow(BodyWriter& body) {
  const Value* found = body.Find(IsImage);
  if (!found) return false;
  Value image = *found;
  Dims dims = image.type.dims;
  const int stride = 1 + body.choices().Below(2);
  for (size_t axis : {size_t{2}, size_t{3}}) dims[axis].offset = (dims[axis].offset - 3) / stride + 1;
  static constexpr std::string_view kPools[] = {"max_pool2d", "avg_pool2d"};
  if (body.choices().OneIn(3)) {
    body.Bind(fmt::format("R.nn.{0}({1}, pool_size=[3, 3], strides=[{2}, {2}])", body.choices().Pick(kPools),
                          image.name, stride),
              WithDims(image.type, dims), image.traits);
    return true;
  }
  image = MakeSmall(body, image);
  const Value* kernel =
      body.Find([&](const Value& v) { return v.name == "kernel" && v.type.dims[1] == image.type.dims[1]; });
  const std::string weight =
      kernel ? kernel->name : Constant(body.choices(), {"float32", {Dim::Of(2), dims[1], Dim::Of(3), Dim::Of(3)}});
  dims[1] = Dim::Of(2);
  body.Bind(fmt::format("R.nn.conv2d({}, {}, strides=[{}, {}])", image.name, weight, stride, stride),
            WithDims(image.type, dims), {false, false});
  return true;
}

bool WriteTuple(BodyWriter& body) {
  const Value* a = body.Any();
  const Value* b = body.Any();
  if (!a || !b) return false;
  const std::string text = fmt::format("({}, {})", a->name, b->name);
  body.Bind(text, {{}, {}, {a->type, b->type}}, Both(a->traits, b->traits));
  return true;
}

bool WriteProjection(BodyWriter& body) {
  const Value* tuple = body.Find([](const Value& v) { return v.type.is_tuple(); });
  if (!tuple) return false;
  const int index = body.choices().Below(static_cast<int>(tuple->type.fields.size()));
  const Type type = tuple->type.fields[static_cast<size_t>(index)];
  body.Bind(fmt::format("{}[{}]", tuple->name, index), type, tuple->traits);
  return true;
}

bool WriteHint(BodyWriter& body) {
  const Value* value = body.Find(IsTensor);
  if (!value) return false;
  body.Bind(fmt::format("R.hint_on_device({}, R.device(dev_type=1, dev_id=0))", value->name), value->type,
            value->traits);
  return true;
}

bool WriteLoopCall(BodyWriter& body) {
  const auto fits = [](const Value& v) { return FitsPrimFunc(v.type) && v.traits.is_exact; };
  const Value* a = body.Find(fits);
  if (!a) return false;
  std::vector<Type> params = {a->type};
  Names names = {a->name};
  if (body.choices().OneIn(2)) {
    const Type type = a->type;
    names.push_back(body.Find([&](const Value& v) { return v.type == type && v.traits.is_exact; })->name);
    params.push_back(type);
  }
  const PrimFuncInfo info = body.module().PrimFunc(params);
  Names results;
  for (const Type& result : info.results) results.push_back(TypeText(result, Place::kBody));
  const bool is_single = results.size() == 1;
  body.Bind(fmt::format("R.call_tir(cls.{}, ({},), out_sinfo={})", info.name, Join(names),
                        is_single ? results[0] : fmt::format("[{}]", Join(results))),
            is_single ? info.results[0] : Type{{}, {}, info.results}, {true, false});
  return true;
}

bool WritePrivateCall(BodyWriter& body) {
  std::vector<Type> params;
  Names names;
  for (int i = 1 + body.choices().Below(3); i > 0; --i) {
    const Value* argument = body.Find([](const Value& v) { return v.traits.is_exact && v.traits.is_small; });
    if (!argument) return false;
    params.push_back(argument->type);
    names.push_back(argument->name);
  }
  const std::optional<FunctionInfo> info = body.module().PrivateFunction(params);
  if (!info) return false;
  body.Bind(fmt::format("cls.{}({})", info->name, Join(names)), info->result, {false, false});
  return true;
}

using OperatorWriter = bool (*)(BodyWriter&);
constexpr OperatorWriter kOperators[] = {
    WriteUnary,    WriteUnary,    WriteBinary,      WriteBinary,      WriteBinary,     WriteComparison,
    WriteLogical,  WriteWhere,    WriteCast,        WriteReduction,   WriteAlongAxis,  WriteReshape,
    WriteReshape,  WritePermute,  WriteOneAxis,     WriteRepeated,    WriteConcat,     WriteParts,
    WriteCreation, WriteMatmul,   WriteWindow,      WriteTuple,       WriteProjection, WriteHint,
    WriteLoopCall, WriteLoopCall, WritePrivateCall, WritePrivateCall, WriteCastPair,   WriteLayoutTransform,
};

}  // namespace

bool WriteOperator(BodyWriter& body) { return body.choices().Pick(kOperators)(body); }

Value WriteSameType(BodyWriter& body, const Value& value) {
  static constexpr std::string_view kFloatOps[] = {"tanh", "nn.relu", "negative", "sigmoid"};
  const bool is_bool = value.type.dtype == "bool";
  const std::string_view op = is_bool                 ? "logical_not"
                              : value.type.is_float() ? body.choices().Pick(kFloatOps)
                                                      : "negative";
  return body.Bind(fmt::format("R.{}({})", op, value.name), value.type, value.traits);
}

}  // namespace iropt::generate
