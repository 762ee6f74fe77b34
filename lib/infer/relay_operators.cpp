#include "iropt/infer/relay_operators.h"

#include <fmt/format.h>

#include "iropt/support/shared_object.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

constexpr const char* kRelayLibrary = "libiropt_relay.so";

Error NoRelayOperators(std::string_view reason) {
  return {ErrorCode::Usage, fmt::format("cannot load the operators of Relay: {}", reason)};
}

}  // namespace

Result<const RelayOperators*> LoadRelayOperators() {
  const Result<void*> object = OpenSharedObject(kRelayLibrary);  // the loader knows which objects are loaded already
  if (!object.ok()) return NoRelayOperators(object.error().message);
  const auto entry = reinterpret_cast<const RelayOperators* (*)()>(FindSymbol(*object, kRelayOperatorsEntryPoint));
  if (entry == nullptr) return NoRelayOperators(fmt::format("{} does not have them", kRelayLibrary));
  const RelayOperators* operators = entry();
  if (std::string_view(operators->version) != IROPT_VERSION) {
    return NoRelayOperators(fmt::format("{} is of version {}, this program is of version {}", kRelayLibrary,
                                        operators->version, IROPT_VERSION));
  }
  return operators;
}

}  // namespace iropt
