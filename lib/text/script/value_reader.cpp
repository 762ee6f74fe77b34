#include "value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace iropt::text {

using Kind = PyValue::Kind;

bool ValueReader::ParseNumber(PyValue& out) {
  const Token token = lex_.Next();
  if (token.kind == TokenKind::kFloat) {
    out = PyValue::Float(FloatValue(token), lex_.SpanOf(token));
    return true;
  }
  out = PyValue::Int(0, lex_.SpanOf(token));
  if (!IntegerValue(token, out.integer)) return false;
  out.beyond_int64 = out.integer < 0;
  return true;
}

bool ValueReader::ParseString(PyValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const std::string_view text = ParseStringLiteral();
  out = PyValue::String(text, lex_.SpanFrom(begin));
  return true;
}

const Node* ValueReader::ParseMetadataEntry() {
  const uint32_t begin = lex_.Next().begin;
  int64_t index = 0;
  if (!Expect(TokenKind::kLBracket, "a metadata reference")) return nullptr;
  if (!At(TokenKind::kString)) return Unexpected("the kind of the metadata entry");
  const std::string_view key = ParseStringLiteral();
  if (!Expect(TokenKind::kRBracket, "a metadata reference") || !Expect(TokenKind::kLBracket, "a metadata reference") ||
      !ParseInteger(index) || !Expect(TokenKind::kRBracket, "a metadata reference")) {
    return nullptr;
  }
  if (const Node* node = state_.Metadata(key, index)) return node;
  return Error(lex_.SpanFrom(begin), "unknown-metadata",
               fmt::format("the metadata section has no entry {} of kind \"{}\"", index, key));
}

bool ValueReader::AddItem(const PyValue& item, bool star, PyValues& items) {
  if (!star) return items.push_back(item), true;
  if (!item.is_list()) return Error(item.span, "syntax", "only a list can be unpacked");
  items.append(item.items());
  return items.size() <= kMostItems || TooLong(item.span);
}

ParserCore::Failed ValueReader::TooLong(Span span) {
  return Error(span, "bad-expression", fmt::format("a list of more than {} items", kMostItems));
}

char ValueReader::CharAfterName() const {
  const std::string_view text = lex_.buffer();
  uint32_t p = lex_.peek().end;
  while (p < lex_.end_offset() && (text[p] == ' ' || text[p] == '\t')) ++p;
  return p < lex_.end_offset() ? text[p] : '\0';
}

namespace {

// The value as Python's number, which a constant of the IR counts as.
bool ToNumber(PyValue& value) {
  if (!value.is(Kind::kPrim)) return value.is_number();
  if (const auto* i = As<tir::IntImm>(value.prim)) return value = PyValue::Int(i->value, value.span), true;
  if (const auto* f = As<tir::FloatImm>(value.prim)) return value = PyValue::Float(f->value, value.span), true;
  return false;
}

int64_t IntegerOf(const PyValue& value) { return value.is(Kind::kBool) ? value.boolean : value.integer; }
double RealOf(const PyValue& value) {
  return value.is(Kind::kFloat) ? value.real : static_cast<double>(IntegerOf(value));
}

}  // namespace

// max(...) and min(...) of numbers, or of a list of them.
bool ValueReader::Extreme(bool most, const PyArgs& args, PyValue& out) {
  std::span<const PyValue> items = args.positional;
  if (items.size() == 1 && items[0].is_list()) items = items[0].items();
  if (items.empty()) return Error(args.span, "missing-argument", fmt::format("{} of nothing", most ? "max" : "min"));
  const PyValue* best = nullptr;
  double best_real = 0;
  for (const PyValue& item : items) {
    PyValue number = item;
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

bool ValueReader::CallPython(std::string_view name, const PyArgs& args, PyValue& out) {
  if (!args.keywords.empty())
    return Error(args.keywords[0].span, "unknown-argument", fmt::format("{} has no such argument", name));
  if (name == "max" || name == "min") return Extreme(name == "max", args, out);
  if (!CountArgs(args, name, 1, 1)) return false;
  PyValue v = args.positional[0];
  if (name == "len" || name == "list" || name == "tuple") {
    if (!v.is_list()) return WrongValue(v, "a list");
    out = name == "len" ? PyValue::Int(v.list.count, args.span)
                        : ListOf(name == "list" ? Kind::kList : Kind::kTuple, v.items(), args.span);
    return true;
  }
  if (name == "float" && v.is(Kind::kString)) {
    const auto special = SpecialFloat(v.string());
    if (!special) return WrongValue(v, "a number, \"inf\" or \"nan\"");
    out = PyValue::Float(*special, args.span);
    return true;
  }
  if (!ToNumber(v)) return WrongValue(v, "a number that the text gives");
  const double real = RealOf(v);
  if (name == "float") {
    out = PyValue::Float(real, args.span);
  } else if (name == "bool") {
    out = PyValue::Bool(real != 0, args.span);
  } else if (!v.is(Kind::kFloat)) {
    out = PyValue::Int(IntegerOf(v), args.span);
  } else if (std::fabs(real) < 0x1p63) {
    out = PyValue::Int(static_cast<int64_t>(real), args.span);
  } else {
    return Error(v.span, "bad-number", "the integer exceeds 64 bits");
  }
  return true;
}

bool ValueReader::CallHost(std::string_view name, const PyArgs& args, bool is_prim_func, PyValue& out) {
  name.remove_prefix(kHostCallPrefix.size());
  int64_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size())
    return Error(args.span, "bad-expression", "the program around the script has no such function");
  const HostScope scope{ws_, diag_, is_prim_func};
  const auto find = [this](std::string_view wanted) { return symbols_.Find(wanted); };
  if (!state_.host->Call(index, args, scope, find, out)) return false;
  out.span = args.span;
  return true;
}

bool ValueReader::IsPythonFunction(std::string_view name) {
  static constexpr std::string_view kNames[] = {"bool", "float", "int", "len", "list", "max", "min", "tuple"};
  return std::binary_search(std::begin(kNames), std::end(kNames), name);
}

}  // namespace iropt::text
