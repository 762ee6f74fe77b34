// The row of Relay text.
#include <algorithm>
#include <string_view>

#include "iropt/exchange/format.h"

namespace iropt::formats {

namespace {

constexpr std::string_view kRelayExtensions[] = {".relay"};

// A text of Relay begins with its version, which TVM 0.6 writes as v0.0.4, or with a function.
bool IsRelay(std::string_view contents) {
  contents.remove_prefix(std::min(contents.find_first_not_of(" \t\r\n"), contents.size()));
  return contents.starts_with("#[version") || contents.starts_with("v0.0.") || contents.starts_with("def @");
}

}  // namespace

extern const FormatRow relay;
constinit const FormatRow relay{.name = "relay",
                                .extensions = kRelayExtensions,
                                .sniff = &IsRelay,
                                .weights_are_parameters = true,
                                .library = "libiropt_relay.so"};

}  // namespace iropt::formats
