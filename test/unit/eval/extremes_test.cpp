// Operands and attributes that no type rule would accept, or that are at the limits: every kernel gives a value or an
// error. Builds with sanitizers check more.
#include <functional>

#include "exact.h"
#include "operator_samples.h"

namespace iropt {

namespace {

using Operands = std::vector<HostValue>;

const int64_t kExtremeInts[] = {0, -1, 1, 2, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
const double kExtremeReals[] = {0, -0.0, -1, 1e-310, 1e300, -1e300, INFINITY, -INFINITY, NAN};

Tensor Filled(DataType dtype, Dims shape, Exact value) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return ExactTensor(dtype, std::move(shape), std::vector<Exact>(static_cast<size_t>(count), value));
}

// Replacements of this tensor: other elements, and other shapes.
Operands Instead(const NDArray& tensor) {
  Operands values;
  const DataType dtype = tensor.dtype();
  const Dims shape = ShapeOf(tensor);
  for (const Exact x : Interesting(dtype)) values.emplace_back(Filled(dtype, shape, x));
  for (const Dims& other : {Dims{}, Dims{0}, Dims{1}, Dims{0, 0}, Dims{3, 0, 2}, Dims{1, 1, 1, 1, 1, 1},
                            Dims{0, int64_t{1} << 40, int64_t{1} << 40}})
    values.emplace_back(Filled(dtype, other, 1));
  for (size_t d = 0; d < shape.size(); ++d) {
    for (const int64_t extent : {int64_t{0}, shape[d] + 1, int64_t{1}}) {
      Dims other = shape;
      other[d] = extent;
      values.emplace_back(Filled(dtype, other, 1));
    }
  }
  for (const DataType other : AllTypes()) values.emplace_back(Filled(other, shape, 1));
  return values;
}

Operands Instead(const ShapeValue& shape) {
  Operands values{ShapeValue{}, ShapeValue{0}};
  for (size_t d = 0; d < shape.size(); ++d) {
    for (const int64_t extent : kExtremeInts) {
      ShapeValue other = shape;
      other[d] = extent;
      values.emplace_back(other);
    }
  }
  return values;
}

Operands Instead(const HostValue& value) {
  Operands values{HostValue(),      HostValue(TupleValue{}), F32({}, {1}),
                  ShapeValue{2, 2}, DataType::Float(32),     std::string_view("x")};
  const auto add = [&](const Operands& more) { values.insert(values.end(), more.begin(), more.end()); };
  if (value.tensor()) add(Instead(*value.tensor()));
  if (value.shape()) add(Instead(*value.shape()));
  for (const int64_t i : kExtremeInts) values.emplace_back(Scalar::Int(i));
  for (const double x : kExtremeReals) values.emplace_back(Scalar::Float(x));
  if (const TupleValue* tuple = value.tuple()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      for (const HostValue& field : Instead(tuple->fields[i])) {
        TupleValue other = *tuple;
        other.fields[i] = field;
        values.emplace_back(std::move(other));
      }
    }
    TupleValue longer = *tuple;
    longer.fields.push_back(tuple->fields.empty() ? HostValue(Scalar::Int(1)) : tuple->fields[0]);
    values.emplace_back(std::move(longer));
  }
  return values;
}

std::vector<const Attr*> Instead(const Attr* attr) {
  std::vector<const Attr*> attrs{NoneAttr::Get(), StrAttr::Get(""), StrAttr::Get("NCHW"),
                                 DTypeAttr::Get(DataType::Int(8)), ListAttr::Get({})};
  for (const int64_t i : kExtremeInts) attrs.push_back(IntAttr::Get(i));
  for (const double x : kExtremeReals) attrs.push_back(FloatAttr::Get(x));
  if (const auto* list = As<ListAttr>(attr)) {
    std::vector<const Attr*> items(list->values.begin(), list->values.end());
    for (size_t i = 0; i < items.size(); ++i) {
      for (const int64_t extreme : kExtremeInts) {
        std::vector<const Attr*> other = items;
        other[i] = IntAttr::Get(extreme);
        attrs.push_back(ListAttr::Get(other));
      }
    }
    items.push_back(IntAttr::Get(1));
    attrs.push_back(ListAttr::Get(items));
  }
  return attrs;
}

// A result is complete: its tensors have as many bytes as their shapes require.
bool IsWhole(const HostValue& value) {
  if (const NDArray* tensor = value.tensor()) {
    int64_t count = 1;
    for (const int64_t dim : tensor->shape()) {
      if (dim < 0) return false;
      count *= dim;
    }
    return count == tensor->num_elements();
  }
  const TupleValue* tuple = value.tuple();
  return !tuple || std::all_of(tuple->fields.begin(), tuple->fields.end(), IsWhole);
}

}  // namespace

TEST_CASE("extremes: every operator gives a value or an error", "[eval]") {
  const EvalLimits limits{.max_bytes = 1 << 16, .max_work = 1 << 18};
  size_t evaluations = 0;
  for (const DataType dtype : AllTypes()) {
    OperatorSamples samples(dtype);
    for (const auto& [op, calls] : samples.calls()) {
      if (calls.empty()) continue;
      INFO(op << " of " << dtype.ToString());
      const OpInfo& info = *FindOp(op);
      const auto check = [&](const Attr* attrs, const Operands& args) {
        const Result<HostValue> result = EvalOp(info, attrs, args, limits);
        ++evaluations;
        if (result ? !IsWhole(*result) : result.error().message.empty()) FAIL("neither a value nor an error");
      };
      // Calls of one operator are alike; the last has the most operands.
      const Call& call = *calls.back().call;
      const Operands args = OperandsOf(call);
      for (size_t i = 0; i < args.size(); ++i) {
        for (const HostValue& other : Instead(args[i])) {
          Operands changed = args;
          changed[i] = other;
          check(call.attrs, changed);
          // Several operands of one kind often come in one shape.
          for (size_t j = 0; j < args.size(); ++j) {
            if (args[j].tensor() && other.tensor()) changed[j] = other;
          }
          check(call.attrs, changed);
        }
        check(call.attrs, Operands(args.begin(), args.begin() + static_cast<int64_t>(i)));
      }
      if (const auto* attrs = As<ObjectAttr>(call.attrs)) {
        for (uint32_t i = 0; i < attrs->values.size(); ++i) {
          for (const Attr* other : Instead(attrs->values[i])) check(attrs->With(i, other), args);
        }
      }
      check(nullptr, args);
    }
  }
  CHECK(evaluations > 100000);
}

}  // namespace iropt
