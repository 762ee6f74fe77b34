#include "iropt/runtime/packed_func.h"

#include <fmt/format.h>

#include "iropt/runtime/packed_library.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/shared_object.h"
#include "iropt/support/version.h"
#include "packed/builtins.h"

namespace iropt {

namespace {

constexpr std::string_view kOnnxPrefix = "onnx.";
constexpr const char* kOnnxObject = "libiropt_onnx.so";

// Null if there is no such object, or it is of another version.
const PackedRegistry* LoadPackedLibrary(const char* name) {
  const Result<void*> object = OpenSharedObject(name);
  if (!object.ok()) return nullptr;
  const auto entry = reinterpret_cast<const PackedLibrary* (*)()>(FindSymbol(*object, kPackedEntryPoint));
  const PackedLibrary* library = entry != nullptr ? entry() : nullptr;
  return library != nullptr && std::string_view(library->version) == IROPT_VERSION ? library->registry : nullptr;
}

// The registry of the library that has functions with such names; null if there is none.
const PackedRegistry* LibraryOf(std::string_view name) {
  if (!name.starts_with(kOnnxPrefix)) return nullptr;
  static const PackedRegistry* const onnx = LoadPackedLibrary(kOnnxObject);
  return onnx;
}

}  // namespace

void PackedRegistry::Set(std::string name, PackedFunc func) { funcs_[std::move(name)] = std::move(func); }

const PackedFunc* PackedRegistry::Find(std::string_view name) const {
  const auto it = funcs_.find(name);
  if (it != funcs_.end()) return &it->second;
  const PackedRegistry* library = LibraryOf(name);
  if (library == nullptr) return nullptr;
  const auto loaded = library->funcs_.find(name);
  return loaded == library->funcs_.end() ? nullptr : &loaded->second;
}

std::vector<std::string_view> PackedRegistry::Names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, func] : funcs_) names.push_back(name);
  return names;
}

Result<HostValue> PackedRegistry::Call(std::string_view name, std::span<const HostValue> args,
                                       PackedContext& context) const {
  if (const PackedFunc* func = Find(name)) {
    PackedCall call(name, args, context);
    return (*func)(call);
  }
  return Error{ErrorCode::SemanticCheck,
               fmt::format("unknown packed function '{}'{}", name, DidYouMean(name, Names()))};
}

PackedRegistry MakeRuntimePackedFuncs() {
  PackedRegistry registry;
#define IROPT_PACKED(name, function) registry.Set(name, packed::function);
#include "packed/builtins.def"
  return registry;
}

}  // namespace iropt
