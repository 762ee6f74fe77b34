// The calls with values in test/unit/infer/types are evaluated to these values.
#include "operator_samples.h"

namespace iropt {

namespace {

// The tolerance of a computed element: a few units in the last place of the dtype.
double Tolerance(DataType dtype, double expected) {
  if (!dtype.is_floating()) return 0;
  const int digits = dtype.bits == 64                 ? 50
                     : dtype.bits == 32               ? 21
                     : dtype.bits == 8                ? 1
                     : dtype.code == TypeCode::kFloat ? 9
                                                      : 6;
  return std::ldexp(std::max(std::fabs(expected), 1.0), -digits);
}

void CheckElements(const NDArray& actual, const NDArray& expected) {
  REQUIRE(actual.dtype() == expected.dtype());
  REQUIRE(ShapeOf(actual) == ShapeOf(expected));
  const std::vector<double> a = Elements(actual);
  const std::vector<double> e = Elements(expected);
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("element " << i << " is " << a[i] << ", not " << e[i]);
    CHECK((a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])) ||
           std::fabs(a[i] - e[i]) <= Tolerance(actual.dtype(), e[i])));
  }
}

void CheckValue(const HostValue& actual, const Expr& expected) {
  if (const auto* tuple = As<Tuple>(&expected)) {
    REQUIRE(actual.tuple() != nullptr);
    REQUIRE(actual.tuple()->fields.size() == tuple->fields.size());
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) CheckValue(actual.tuple()->fields[i], *tuple->fields[i]);
    return;
  }
  const auto* constant = As<Constant>(&expected);
  REQUIRE(actual.tensor() != nullptr);
  REQUIRE(constant != nullptr);
  CheckElements(*actual.tensor(), *constant->data);
}

}  // namespace

TEST_CASE("values: calls have the values of the cases", "[eval]") {
  for (const TypeCase& c : TypeCases()) {
    if (c.kind != TypeCase::Kind::kValue) continue;
    INFO(c.file << ":" << c.line << ": " << c.call);
    const ValueCase read(c);
    INFO(read.messages());
    REQUIRE(read.call() != nullptr);
    const std::vector<HostValue> args = OperandsOf(*read.call());
    const OpInfo& op = *To<Op>(read.call()->op)->info;
    const Result<HostValue> result = Try(op.name.substr(6), args, read.call()->attrs);
    INFO((result ? "" : result.error().message));
    REQUIRE(result.ok());
    REQUIRE(read.expected() != nullptr);
    CheckValue(*result, *read.expected());
  }
}

}  // namespace iropt
