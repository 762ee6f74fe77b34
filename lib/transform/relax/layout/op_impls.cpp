#include "op_impls.h"

#include <fmt/format.h>

#include <optional>

#include "iropt/transform/options/AlterOpImpl.h"

namespace iropt {

namespace {

class ImplReader {
 public:
  explicit ImplReader(const PassOptions& options) : options_(options), given_(options) {}

  OpImpls Read() {
    for (const OptionValue::Entry& entry : Entries(given_.op_impl_map)) {
      if (const std::string* name = entry.value.as_string()) {
        impls_[entry.key] = {.function = *name, .span = entry.value.span()};
      } else {
        options_.Refuse(given_.op_impl_map, entry.value.span(), "must have names of PrimFuncs by kinds of operators");
      }
    }
    for (const OptionValue::Entry& entry : Entries(given_.op_buffer_transforms)) {
      OpImpl* impl = Find(given_.op_buffer_transforms, entry);
      for (const OptionValue& item : ListOf(given_.op_buffer_transforms, entry)) {
        const std::optional<const IndexMapAttr*> map = ReadMap(item);
        if (impl && map) impl->transforms.push_back(*map);
      }
    }
    ReadSeparators(given_.op_buffer_axis_separators, &OpImpl::axis_separators);
    ReadSeparators(given_.op_buffer_input_axis_separators, &OpImpl::input_axis_separators);
    return impls_;
  }

 private:
  std::span<const OptionValue::Entry> Entries(const TypedOption<OptionValue>& option) {
    return options_.Entries(option, "must be an object with kinds of operators as its keys");
  }

  OpImpl* Find(const TypedOption<OptionValue>& option, const OptionValue::Entry& entry) {
    const auto found = impls_.find(entry.key);
    if (found != impls_.end()) return &found->second;
    options_.Refuse(option, entry.key_span, fmt::format("has '{}', which op_impl_map lacks", entry.key));
    return nullptr;
  }

  const OptionValue::List& ListOf(const TypedOption<OptionValue>& option, const OptionValue::Entry& entry) {
    static const OptionValue::List empty;
    const OptionValue::List* list = entry.value.as_list();
    if (!list) options_.Refuse(option, entry.value.span(), "must have a list of an item for each parameter");
    return list ? *list : empty;
  }

  // Null for no transformation, nothing after an error.
  std::optional<const IndexMapAttr*> ReadMap(const OptionValue& value) {
    if (value.is_null()) return nullptr;
    const std::string* text = value.as_string();
    if (!text || !options_.reader()) {
      options_.Refuse(given_.op_buffer_transforms, value.span(),
                      "must have index maps such as \"lambda i: (i // 4, i % 4)\", or null");
      return std::nullopt;
    }
    const std::string call = text->starts_with("lambda") ? fmt::format("T.index_map({})", *text) : *text;
    const Module empty;
    Workspace scratch;
    const Attr* attr = options_.reader()->ReadAttr(call, {empty, scratch, options_.diagnostics(), value.span()});
    if (!attr) return std::nullopt;
    if (const auto* map = As<IndexMapAttr>(attr)) return map;
    options_.Refuse(given_.op_buffer_transforms, value.span(),
                    fmt::format("has '{}', which is not an index map", *text));
    return std::nullopt;
  }

  void ReadSeparators(const TypedOption<OptionValue>& option, std::vector<std::vector<int64_t>> OpImpl::*field) {
    for (const OptionValue::Entry& entry : Entries(option)) {
      OpImpl* impl = Find(option, entry);
      for (const OptionValue& item : ListOf(option, entry)) {
        std::vector<int64_t> separators;
        const OptionValue::List none;
        const OptionValue::List* list = item.is_null() ? &none : item.as_list();
        for (const OptionValue& axis : list ? *list : none) {
          if (axis.as_int()) separators.push_back(*axis.as_int());
        }
        if (!list || separators.size() != list->size())
          options_.Refuse(option, item.span(), "must have a list of axes for each parameter");
        if (impl) (impl->*field).push_back(std::move(separators));
      }
    }
  }

  const PassOptions& options_;
  const pass_options::AlterOpImpl given_;
  OpImpls impls_;
};

}  // namespace

OpImpls ReadOpImpls(const PassOptions& options) { return ImplReader(options).Read(); }

}  // namespace iropt
