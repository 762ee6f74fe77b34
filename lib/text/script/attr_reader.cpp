// Reading attribute values.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "iropt/ir/context.h"
#include "iropt/support/stack.h"
#include "text/script/tir/functions.h"

namespace iropt::text {
namespace {

using Kind = Value::Kind;

// What TVM adds to a target that names no keys.
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

}  // namespace

const Attr* ParseAttr(ParserCore::Shared shared, AttrMode mode) { return TirParser(shared).ParseAttribute(mode); }

const Attr* ParseIndexMapLambda(ParserCore::Shared shared) {
  return TirParser(shared).ParseMapping(DataType::Int(64), nullptr);
}

bool AtAttrConstructor(const ParserCore::Shared& shared) { return TirParser(shared).AtAttribute(); }

bool TirParser::AtAttribute() const {
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

const Attr* TirParser::ParseAttribute(AttrMode mode) {
  attr_mode_ = mode;
  Value value;
  return ParseExpr(value) ? ToAttr(value) : nullptr;
}

const Attr* TirParser::ToAttr(const Value& value) {
  switch (value.kind) {
    case Kind::kNone: return NoneAttr::Get();
    case Kind::kBool: return IntAttr::Bool(value.boolean);
    case Kind::kInt: return IntAttr::Get(value.integer);
    case Kind::kFloat: return FloatAttr::Get(value.real, DataType::Float(attr_mode_ == AttrMode::kTir ? 32 : 64));
    case Kind::kString: return StrAttr::Get(value.string());
    case Kind::kAttr: return value.attr;
    case Kind::kDType: return DTypeAttr::Get(value.dtype);
    // A buffer as a whole: a load without indices, whose type is that of a pointer. So it follows what becomes of the
    // buffer.
    case Kind::kBuffer:
      return ExprAttr::Get(ws_.New<tir::BufferLoad>(DataType::Handle(), value.buffer, List<const PrimExpr*>()));
    case Kind::kList:
    case Kind::kArray:
    case Kind::kTuple: {
      std::vector<const Attr*> items;
      for (const Value& item : value.items()) {
        items.push_back(WithStack([&] { return ToAttr(item); }));
        if (!items.back()) return nullptr;
      }
      return ListAttr::Get(items);
    }
    default: break;
  }
  const PrimExpr* e = ToPrim(value);
  if (!e) return nullptr;
  if (const auto* i = As<tir::IntImm>(e)) {
    if (i->dtype.is_bool()) return IntAttr::Bool(i->value != 0);
    if (i->dtype == DataType::Int(32)) return IntAttr::Get(i->value);
  }
  if (const auto* f = As<tir::FloatImm>(e)) return FloatAttr::Get(f->value, f->dtype);
  bool shared = true;
  ForEachPrimName(
      e, [&](const tir::Var* v) { shared &= v->context_owned(); }, [&](const tir::Buffer*) { shared = false; });
  return ExprAttr::Get(shared ? IRContext::Current().Intern(e) : e);
}

// {"key": value, ...}
const Attr* TirParser::ParseDict() {
  if (!Expect(TokenKind::kLBrace, "a dictionary")) return nullptr;
  std::vector<DictAttr::Entry> entries;
  while (!At(TokenKind::kRBrace)) {
    if (!At(TokenKind::kString)) return Unexpected("a key in quotes");
    const Span span = SpanHere();
    const std::string_view key = ws_.arena().CopyString(ParseStringLiteral());
    if (std::any_of(entries.begin(), entries.end(), [&](const DictAttr::Entry& e) { return e.first == key; })) {
      return Error(span, "duplicate-attribute", fmt::format("the key \"{}\" occurs twice", key));
    }
    Value value;
    if (!Expect(TokenKind::kColon, "a dictionary") || !ParseExpr(value)) return nullptr;
    const Attr* attr = ToAttr(value);
    if (!attr) return nullptr;
    entries.emplace_back(key, attr);
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRBrace, "a dictionary")) return nullptr;
  return DictAttr::Get(entries);
}

// I.vdevice(...), I.dummy_global_info(), R.device_mesh(...)
const Attr* TirParser::ParseConstructed() {
  const uint32_t begin = lex_.peek().begin;
  const std::string_view prefix = lex_.text(lex_.Next());
  const std::string_view name = DottedName();
  if (name.empty()) return nullptr;
  if (name == "vdevice") return ParseVDevice(begin);
  if (name == "device_mesh" || name == "dist.device_mesh") return ParseDeviceMesh(begin);
  if (name == "dummy_global_info") {
    TirArgs args;
    if (!ParseArguments(args, begin) || !CountArgs(args, "I.dummy_global_info", 0, 0)) return nullptr;
    return ObjectAttr::Get("DummyGlobalInfo", {}, {});
  }
  static constexpr std::string_view kNames[] = {"device_mesh", "dummy_global_info", "vdevice"};
  return UnknownMember(prefix, name, lex_.SpanFrom(begin), kNames);
}

// A target in dictionary or string form, with the keys and the tag that TVM adds.
const DictAttr* TirParser::TargetConfig(const Value& value) {
  const DictAttr* config = nullptr;
  if (value.is(Kind::kString)) {
    config = TargetFromString(value.string());
  } else if (value.is(Kind::kAttr)) {
    if (const auto* target = As<TargetAttr>(value.attr)) return target->config;
    config = As<DictAttr>(value.attr);
  }
  if (!config) return WrongValue(value, "a target such as \"llvm\" or {\"kind\": \"llvm\"}");
  const auto* kind = As<StrAttr>(config->Find("kind"));
  if (!kind || kind->value.empty()) return Error(value.span, "bad-expression", "a target needs a \"kind\"");
  if (!config->Find("keys")) config = config->With("keys", KeysOf(kind->value));
  if (!config->Find("tag")) config = config->With("tag", StrAttr::Get(""));
  return config;
}

// T.target({...}), T.target("llvm", host="llvm")
const TargetAttr* TirParser::ParseTarget(uint32_t begin) {
  // Inside, numbers and truth values are plain in any dialect.
  const AttrMode mode = std::exchange(attr_mode_, AttrMode::kRelax);
  TirArgs args;
  const Value* v[2];
  const bool ok = ParseArguments(args, begin) && Bind(args, "T.target", {"target_config", "host"}, 1, v);
  attr_mode_ = mode;
  const DictAttr* config = ok ? TargetConfig(*v[0]) : nullptr;
  if (!config) return nullptr;
  if (v[1] && !v[1]->is(Kind::kNone)) {
    if (config->Find("host")) return Error(v[1]->span, "bad-expression", "the host of the target is given twice");
    const DictAttr* host = TargetConfig(*v[1]);
    if (!host) return nullptr;
    config = config->With("host", host);
  }
  return TargetAttr::Get(config);
}

// I.vdevice({...}, 0, "global")
const Attr* TirParser::ParseVDevice(uint32_t begin) {
  const AttrMode mode = std::exchange(attr_mode_, AttrMode::kRelax);
  TirArgs args;
  const Value* v[3];
  const bool ok =
      ParseArguments(args, begin) && Bind(args, "I.vdevice", {"target", "vdevice_id", "memory_scope"}, 0, v);
  attr_mode_ = mode;
  int64_t id = 0;
  std::string_view scope = "global";
  if (!ok || (v[1] && !ToInteger(*v[1], id)) || (v[2] && !ToString(*v[2], scope))) return nullptr;
  const DictAttr* target = nullptr;
  if (v[0] && !v[0]->is(Kind::kNone)) {
    target = TargetConfig(*v[0]);
    if (!target) return nullptr;
  }
  return VDeviceAttr::Get(target, id, scope);
}

bool TirParser::ToIntegers(const Value& value, std::vector<int64_t>& out) {
  if (!value.is_list()) return WrongValue(value, "a list of integers");
  for (const Value& item : value.items()) {
    int64_t i = 0;
    if (!ToInteger(item, i)) return false;
    out.push_back(i);
  }
  return true;
}

// R.device_mesh((2, 2), I.Range(0, 4)), or with the list of devices
const Attr* TirParser::ParseDeviceMesh(uint32_t begin) {
  if (!Expect(TokenKind::kLParen, "R.device_mesh(...)")) return nullptr;
  Value shape_value;
  std::vector<int64_t> shape, devices;
  if (!ParseExpr(shape_value) || !ToIntegers(shape_value, shape) || !Expect(TokenKind::kComma, "R.device_mesh(...)"))
    return nullptr;
  bool range = false;
  if (AtPrefix() == Prefix::kIr) {
    const uint32_t at = lex_.Next().begin;
    TirArgs args;
    if (DottedName() != "Range") return Error(lex_.SpanFrom(at), "bad-expression", "expected I.Range(begin, end)");
    if (!ParseArguments(args, at) || !CountArgs(args, "I.Range", 2, 2)) return nullptr;
    if (!ToIntegers(ListOf(Kind::kList, args.positional, args.span), devices)) return nullptr;
    range = true;
  } else {
    Value list;
    if (!ParseExpr(list) || !ToIntegers(list, devices)) return nullptr;
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
