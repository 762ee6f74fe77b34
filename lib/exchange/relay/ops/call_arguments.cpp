#include "call_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "iropt/support/edit_distance.h"
#include "op_table.h"

namespace iropt::relay {

using Kind = PyValue::Kind;

namespace {

bool IsMissing(const PyValue& value) { return value.is(Kind::kAttr) && value.attr == nullptr; }

// Also of a float that is one, as TVM prints some.
std::optional<int64_t> IntegerOf(const PyValue& value) {
  if (value.is(Kind::kInt)) return value.integer;
  if (value.is(Kind::kBool)) return static_cast<int64_t>(value.boolean);
  constexpr double kLimit = 9e18;
  if (value.is(Kind::kFloat) && std::abs(value.real) < kLimit && std::trunc(value.real) == value.real)
    return static_cast<int64_t>(value.real);
  return std::nullopt;
}

// The name of the record of attributes, which TVM prints for calls of functions.
constexpr std::string_view kRecordKey = "attrs_type_key";

}  // namespace

CallArguments::CallArguments(const OperatorCall& call, SourceSpan name_span, std::span<const Expr* const> args,
                             DiagnosticEngine& diagnostics)
    : op_(*call.op), call_(call), name_span_(name_span), args_(args), diagnostics_(diagnostics) {}

const OperatorRow& CallArguments::row() const { return *op_.row; }

bool CallArguments::Check() {
  const ArgumentCount& count = op_.count;
  if (args_.size() < count.least || (count.most && args_.size() > *count.most)) {
    const std::string expected = !count.most                  ? fmt::format("at least {}", count.least)
                                 : *count.most == count.least ? fmt::format("{}", count.least)
                                                              : fmt::format("{} to {}", count.least, *count.most);
    diagnostics_.Error(name_span_,
                       args_.size() < count.least ? DiagId("missing-argument") : DiagId("too-many-arguments"),
                       fmt::format("{} takes {} argument{}, found {}", row().name, expected,
                                   count.most == 1U ? "" : "s", args_.size()));
    return false;
  }
  bool ok = true;
  for (const Attribute& attribute : call_.attributes) ok &= CheckName(attribute);
  for (const PyKeyword& keyword : op_.attributes) {
    if (!IsMissing(keyword.value) || !IsMissing(attr(keyword.name))) continue;
    diagnostics_.Error(name_span_, "missing-argument",
                       fmt::format("{} needs the attribute '{}'", row().name, keyword.name));
    ok = false;
  }
  return ok;
}

bool CallArguments::CheckName(const Attribute& attribute) const {
  if (row().attributes == "*" || attribute.name == kRecordKey) return true;
  if (std::ranges::find(op_.attributes, attribute.name, &PyKeyword::name) != op_.attributes.end()) return true;
  DiagnosticBuilder error = diagnostics_.Error(attribute.span, "unknown-argument",
                                               fmt::format("{} has no attribute '{}'", row().name, attribute.name));
  std::vector<std::string_view> names;
  for (const PyKeyword& keyword : op_.attributes) names.push_back(keyword.name);
  if (const auto nearest = NearestName(attribute.name, names))
    error.FixIt(attribute.span, std::string(*nearest)).Note(fmt::format("did you mean '{}'?", *nearest));
  return false;
}

void CallArguments::WrongKind(std::string_view name, std::string_view expected) const {
  if (std::exchange(has_wrong_kind_, true)) return;
  const auto given = std::ranges::find(call_.attributes, name, &Attribute::name);
  diagnostics_.Error(given == call_.attributes.end() ? name_span_ : given->span, "bad-argument",
                     fmt::format("{}: the attribute '{}' must be {}", row().name, name, expected));
}

// ---- Attributes

const PyValue& CallArguments::attr(std::string_view name) const {
  for (const Attribute& attribute : call_.attributes) {
    if (attribute.name == name) return attribute.value;
  }
  const auto by_default = std::ranges::find(op_.attributes, name, &PyKeyword::name);
  IROPT_CHECK(by_default != op_.attributes.end(), "{} has no attribute '{}'", row().name, name);
  return by_default->value;
}

int64_t CallArguments::Int(std::string_view name) const {
  const PyValue& value = attr(name);
  if (const auto integer = IntegerOf(value)) return *integer;
  if (!value.is(Kind::kNone)) WrongKind(name, "an integer");
  return 0;
}

double CallArguments::Float(std::string_view name) const {
  const PyValue& value = attr(name);
  if (value.is(Kind::kFloat)) return value.real;
  if (!value.is_number() && !value.is(Kind::kNone)) WrongKind(name, "a number");
  return static_cast<double>(IntegerOf(value).value_or(0));
}

bool CallArguments::Bool(std::string_view name) const { return Int(name) != 0; }

std::string_view CallArguments::String(std::string_view name) const {
  const PyValue& value = attr(name);
  if (value.is(Kind::kString)) return value.string();
  if (!value.is(Kind::kNone)) WrongKind(name, "a string");
  return {};
}

relay::Ints CallArguments::Ints(std::string_view name) const {
  const PyValue& value = attr(name);
  relay::Ints integers;
  if (value.is(Kind::kNone)) return integers;
  const std::span<const PyValue> items = value.is_list() ? value.items() : std::span(&value, 1);
  for (const PyValue& item : items) {
    const auto integer = IntegerOf(item);
    if (!integer) {
      WrongKind(name, "an integer or a list of integers");
      return {};
    }
    integers.push_back(*integer);
  }
  return integers;
}

relay::Ints CallArguments::NestedInts(std::string_view name) const {
  const PyValue& value = attr(name);
  relay::Ints integers;
  bool ok = value.is_list();
  for (const PyValue& item : ok ? value.items() : std::span<const PyValue>()) {
    for (const PyValue& part : item.is_list() ? item.items() : std::span(&item, 1)) {
      const auto integer = IntegerOf(part);
      ok &= integer.has_value();
      integers.push_back(integer.value_or(0));
    }
  }
  if (!ok) WrongKind(name, "a list of pairs of integers");
  return ok ? integers : relay::Ints();
}

std::vector<double> CallArguments::Floats(std::string_view name) const {
  const PyValue& value = attr(name);
  std::vector<double> numbers;
  if (value.is(Kind::kNone)) return numbers;
  for (const PyValue& item : value.is_list() ? value.items() : std::span(&value, 1)) {
    if (!item.is_number()) {
      WrongKind(name, "a number or a list of numbers");
      return {};
    }
    numbers.push_back(item.is(Kind::kFloat) ? item.real : static_cast<double>(*IntegerOf(item)));
  }
  return numbers;
}

op_attrs::Value<AttrKind::kOptInt> CallArguments::OptInt(std::string_view name) const {
  if (!has(name)) return {};
  return Int(name);
}

relay::Ints CallArguments::IntsOf(std::string_view name, size_t count, bool both_ends) const {
  relay::Ints integers = Ints(name);
  if (integers.size() == count || has_wrong_kind_) return integers;
  const bool is_half = both_ends && 2 * integers.size() == count;
  if (integers.size() == 1) {
    integers.resize(count, integers.front());
  } else if (is_half) {
    integers.insert(integers.end(), integers.begin(), integers.begin() + static_cast<ptrdiff_t>(count / 2));
  } else {
    WrongKind(name, both_ends ? fmt::format("1, {} or {} integers", count / 2, count)
                              : fmt::format("1 or {} integers", count));
  }
  return integers;
}

DataType CallArguments::Dtype(std::string_view name) const {
  const std::string_view text = String(name);
  const auto dtype = DataType::Parse(text);
  if (!dtype && !text.empty()) WrongKind(name, "a data type");
  return dtype.value_or(DataType::Void());
}

std::optional<int64_t> CallArguments::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  Error("type-inference", rank == kUnknownDim ? "the rank of the operand is unknown"
                                              : fmt::format("axis {} is out of range for rank {}", axis, rank));
  return std::nullopt;
}

bool CallArguments::IsWithin(std::initializer_list<int64_t> counts, int64_t limit) {
  int64_t product = 1;
  for (const int64_t count : counts) {
    if (count > limit / product) {
      Error("no-counterpart", fmt::format("the expansion is too large: more than {} parts", limit));
      return false;
    }
    product *= std::max<int64_t>(count, 1);
  }
  return true;
}

const Expr* CallArguments::Error(DiagId kind, std::string message) {
  diagnostics_.Error(name_span_, kind, fmt::format("{}: {}", row().name, message));
  return nullptr;
}

const Expr* CallArguments::NoCounterpart(std::string_view what) {
  return Error("no-counterpart", fmt::format("Relax has no counterpart for {}", what));
}

}  // namespace iropt::relay
