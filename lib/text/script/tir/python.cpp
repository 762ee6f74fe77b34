// What of Python itself scripts use on values that the text decides: items of lists, len(...), float(...) and their
// like.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "functions.h"

namespace iropt::text {

using Kind = Value::Kind;

// list[i], list[begin:end]
bool TirParser::ParseListItem(Value& out, uint32_t begin) {
  const std::span<const Value> items = out.items();
  const auto n = static_cast<int64_t>(items.size());
  std::vector<Index> indices;
  if (!ParseIndices(indices)) return false;
  const Span span = lex_.SpanFrom(begin);
  if (indices.size() != 1) return Error(span, "bad-expression", "a list takes one index");
  const auto& [start, stop, step, slice] = indices[0];
  int64_t first = 0;
  int64_t last = n;
  if (!start.is(Kind::kNone) && !ToInteger(start, first)) return false;
  if (!slice) {
    const int64_t i = first < 0 ? first + n : first;
    if (start.is(Kind::kNone) || i < 0 || i >= n) {
      return Error(start.span, "index-out-of-range", fmt::format("the index is out of range for {} items", n));
    }
    out = items[static_cast<size_t>(i)];
    return true;
  }
  if (!stop.is(Kind::kNone) && !ToInteger(stop, last)) return false;
  if (!step.is(Kind::kNone)) return Error(span, "bad-expression", "a part of a list has no step");
  const auto clamp = [&](int64_t i) { return static_cast<size_t>(std::clamp<int64_t>(i < 0 ? i + n : i, 0, n)); };
  const size_t from = clamp(first);
  out = ListOf(out.kind, items.subspan(from, std::max(clamp(last), from) - from), span);
  return true;
}

namespace {

// The value as Python's number, which a constant of the IR counts as.
bool ToNumber(Value& value) {
  if (!value.is(Kind::kPrim)) return value.is_number();
  if (const auto* i = As<tir::IntImm>(value.prim)) return value = Value::Int(i->value, value.span), true;
  if (const auto* f = As<tir::FloatImm>(value.prim)) return value = Value::Float(f->value, value.span), true;
  return false;
}

int64_t IntegerOf(const Value& value) { return value.is(Kind::kBool) ? value.boolean : value.integer; }
double RealOf(const Value& value) {
  return value.is(Kind::kFloat) ? value.real : static_cast<double>(IntegerOf(value));
}

}  // namespace

// max(...) and min(...) of numbers, or of a list of them.
bool TirParser::Extreme(bool most, const TirArgs& args, Value& out) {
  std::span<const Value> items = args.positional;
  if (items.size() == 1 && items[0].is_list()) items = items[0].items();
  if (items.empty()) return Error(args.span, "missing-argument", fmt::format("{} of nothing", most ? "max" : "min"));
  const Value* best = nullptr;
  double best_real = 0;
  for (const Value& item : items) {
    Value number = item;
    if (!ToNumber(number)) {
      return Error(args.span, "bad-expression",
                   fmt::format("{0} compares numbers that the text gives; of expressions it is T.{0}(...)",
                               most ? "max" : "min"));
    }
    const double real = RealOf(number);
    if (best && (most ? real <= best_real : real >= best_real)) continue;
    best = &item;
    best_real = real;
  }
  out = *best;
  return true;
}

// At the name of a function of Python and its arguments.
bool TirParser::ParsePythonCall(Value& out) {
  const Token token = lex_.Next();
  const std::string_view name = lex_.text(token);
  TirArgs args;
  if (!ParseArguments(args, token.begin)) return false;
  if (!args.keywords.empty())
    return Error(args.keywords[0].span, "unknown-argument", fmt::format("{} has no such argument", name));
  if (name == "max" || name == "min") return Extreme(name == "max", args, out);
  if (!CountArgs(args, name, 1, 1)) return false;
  Value v = args.positional[0];
  if (name == "len" || name == "list" || name == "tuple") {
    if (!v.is_list()) return WrongValue(v, "a list");
    out = name == "len" ? Value::Int(v.list.count, args.span)
                        : ListOf(name == "list" ? Kind::kList : Kind::kTuple, v.items(), args.span);
    return true;
  }
  double real = 0;
  if (name == "float" && v.is(Kind::kString)) {
    const auto special = SpecialFloat(v.string());
    if (!special) return WrongValue(v, "a number, \"inf\" or \"nan\"");
    out = Value::Float(*special, args.span);
    return true;
  }
  if (!ToNumber(v)) return WrongValue(v, "a number that the text gives");
  real = RealOf(v);
  if (name == "float") {
    out = Value::Float(real, args.span);
  } else if (name == "bool") {
    out = Value::Bool(real != 0, args.span);
  } else if (!v.is(Kind::kFloat)) {
    out = Value::Int(IntegerOf(v), args.span);
  } else if (std::fabs(real) < 0x1p63) {
    out = Value::Int(static_cast<int64_t>(real), args.span);
  } else {
    return Error(v.span, "bad-number", "the integer exceeds 64 bits");
  }
  return true;
}

bool TirParser::IsPythonFunction(std::string_view name) {
  static constexpr std::string_view kNames[] = {"bool", "float", "int", "len", "list", "max", "min", "tuple"};
  return std::binary_search(std::begin(kNames), std::end(kNames), name);
}

}  // namespace iropt::text
