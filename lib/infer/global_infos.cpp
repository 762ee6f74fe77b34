#include "iropt/infer/global_infos.h"

#include <charconv>
#include <optional>

namespace iropt {

namespace {

std::optional<size_t> ParseIndex(std::string_view text) {
  size_t index = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

// The entry `index` of the global infos called `list`, or null.
const Attr* GlobalInfo(const Module* module, std::string_view list, size_t index) {
  if (!module) return nullptr;
  const auto it = module->global_infos().find(list);
  return it != module->global_infos().end() && index < it->second.size() ? it->second[index] : nullptr;
}

// Consumes the text up to the character and the character.
std::string_view TakeUntil(char c, std::string_view& text) {
  const size_t end = std::min(text.find(c), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

const VDeviceAttr* FindVDevice(const Module* module, std::string_view name) {
  const std::string_view kind = TakeUntil(':', name);
  const std::string_view number = TakeUntil(':', name);
  const std::optional<size_t> index = number.empty() ? 0 : ParseIndex(number);
  if (!index) return nullptr;
  const auto find = [&](bool counts_scope) -> const VDeviceAttr* {
    size_t seen = 0;
    for (size_t i = 0; const Attr* info = GlobalInfo(module, "vdevice", i); ++i) {
      const auto* device = As<VDeviceAttr>(info);
      if (!device || (counts_scope && device->memory_scope != name)) continue;
      const auto* found = device->target ? As<StrAttr>(device->target->Find("kind")) : nullptr;
      const bool same = kind == "vdevice" || (found && found->value == kind);
      if (same && seen++ == *index) return device;
    }
    return nullptr;
  };
  // TVM 0.23 and newer count all devices of the kind, and add the scope.
  const VDeviceAttr* device = find(false);
  return name.empty() || (device && device->memory_scope == name) ? device : find(true);
}

const DeviceMeshAttr* FindDeviceMesh(const Module* module, std::string_view name) {
  if (!name.ends_with(']')) return nullptr;
  const std::string_view list = TakeUntil('[', name);
  const std::optional<size_t> index = ParseIndex(TakeUntil(']', name));
  return index ? As<DeviceMeshAttr>(GlobalInfo(module, list, *index)) : nullptr;
}

}  // namespace iropt
