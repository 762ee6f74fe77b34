// Reading attribute values.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "iropt/ir/context.h"
#include "iropt/support/stack.h"
#include "text/script/tir/functions.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

// TVM's default keys of a target.
struct TargetKeys {
  std::string_view kind;
  std::string_view keys[2];
};
constexpr TargetKeys kTargetKeys[] = {{"c", {"cpu", ""}},
                                      {"cuda", {"cuda", "gpu"}},
                                      {"hexagon", {"hexagon", "cpu"}},
                                      {"llvm", {"cpu", ""}},
                                      {"metal", {"metal", "gpu"}},
                                      {"nvptx", {"cuda", "gpu"}},
                                      {"opencl", {"opencl", "gpu"}},
                                      {"rocm", {"rocm", "gpu"}},
                                      {"vulkan", {"vulkan", "gpu"}},
                                      {"webgpu", {"webgpu", "gpu"}}};

const Attr* KeysOf(std::string_view kind) {
  std::vector<const Attr*> keys;
  for (const TargetKeys& row : kTargetKeys) {
    if (row.kind != kind) continue;
    for (const std::string_view key : row.keys) {
      if (!key.empty()) keys.push_back(StrAttr::Get(key));
    }
  }
  return ListAttr::Get(keys);
}

// A word of a target in string form: a number, a truth value or a string.
const Attr* OptionValue(std::string_view text) {
  int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status == std::errc() && end == text.data() + text.size()) return IntAttr::Get(number);
  if (text == "true" || text == "false") return IntAttr::Bool(text == "true");
  return StrAttr::Get(text);
}

const Attr* OptionList(std::string_view text) {
  std::vector<const Attr*> items;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    items.push_back(StrAttr::Get(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ListAttr::Get(items);
}

// "cuda -arch=sm_80 -keys=cuda,gpu"
const DictAttr* TargetFromString(std::string_view text) {
  std::vector<DictAttr::Entry> entries;
  const auto word = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view w = text.substr(0, text.find(' '));
    text.remove_prefix(w.size());
    return w;
  };
  entries.emplace_back("kind", StrAttr::Get(word()));
  for (std::string_view option = word(); !option.empty(); option = word()) {
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    const size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "true" : option.substr(equals + 1);
    const bool list = name == "keys" || name == "libs" || name == "mattr";
    entries.emplace_back(name, list ? OptionList(value) : OptionValue(value));
  }
  return DictAttr::Get(entries);
}

// A target in dictionary or string form, with the keys and the tag that TVM adds.
const DictAttr* TargetConfig(ScalarParser& p, const PyValue& value) {
  const DictAttr* config = nullptr;
  if (value.is(Kind::kString)) {
    config = TargetFromString(value.string());
  } else if (value.is(Kind::kAttr)) {
    if (const auto* target = As<TargetAttr>(value.attr)) return target->config;
    config = As<DictAttr>(value.attr);
  }
  if (!config) return p.WrongValue(value, "a target such as \"llvm\" or {\"kind\": \"llvm\"}");
  const auto* kind = As<StrAttr>(config->Find("kind"));
  if (!kind || kind->value.empty()) return p.Error(value.span, "bad-expression", "a target needs a \"kind\"");
  if (!config->Find("keys")) config = config->With("keys", KeysOf(kind->value));
  if (!config->Find("tag")) config = config->With("tag", StrAttr::Get(""));
  return config;
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
  return ScalarParser(shared).ParseMapping(DataType::Int(64), nullptr);
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
