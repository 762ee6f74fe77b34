#include "call_sizes.h"

#include <algorithm>

#include "iropt/ir/relax/walk.h"

namespace iropt {

size_t BytesOfCall(const Module& module) {
  constexpr size_t kLeast = 40;  // with short names
  constexpr size_t kWithoutNames = 20;
  struct Names : WalkHandler {
    void OnBinding(const Binding& binding) {
      ++count;
      bytes += binding.var->name().size();
    }
    size_t count = 0;
    size_t bytes = 0;
  } names;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(*function, names);
  }
  return names.count == 0 ? kLeast : std::max(kLeast, kWithoutNames + 2 * names.bytes / names.count);
}

}  // namespace iropt
