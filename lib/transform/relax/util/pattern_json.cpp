#include "pattern_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/context.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

class PatternReader {
 public:
  PatternReader(SourceSpan fallback, DiagnosticEngine& diagnostics) : fallback_(fallback), diagnostics_(diagnostics) {}

  std::optional<Pattern> Read(const OptionValue& value) {
    return WithStack([&] { return value.as_string() ? ReadWord(value) : ReadObject(value); });
  }

  std::vector<std::pair<std::string, Pattern>> TakeParts() { return std::move(parts_); }

 private:
  using Maybe = std::optional<Pattern>;

  Maybe Fail(const OptionValue& at, std::string message) {
    diagnostics_.Error(at.span().known() ? at.span() : fallback_, "wrong-option-value", std::move(message));
    return std::nullopt;
  }

  // A kind of leaf, or the name of a part, which is anything where it first occurs.
  Maybe ReadWord(const OptionValue& value) {
    const std::string& word = *value.as_string();
    if (word == "*") return Wildcard();
    if (word == "constant") return IsConstant();
    if (word == "var") return IsVar();
    if (word.empty()) return Fail(value, "invalid pattern '': expected '*', 'constant', 'var' or a name");
    for (const auto& [name, part] : parts_) {
      if (name == word) return part;
    }
    return Name(word, Wildcard());
  }

  Pattern Name(const std::string& name, Pattern pattern) {
    parts_.emplace_back(name, pattern);
    return pattern;
  }

  Maybe ReadObject(const OptionValue& value) {
    if (!value.as_dict()) {
      return Fail(value, fmt::format("invalid pattern: expected a string or an object, not {}", value.KindName()));
    }
    Maybe pattern = ReadKind(value);
    for (const OptionValue::Entry& entry : *value.as_dict()) {
      if (pattern) pattern = AddCondition(*std::move(pattern), entry);
    }
    const OptionValue* name = value.Find("name");
    if (!pattern || !name) return pattern;
    if (!name->as_string()) return Fail(*name, "the name of a pattern must be a string");
    return Name(*name->as_string(), *std::move(pattern));
  }

  Maybe ReadKind(const OptionValue& value) {
    if (const OptionValue* op = value.Find("op")) return ReadCall(value, *op);
    if (const OptionValue* fields = value.Find("tuple")) {
      const std::optional<std::vector<Pattern>> read = ReadList(*fields);
      return read ? Maybe(IsTuple(*read)) : std::nullopt;
    }
    if (const OptionValue* tuple = value.Find("item_of")) return ReadItem(value, *tuple);
    if (const OptionValue* choices = value.Find("any_of")) {
      const std::optional<std::vector<Pattern>> read = ReadList(*choices);
      if (!read || read->empty()) return read ? Fail(*choices, "'any_of' must not be empty") : std::nullopt;
      Pattern pattern = read->front();
      for (size_t i = 1; i < read->size(); ++i) pattern = pattern | (*read)[i];
      return pattern;
    }
    if (const OptionValue* kind = value.Find("kind")) {
      if (kind->as_string()) return ReadWord(*kind);
      return Fail(*kind, "'kind' must be '*', 'constant' or 'var'");
    }
    return Fail(value, "invalid pattern: expected one of 'op', 'tuple', 'item_of', 'any_of' and 'kind'");
  }

  Maybe ReadCall(const OptionValue& value, const OptionValue& op) {
    const OpInfo* info = op.as_string() ? FindOp(*op.as_string()) : nullptr;
    if (!info || !info->is_graph_level()) {
      return Fail(op, fmt::format("unknown operator '{}': expected a name such as relax.nn.conv2d",
                                  op.as_string() ? *op.as_string() : ""));
    }
    const OptionValue* args = value.Find("args");
    if (!args) return IsCall(info->op, {}).AnyMoreArgs();
    const std::optional<std::vector<Pattern>> read = ReadList(*args);
    return read ? Maybe(IsCall(info->op, *read)) : std::nullopt;
  }

  Maybe ReadItem(const OptionValue& value, const OptionValue& tuple) {
    const OptionValue* index = value.Find("index");
    const Maybe pattern = Read(tuple);
    if (!pattern) return std::nullopt;
    if (!index) return IsTupleGetItem(*pattern);
    if (!index->as_int() || *index->as_int() < 0) return Fail(*index, "'index' must be a number of a field");
    return IsTupleGetItem(*pattern, static_cast<int>(*index->as_int()));
  }

  std::optional<std::vector<Pattern>> ReadList(const OptionValue& value) {
    const OptionValue::List* list = value.as_list();
    if (!list) return Fail(value, "expected a list of patterns"), std::nullopt;
    std::vector<Pattern> patterns;
    for (const OptionValue& item : *list) {
      const Maybe pattern = Read(item);
      if (!pattern) return std::nullopt;
      patterns.push_back(*pattern);
    }
    return patterns;
  }

  Maybe AddCondition(Pattern pattern, const OptionValue::Entry& entry) {
    const OptionValue& value = entry.value;
    if (entry.key == "commutative") {
      if (pattern.node().children.size() != 3) return Fail(value, "a commutative operator has two operands in 'args'");
      return AddFlag(value, pattern, pattern.Commutative());
    }
    if (entry.key == "more_args") return AddFlag(value, pattern, pattern.AnyMoreArgs());
    if (entry.key == "used_once") return AddFlag(value, pattern, pattern.UsedOnce());
    if (entry.key == "dtype") {
      const std::optional<DataType> dtype = value.as_string() ? DataType::Parse(*value.as_string()) : std::nullopt;
      return dtype ? Maybe(pattern.WithDtype(*dtype)) : Fail(value, "'dtype' must be the name of a dtype");
    }
    if (entry.key == "ndim") {
      if (!value.as_int() || *value.as_int() < 0) return Fail(value, "'ndim' must be a rank");
      return pattern.WithRank(static_cast<int>(*value.as_int()));
    }
    if (entry.key == "shape") return AddShape(value, pattern);
    constexpr std::string_view kKinds[] = {"op", "args", "tuple", "item_of", "index", "any_of", "kind", "name"};
    if (std::ranges::find(kKinds, entry.key) != std::end(kKinds)) return pattern;
    return Fail(value, fmt::format("unknown key '{}' in a pattern", entry.key));
  }

  Maybe AddFlag(const OptionValue& value, const Pattern& without, const Pattern& with) {
    if (!value.as_bool()) return Fail(value, "expected true or false");
    return *value.as_bool() ? with : without;
  }

  // Numbers, and names of symbolic dimensions, which are equal wherever the name occurs in the pattern.
  Maybe AddShape(const OptionValue& value, const Pattern& pattern) {
    std::vector<const PrimExpr*> dims;
    for (const OptionValue& item : value.as_list() ? *value.as_list() : OptionValue::List{OptionValue()}) {
      if (const int64_t* dim = item.as_int()) {
        dims.push_back(IRContext::Current().Int(*dim));
      } else if (const std::string* name = item.as_string()) {
        dims.push_back(Dim(*name));
      } else {
        return Fail(value, "'shape' must be a list of numbers and names");
      }
    }
    return pattern.WithDims(dims);
  }

  const PrimExpr* Dim(const std::string& name) {
    const auto known = std::ranges::find(dims_, name, &std::pair<std::string, const tir::Var*>::first);
    if (known != dims_.end()) return known->second;
    return dims_.emplace_back(name, IRContext::Current().NewSymVar(name)).second;
  }

  SourceSpan fallback_;
  DiagnosticEngine& diagnostics_;
  std::vector<std::pair<std::string, Pattern>> parts_;
  std::vector<std::pair<std::string, const tir::Var*>> dims_;
};

}  // namespace

const Pattern* NamedPattern::Find(std::string_view name) const {
  const auto found = std::ranges::find(parts, name, &std::pair<std::string, Pattern>::first);
  return found == parts.end() ? nullptr : &found->second;
}

std::optional<NamedPattern> ReadPattern(const OptionValue& value, SourceSpan fallback, DiagnosticEngine& diagnostics) {
  PatternReader reader(fallback, diagnostics);
  std::optional<Pattern> pattern = reader.Read(value);
  if (!pattern) return std::nullopt;
  return NamedPattern{*std::move(pattern), reader.TakeParts()};
}

}  // namespace iropt
