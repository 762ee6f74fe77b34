// Operators that are not in the tables: those of plugins.
#include "added_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "iropt/support/arena.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

class AddedTable {
 public:
  const std::deque<OpInfo>& ops() const { return infos_; }

  const OpInfo* ByName(std::string_view name) const {
    return name.starts_with(kRelax) ? ByScript(name.substr(kRelax.size())) : nullptr;
  }
  const OpInfo* ByScript(std::string_view name) const {
    const auto found = by_script_.find(name);
    return found == by_script_.end() ? nullptr : found->second;
  }

  const OpInfo& Add(const OpSpec& spec) {
    OpInfo& info = infos_.emplace_back();
    info.name = Copy(fmt::format("{}{}", kRelax, spec.name));
    info.script = Copy(fmt::format("R.{}", spec.name));
    if (!spec.attrs.empty()) info.attrs_key = Copy(fmt::format("relax.attrs.{}", spec.name));
    info.pure = spec.pure;
    info.mixed_precision = spec.mixed_precision;
    info.pattern = spec.pattern;
    info.functions = spec.functions;
    AddParams(spec, info);
    info.id = static_cast<OpId>(kFirstAddedId + infos_.size() - 1);
    info.op = nodes_.New<Op>(info.id, info.name, &info);
    by_script_.emplace(info.script.substr(2), &info);
    return info;
  }

 private:
  static constexpr std::string_view kRelax = "relax.";

  std::string_view Copy(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::string_view Copy(std::string_view text) { return Copy(std::string(text)); }

  // The parameters are the operands, then the attributes.
  void AddParams(const OpSpec& spec, OpInfo& info) {
    std::vector<OpArg>& args = args_.emplace_back(spec.args);
    std::vector<OpAttr>& attrs = attrs_.emplace_back(spec.attrs);
    std::vector<OpParam>& params = params_.emplace_back();
    for (OpArg& arg : args) {
      arg.name = arg.registered = Copy(arg.name);
      const bool required = arg.absence == ArgAbsence::kRequired;
      const auto index = static_cast<uint8_t>(params.size());
      params.push_back(
          {arg.name, OpParam::Role::kArg, index, false, false, required ? OpDefault() : OpDefault::None()});
    }
    for (OpAttr& attr : attrs) {
      attr.name = Copy(attr.name);
      attr.fallback.text = Copy(attr.fallback.text);
      const auto index = static_cast<uint8_t>(params.size() - args.size());
      params.push_back({attr.name, OpParam::Role::kAttr, index, false, false, attr.fallback});
    }
    info.args = args;
    info.attrs = attrs;
    info.params = params;
  }

  // Nothing here moves: operators point into it.
  std::deque<OpInfo> infos_;
  std::deque<std::string> texts_;
  std::deque<std::vector<OpArg>> args_;
  std::deque<std::vector<OpAttr>> attrs_;
  std::deque<std::vector<OpParam>> params_;
  Arena nodes_;
  std::map<std::string_view, const OpInfo*> by_script_;
};

AddedTable& TheAddedTable() {
  // Never destroyed: nodes of the table may be used until the very end of the process.
  static AddedTable& table = *new AddedTable;
  return table;
}

constexpr size_t kMostParams = 16;

bool IsIdentifier(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !text.empty() && kLetters.find(text[0]) != std::string_view::npos &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
             std::string_view::npos;
}

// Words joined by dots, of which there is one at least: the names of TVM's operators have the others.
bool IsAddedName(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos || !IsIdentifier(name.substr(0, dot))) return false;
  const std::string_view rest = name.substr(dot + 1);
  return IsIdentifier(rest) || IsAddedName(rest);
}

std::string RefusalOfParams(const OpSpec& spec) {
  std::vector<std::string_view> names;
  for (const OpArg& arg : spec.args) names.push_back(arg.name);
  for (const OpAttr& attr : spec.attrs) names.push_back(attr.name);
  if (names.size() > kMostParams) return fmt::format("it has more than {} parameters", kMostParams);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!IsIdentifier(names[i])) return fmt::format("'{}' is not the name of a parameter", names[i]);
    const auto end = names.begin() + static_cast<ptrdiff_t>(i);
    if (std::find(names.begin(), end, names[i]) != end) return fmt::format("two parameters are called '{}'", names[i]);
  }
  for (size_t i = 0; i + 1 < spec.args.size(); ++i) {
    if (spec.args[i].absence == ArgAbsence::kOmitted && spec.args[i + 1].absence != ArgAbsence::kOmitted) {
      return fmt::format("'{}' may be missing, but the operand after it may not", spec.args[i].name);
    }
  }
  return {};
}

}  // namespace

namespace op_detail {

const OpInfo* FindAddedOp(std::string_view name) { return TheAddedTable().ByName(name); }
const OpInfo* FindAddedOpByScript(std::string_view name) { return TheAddedTable().ByScript(name); }

}  // namespace op_detail

const std::deque<OpInfo>& AddedOps() { return TheAddedTable().ops(); }

std::string RefusalOf(const OpSpec& spec) {
  if (!IsAddedName(spec.name)) return "its name must be words joined by dots, such as my_company.scale";
  if (spec.functions.infer == nullptr) return "it has no type rule";
  const OpInfo* known = FindGraphOpByScript(spec.name);
  if (known && known->functions.infer != spec.functions.infer) return "there is already an operator of this name";
  return RefusalOfParams(spec);
}

const OpInfo& AddOp(const OpSpec& spec) {
  const std::string refusal = RefusalOf(spec);
  IROPT_CHECK(refusal.empty(), "operator '{}': {}", spec.name, refusal);
  const OpInfo* known = FindGraphOpByScript(spec.name);
  return known ? *known : TheAddedTable().Add(spec);
}

}  // namespace iropt
