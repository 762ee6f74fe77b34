#include "func_attrs.h"

#include <string>
#include <vector>

#include "iropt/ir/context.h"

namespace iropt::text {
namespace {

constexpr std::string_view kOldPrefix = "tir.";
constexpr std::string_view kNewPrefix = "tirx.";

// The prefix of a key is another one from 0.24 on.
std::string_view WithPrefix(std::string_view key, std::string_view from, std::string_view to) {
  if (!key.starts_with(from)) return key;
  return IRContext::Current().InternString(std::string(to) + std::string(key.substr(from.size())));
}

// The names of launch parameters have the same prefix as the key.
const Attr* WithPrefixes(const Attr* names, std::string_view from, std::string_view to) {
  const auto* list = As<ListAttr>(names);
  if (!list) return names;
  std::vector<const Attr*> items;
  for (const Attr* item : list->values) {
    const auto* name = As<StrAttr>(item);
    items.push_back(name ? StrAttr::Get(WithPrefix(name->value, from, to)) : item);
  }
  return ListAttr::Get(items);
}

}  // namespace

bool IsSTir(const PrimFunc& func) {
  const auto* flag = As<IntAttr>(func.attrs->Find(attr::kSTir));
  return !flag || flag->value != 0;
}

const DictAttr* FuncAttrsOfVersion(const DictAttr* attrs, TextVersion version) {
  if (version < TextVersion::kV0_21) return attrs;
  std::vector<DictAttr::Entry> entries;
  for (uint32_t i = 0; i < attrs->size(); ++i) {
    std::string_view key = attrs->keys[i];
    const Attr* value = attrs->values[i];
    const auto* number = As<IntAttr>(value);
    if ((key == attr::kPrimitive || key == attr::kForcePure) && number) value = IntAttr::Bool(number->value != 0);
    if (version >= TextVersion::kV0_24) {
      if (key == attr::kKernelLaunchParams) value = WithPrefixes(value, kOldPrefix, kNewPrefix);
      key = WithPrefix(key, kOldPrefix, kNewPrefix);
    }
    entries.emplace_back(key, value);
  }
  return DictAttr::Get(entries);
}

std::string_view FuncAttrKey(std::string_view key) { return WithPrefix(key, kNewPrefix, kOldPrefix); }

const Attr* FuncAttrOfText(std::string_view key, const Attr* value, std::optional<TextVersion> version) {
  if (key == attr::kKernelLaunchParams) return WithPrefixes(value, kNewPrefix, kOldPrefix);
  const auto* flag = As<IntAttr>(value);
  const bool is_number = key == attr::kPrimitive && flag && version >= TextVersion::kV0_21;
  return is_number ? IntAttr::Get(flag->value) : value;
}

}  // namespace iropt::text
