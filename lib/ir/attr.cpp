#include "iropt/ir/attr.h"

#include <algorithm>
#include <vector>

#include "context_impl.h"
#include "iropt/ir/substitute.h"

namespace iropt {

namespace {

template <class T>
List<T> Borrow(std::span<const T> items) {
  return {items.data(), items.size()};
}

template <class T>
bool SameAttrField(const T& a, const T& b) {
  if constexpr (std::is_convertible_v<T, const Attr*>) {
    return AttrEqual(a, b);
  } else if constexpr (std::is_same_v<T, List<const Attr*>>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), AttrEqual);
  } else {
    return node_hashing::EqualValues(a, b);
  }
}

}  // namespace

const NoneAttr* NoneAttr::Get() { return Context().Make(NoneAttr()); }

const IntAttr* IntAttr::Get(int64_t value, DataType dtype) { return Context().Make(IntAttr(dtype, value)); }

const FloatAttr* FloatAttr::Get(double value, DataType dtype) { return Context().Make(FloatAttr(dtype, value)); }

const StrAttr* StrAttr::Get(std::string_view value) { return Context().Make(StrAttr(value)); }

const DTypeAttr* DTypeAttr::Get(DataType value) { return Context().Make(DTypeAttr(value)); }

const ListAttr* ListAttr::Get(std::span<const Attr* const> values) {
  return Context().MakeAttr(ListAttr(Borrow(values)));
}

const DictAttr* DictAttr::Get(std::span<const Entry> entries) {
  std::vector<Entry> sorted(entries.begin(), entries.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  std::vector<std::string_view> keys;
  std::vector<const Attr*> values;
  keys.reserve(sorted.size());
  values.reserve(sorted.size());
  for (const Entry& entry : sorted) {
    if (!keys.empty() && keys.back() == entry.first) {
      values.back() = entry.second;
    } else {
      keys.push_back(entry.first);
      values.push_back(entry.second);
    }
  }
  return Context().MakeAttr(DictAttr({keys.data(), keys.size()}, {values.data(), values.size()}));
}

const Attr* DictAttr::Find(std::string_view key) const {
  const auto at = std::lower_bound(keys.begin(), keys.end(), key);
  return at != keys.end() && *at == key ? values[static_cast<size_t>(at - keys.begin())] : nullptr;
}

const DictAttr* DictAttr::With(std::string_view key, const Attr* value) const {
  std::vector<Entry> entries;
  entries.reserve(keys.size() + 1);
  for (uint32_t i = 0; i < keys.size(); ++i) entries.emplace_back(keys[i], values[i]);
  entries.emplace_back(key, value);
  return Get(entries);
}

const DictAttr* DictAttr::Without(std::string_view key) const {
  if (Find(key) == nullptr) return this;
  std::vector<Entry> entries;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != key) entries.emplace_back(keys[i], values[i]);
  }
  return Get(entries);
}

const ExprAttr* ExprAttr::Get(const PrimExpr* value) { return Context().MakeAttr(ExprAttr(value)); }

const TypeAttr* TypeAttr::Get(const Type* value) { return Context().MakeAttr(TypeAttr(value)); }

const TargetAttr* TargetAttr::Get(const DictAttr* config) { return Context().MakeAttr(TargetAttr(config)); }

const VDeviceAttr* VDeviceAttr::Get(const DictAttr* target, int64_t vdevice_id, std::string_view memory_scope) {
  return Context().MakeAttr(VDeviceAttr(target, vdevice_id, memory_scope));
}

const DeviceMeshAttr* DeviceMeshAttr::Get(std::span<const int64_t> shape, std::span<const int64_t> device_ids,
                                          bool is_range) {
  return Context().Make(DeviceMeshAttr(Borrow(shape), Borrow(device_ids), is_range));
}

const IndexMapAttr* IndexMapAttr::Get(std::span<const tir::Var* const> params, std::span<const PrimExpr* const> results,
                                      const IndexMapAttr* inverse) {
  std::vector<const tir::Var*> canonical;
  std::vector<std::string_view> names;
  SymVarMap map;
  for (const tir::Var* param : params) {
    canonical.push_back(Context().IndexMapParam(canonical.size(), param->dtype));
    names.push_back(param->name);
    map.Set(param, canonical.back());
  }
  std::vector<const PrimExpr*> replaced;
  for (const PrimExpr* result : results)
    replaced.push_back(SubstituteSymVars(IRContext::Current().Intern(result), map));
  return Context().MakeAttr(IndexMapAttr({canonical.data(), canonical.size()}, {replaced.data(), replaced.size()},
                                         {names.data(), names.size()}, inverse));
}

const ObjectAttr* ObjectAttr::Get(std::string_view type_key, std::span<const std::string_view> names,
                                  std::span<const Attr* const> values) {
  IROPT_CHECK(names.size() == values.size(), "{}: {} names, {} values", type_key, names.size(), values.size());
  return Context().MakeAttr(ObjectAttr(type_key, Borrow(names), Borrow(values)));
}

const Attr* ObjectAttr::Find(std::string_view name) const {
  const auto* at = std::find(names.begin(), names.end(), name);
  return at != names.end() ? values[static_cast<size_t>(at - names.begin())] : nullptr;
}

const ObjectAttr* ObjectAttr::With(uint32_t field, const Attr* value) const {
  IROPT_CHECK(field < values.size(), "{} has {} fields", type_key, values.size());
  std::vector<const Attr*> changed(values.begin(), values.end());
  changed[field] = value;
  return Get(type_key, names, changed);
}

bool AttrEqual(const Attr* a, const Attr* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || !a->by_structure() || !b->by_structure()) return false;
  return DispatchIn<NodeGroup::kAttr>(a, [&]<class X>(const X* attr) {
    return FieldsEqual(*attr, *static_cast<const X*>(b), [](auto field, const auto& x, const auto& y) {
      return field.role == FieldRole::kIgnored || SameAttrField(x, y);
    });
  });
}

}  // namespace iropt
