#include "pattern_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "transform/relax/util/operator_name.h"

namespace iropt {

namespace {

constexpr std::string_view kAny = "*";
constexpr std::string_view kExpected =
    R"(expected "*", "const", "var", or an object with "op", "tuple", "item" or "any_of")";
constexpr std::array<std::string_view, 4> kForms = {"op", "tuple", "item", "any_of"};
constexpr std::array<std::string_view, 9> kKeys = {"args", "commutative", "attrs",     "index", "dtype",
                                                   "rank", "shape",       "used_once", "name"};

bool SameValue(const Attr* attr, const OptionValue& value) {
  if (const auto* i = As<IntAttr>(attr)) {
    const int64_t* number = value.as_int();
    const bool* flag = value.as_bool();
    return number ? *number == i->value : flag && *flag == (i->value != 0);
  }
  if (const auto* f = As<FloatAttr>(attr)) {
    const int64_t* number = value.as_int();
    const double* real = value.as_double();
    return real ? *real == f->value : number && static_cast<double>(*number) == f->value;
  }
  if (const auto* s = As<StrAttr>(attr)) return value.as_string() && *value.as_string() == s->value;
  if (const auto* t = As<DTypeAttr>(attr)) return value.as_string() && *value.as_string() == t->value.ToString();
  const auto* list = As<ListAttr>(attr);
  if (!list) return Is<NoneAttr>(attr) && value.is_null();
  const OptionValue::List* values = value.as_list();
  return values && std::ranges::equal(list->values, *values, SameValue);
}

// Returns whether the type is a tensor of these dimensions, of which "*" is any.
bool HasShape(const Type* type, const OptionValue::List& shape) {
  const auto* tensor = As<TensorType>(type);
  if (!tensor || !tensor->known) return false;
  return std::ranges::equal(tensor->dims, shape, [](const PrimExpr* dim, const OptionValue& value) {
    const int64_t* size = value.as_int();
    return !size || arith::IsInt(dim, *size);
  });
}

class PatternReader {
 public:
  explicit PatternReader(PatternOptionError& error) : error_(error) {}

  std::optional<Pattern> Read(const OptionValue& value) {
    return WithStack([&] { return ReadOne(value); });
  }

 private:
  std::nullopt_t Fail(const OptionValue& value, std::string message) {
    error_ = {value.span(), std::move(message)};
    return std::nullopt;
  }

  std::optional<Pattern> ReadOne(const OptionValue& value) {
    if (const std::string* word = value.as_string()) {
      if (*word == kAny) return Wildcard();
      if (*word == "const") return IsConstant();
      if (*word == "var") return IsVar();
    }
    if (!value.is_dict()) return Fail(value, fmt::format("invalid pattern: {}", kExpected));
    for (const OptionValue::Entry& entry : value.entries()) {
      if (std::ranges::find(kForms, entry.key) == kForms.end() && std::ranges::find(kKeys, entry.key) == kKeys.end())
        return Fail(entry.value, fmt::format("unknown key '{}' of a pattern", entry.key));
    }
    const OptionValue* name = value.Find("name");
    if (name && !name->as_string()) return Fail(*name, "the name of a pattern must be a string");
    if (name && value.entries().size() == 1) {
      if (const auto* found = named_.Find(*name->as_string())) return *found;
    }
    std::optional<Pattern> pattern = ReadForm(value);
    if (pattern) pattern = AddConditions(*std::move(pattern), value);
    if (pattern && name && !named_.try_emplace(*name->as_string(), *pattern).second)
      return Fail(*name, fmt::format("pattern '{}' is defined twice", *name->as_string()));
    return pattern;
  }

  std::optional<Pattern> ReadForm(const OptionValue& value) {
    const auto has = [&](std::string_view key) { return value.Find(key) != nullptr; };
    if (std::ranges::count_if(kForms, has) > 1) return Fail(value, fmt::format("ambiguous pattern: {}", kExpected));
    if (has("op")) return ReadCall(value);
    if (const OptionValue* fields = value.Find("tuple")) {
      const std::optional<std::vector<Pattern>> patterns = ReadList(*fields);
      return patterns ? std::optional(IsTuple(*patterns)) : std::nullopt;
    }
    if (const OptionValue* tuple = value.Find("item")) {
      const std::optional<Pattern> pattern = Read(*tuple);
      const OptionValue* index = value.Find("index");
      if (index && (!index->as_int() || *index->as_int() < 0)) return Fail(*index, "the index must not be negative");
      return pattern ? std::optional(IsTupleGetItem(*pattern, index ? static_cast<int>(*index->as_int()) : kAnyIndex))
                     : std::nullopt;
    }
    const OptionValue* alternatives = value.Find("any_of");
    if (!alternatives) return Wildcard();
    std::optional<std::vector<Pattern>> patterns = ReadList(*alternatives);
    if (!patterns) return std::nullopt;
    if (patterns->empty()) return Fail(*alternatives, "a choice needs a pattern");
    Pattern choice = patterns->back();
    for (size_t i = patterns->size() - 1; i-- > 0;) choice = (*patterns)[i] | choice;
    return choice;
  }

  std::optional<std::vector<Pattern>> ReadList(const OptionValue& value) {
    const OptionValue::List* list = value.as_list();
    if (!list) return Fail(value, fmt::format("expected a list of patterns, not {}", value.KindName()));
    std::vector<Pattern> patterns;
    for (const OptionValue& item : *list) {
      const std::optional<Pattern> pattern = Read(item);
      if (!pattern) return std::nullopt;
      patterns.push_back(*pattern);
    }
    return patterns;
  }

  std::optional<Pattern> ReadCall(const OptionValue& value) {
    const OptionValue& name = *value.Find("op");
    const OpInfo* op = name.as_string() ? FindRelaxOp(*name.as_string()) : nullptr;
    if (!op) return Fail(name, "unknown operator: expected a name such as 'nn.conv2d'");
    std::vector<Pattern> operands;
    const OptionValue* args = value.Find("args");
    if (args) {
      std::optional<std::vector<Pattern>> patterns = ReadList(*args);
      if (!patterns) return std::nullopt;
      operands = *std::move(patterns);
    }
    Pattern call = IsCall(GetOp(op->id), operands);
    if (!args) call = call.AnyMoreArgs();
    const OptionValue* commutative = value.Find("commutative");
    if (commutative && !commutative->as_bool()) return Fail(*commutative, "expected true or false");
    if (commutative && *commutative->as_bool()) {
      if (operands.size() != 2) return Fail(*commutative, "a commutative pattern must have two operands");
      call = call.Commutative();
    }
    const OptionValue* attrs = value.Find("attrs");
    if (attrs && !attrs->is_dict()) return Fail(*attrs, "expected values by the names of attributes");
    return attrs ? call.Where([attrs = *attrs](const Expr* e) { return HasAttrs(e, attrs.entries()); }) : call;
  }

  static bool HasAttrs(const Expr* e, std::span<const OptionValue::Entry> attrs) {
    const auto* call = As<Call>(e);
    const auto* record = call ? As<ObjectAttr>(call->attrs) : nullptr;
    return std::ranges::all_of(attrs, [&](const OptionValue::Entry& entry) {
      const Attr* attr = record ? record->Find(entry.key) : nullptr;
      return attr && SameValue(attr, entry.value);
    });
  }

  std::optional<Pattern> AddConditions(Pattern pattern, const OptionValue& value) {
    if (const OptionValue* dtype = value.Find("dtype")) {
      const std::optional<DataType> type = dtype->as_string() ? DataType::Parse(*dtype->as_string()) : std::nullopt;
      if (!type) return Fail(*dtype, "expected a dtype, such as 'float32'");
      pattern = pattern.WithDtype(*type);
    }
    if (const OptionValue* rank = value.Find("rank")) {
      if (!rank->as_int() || *rank->as_int() < 0) return Fail(*rank, "the rank must not be negative");
      pattern = pattern.WithRank(static_cast<int>(*rank->as_int()));
    }
    const OptionValue* used_once = value.Find("used_once");
    if (used_once && !used_once->as_bool()) return Fail(*used_once, "expected true or false");
    if (used_once && *used_once->as_bool()) pattern = pattern.UsedOnce();
    const OptionValue* shape = value.Find("shape");
    if (!shape) return pattern;
    const auto is_dim = [](const OptionValue& dim) {
      return dim.as_int() || (dim.as_string() && *dim.as_string() == kAny);
    };
    const OptionValue::List* dims = shape->as_list();
    if (!dims || !std::ranges::all_of(*dims, is_dim)) return Fail(*shape, R"(expected a list of numbers and "*")");
    return pattern.Where([shape = *dims](const Expr* e) { return HasShape(e->type, shape); });
  }

  PatternOptionError& error_;
  LookupMap<std::string, Pattern> named_;
};

}  // namespace

std::optional<Pattern> ReadPatternOption(const OptionValue& value, PatternOptionError& error) {
  return PatternReader(error).Read(value);
}

}  // namespace iropt
