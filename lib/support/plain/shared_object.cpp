// Shared objects of the project that are built in; others cannot be loaded.
#include "iropt/support/shared_object.h"

#include <fmt/format.h>

#include "support/plain/built_in_objects.h"

namespace iropt {

Result<void*> OpenSharedObject(const std::string& name) {
  for (const BuiltInObject& object : BuiltInObjects()) {
    if (object.name == name) return const_cast<void*>(static_cast<const void*>(&object));
  }
  return Error{ErrorCode::Usage, fmt::format("{}: shared objects cannot be loaded in this build", name)};
}

void* FindSymbol(void* object, const char* symbol) {
  for (const BuiltInSymbol& known : static_cast<const BuiltInObject*>(object)->symbols) {
    if (known.name == symbol) return known.address;
  }
  return nullptr;
}

}  // namespace iropt
