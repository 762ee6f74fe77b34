// Reading attribute values.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/context.h"
#include "iropt/ir/target.h"
#include "iropt/support/stack.h"
#include "text/script/tir/functions.h"
#include "text/script/tir/lambdas.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

// A target in dictionary or string form.
const DictAttr* TargetConfig(ScalarParser& p, const PyValue& value) {
  const auto report = [&](size_t, size_t, std::string message) {
    p.Error(value.span, "bad-target", std::move(message));
  };
  const TargetAttr* target = nullptr;
  if (value.is(Kind::kString)) {
    target = ParseTarget(value.string(), report);
  } else if (value.is(Kind::kAttr) && As<TargetAttr>(value.attr)) {
    target = As<TargetAttr>(value.attr);
  } else if (value.is(Kind::kAttr) && As<DictAttr>(value.attr)) {
    target = TargetFromDict(As<DictAttr>(value.attr), report);
  } else {
    return p.WrongValue(value, "a target such as \"llvm\" or {\"kind\": \"llvm\"}");
  }
  return target ? target->config : nullptr;
}

// I.vdevice({...}, 0, "global")
const Attr* MakeVDevice(ScalarParser& p, const PyArgs& args) {
  const PyValue* v[3];
  int64_t id = 0;
  std::string_view scope = "global";
  if (!p.Bind(args, "I.vdevice", {"target", "vdevice_id", "memory_scope"}, 0, v) || (v[1] && !p.ToInteger(*v[1], id)) ||
      (v[2] && !p.ToString(*v[2], scope)))
    return nullptr;
  const DictAttr* target = p.Given(v[0]) ? TargetConfig(p, *v[0]) : nullptr;
  return target || !p.Given(v[0]) ? VDeviceAttr::Get(target, id, scope) : nullptr;
}

}  // namespace

const TargetAttr* MakeTarget(ScalarParser& p, const PyValue& value, const PyValue* host_value) {
  const DictAttr* config = TargetConfig(p, value);
  if (!config || !host_value) return config ? TargetAttr::Get(config) : nullptr;
  if (config->Find("host")) return p.Error(host_value->span, "bad-expression", "the host of the target is given twice");
  const DictAttr* host = TargetConfig(p, *host_value);
  return host ? TargetAttr::Get(config->With("host", host)) : nullptr;
}

const Attr* ParseAttr(ParserCore::Shared shared, ScriptDialect mode, Precedence least) {
  return ScalarParser(shared).ParseAttribute(mode, least);
}

const Attr* ParseIndexMapLambda(ParserCore::Shared shared) {
  ScalarParser parser(shared);
  return ParseMapping(parser, DataType::Int(64), nullptr);
}

bool AtAttrConstructor(const ParserCore::Shared& shared) { return ScalarParser(shared).AtAttribute(); }

bool ScalarParser::AtAttribute() const {
  if (At(TokenKind::kLBrace)) return true;
  const Prefix prefix = AtPrefix();
  if (prefix == Prefix::kNone) return false;
  const std::string_view rest = lex_.buffer().substr(lex_.peek().end + 1);
  const auto is = [&](std::string_view name) {
    return rest.starts_with(name) && rest.substr(name.size()).starts_with('(');
  };
  if (prefix == Prefix::kTir) return is("target") || is("index_map");
  return prefix == Prefix::kIr ? is("vdevice") || is("dummy_global_info") : is("device_mesh") || is("dist.device_mesh");
}

const Attr* ScalarParser::ParseAttribute(ScriptDialect mode, Precedence least) {
  attr_mode_ = mode;
  PyValue value;
  return ParseValue(value, least) ? ToAttr(value, mode) : nullptr;
}

// {"key": value, ...}
bool ScalarParser::Dict(PyValue& out) {
  const uint32_t begin = lex_.Next().begin;
  std::vector<DictAttr::Entry> entries;
  while (!At(TokenKind::kRBrace)) {
    if (!At(TokenKind::kString)) return Unexpected("a key in quotes");
    const Span span = SpanHere();
    const std::string_view key = ws_.arena().CopyString(ParseStringLiteral());
    if (std::any_of(entries.begin(), entries.end(), [&](const DictAttr::Entry& e) { return e.first == key; })) {
      return Error(span, "duplicate-attribute", fmt::format("the key \"{}\" occurs twice", key));
    }
    PyValue value;
    if (!Expect(TokenKind::kColon, "a dictionary") || !ParseValue(value)) return false;
    const Attr* attr = ToAttr(value, attr_mode_);
    if (!attr) return false;
    entries.emplace_back(key, attr);
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRBrace, "a dictionary")) return false;
  dict_keys_.clear();
  for (const DictAttr::Entry& entry : entries) dict_keys_.push_back(entry.first);
  out = PyValue(DictAttr::Get(entries), lex_.SpanFrom(begin));
  return true;
}

// I.vdevice(...), I.dummy_global_info(), R.device_mesh(...)
const Attr* ScalarParser::ParseConstructed() {
  const uint32_t begin = lex_.peek().begin;
  const std::string_view prefix = lex_.text(lex_.Next());
  const std::string_view name = DottedName();
  if (name.empty()) return nullptr;
  if (name == "vdevice") {
    PyArgs args;
    return ParsePlainArguments(args, begin) ? MakeVDevice(*this, args) : nullptr;
  }
  if (name == "device_mesh" || name == "dist.device_mesh") return ParseDeviceMesh(begin);
  if (name == "dummy_global_info") {
    PyArgs args;
    if (!ParseArguments(args, begin) || !CountArgs(args, "I.dummy_global_info", 0, 0)) return nullptr;
    return ObjectAttr::Get("DummyGlobalInfo", {}, {});
  }
  static constexpr std::string_view kNames[] = {"device_mesh", "dummy_global_info", "vdevice"};
  return UnknownMember(prefix, name, lex_.SpanFrom(begin), kNames);
}

// Inside of targets, numbers and truth values are plain in any dialect.
bool ScalarParser::ParsePlainArguments(PyArgs& args, uint32_t begin) {
  const ScriptDialect mode = std::exchange(attr_mode_, ScriptDialect::kRelax);
  const bool ok = ParseArguments(args, begin);
  attr_mode_ = mode;
  return ok;
}

// R.device_mesh((2, 2), I.Range(0, 4)), or with the list of devices
const Attr* ScalarParser::ParseDeviceMesh(uint32_t begin) {
  if (!Expect(TokenKind::kLParen, "R.device_mesh(...)")) return nullptr;
  PyValue shape_value;
  std::vector<int64_t> shape, devices;
  if (!ParseValue(shape_value) || !ToIntegers(shape_value, shape) || !Expect(TokenKind::kComma, "R.device_mesh(...)"))
    return nullptr;
  bool range = false;
  if (AtPrefix() == Prefix::kIr) {
    const uint32_t at = lex_.Next().begin;
    PyArgs args;
    if (DottedName() != "Range") return Error(lex_.SpanFrom(at), "bad-expression", "expected I.Range(begin, end)");
    if (!ParseArguments(args, at) || !CountArgs(args, "I.Range", 2, 2)) return nullptr;
    if (!ToIntegers(ListOf(Kind::kList, args.positional, args.span), devices)) return nullptr;
    range = true;
  } else {
    PyValue list;
    if (!ParseValue(list) || !ToIntegers(list, devices)) return nullptr;
  }
  if (!ExpectClose("R.device_mesh(...)")) return nullptr;
  int64_t product = 1;
  for (const int64_t n : shape) {
    if (__builtin_mul_overflow(product, n, &product))
      return Error(lex_.SpanFrom(begin), "bad-number", "the device mesh is too big");
  }
  const int64_t count = range ? devices[1] - devices[0] : static_cast<int64_t>(devices.size());
  if (product != count) {
    return Error(lex_.SpanFrom(begin), "bad-expression",
                 fmt::format("a device mesh of {} devices lists {}", product, count));
  }
  return DeviceMeshAttr::Get(shape, devices, range);
}

}  // namespace iropt::text
