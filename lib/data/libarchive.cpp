#include "libarchive.h"

#include <fmt/format.h>

#include <type_traits>

#include "iropt/support/shared_object.h"

namespace iropt::data {

namespace {

constexpr const char* kSharedObject = "libarchive.so.13";

Result<LibArchive> FindFunctions() {
  const Result<void*> object = OpenSharedObject(kSharedObject);
  if (!object.ok()) {
    return Error{ErrorCode::Usage,
                 fmt::format("archives need libarchive, which cannot be loaded: {}", object.error().message)};
  }
  LibArchive functions;
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(FindSymbol(*object, name));
    if (function == nullptr) missing = name;
  };
#define IROPT_FIND(name) find(functions.name, "archive_" #name);
  IROPT_LIBARCHIVE_FUNCTIONS(IROPT_FIND)
#undef IROPT_FIND
  if (missing != nullptr) return Error{ErrorCode::Usage, fmt::format("{} does not have {}", kSharedObject, missing)};
  return functions;
}

}  // namespace

Result<const LibArchive*> LoadLibArchive() {
  static const Result<LibArchive> functions = FindFunctions();
  if (!functions.ok()) return functions.error();
  return &*functions;
}

}  // namespace iropt::data
