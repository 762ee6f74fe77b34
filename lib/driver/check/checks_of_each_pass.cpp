#include "driver/check/checks_of_each_pass.h"

#include <string_view>

#include "driver/check/race_check.h"
#include "driver/check/round_trip_audit.h"
#include "driver/check/verify_each.h"
#include "iropt/pass/config.h"
#include "iropt/pass/property_audit.h"

namespace iropt {

ChecksOfEachPass MakeChecksOfEachPass(CompilerInstance& compiler, const Pass* pipeline, PassContext& context) {
  DiagnosticEngine& diagnostics = compiler.diagnostics();
  static_cast<void>(context.SetConfig(config::testing::verify_analyses.name, true, diagnostics));
  const auto audit = std::make_shared<ChangeAudit>();
  const auto is_set = [&context](std::string_view key) { return context.Config(ConfigKey<bool>{key}); };
  return {.before = audit,
          .after = {std::make_shared<VerifyEach>(compiler.verify_options(), audit, diagnostics),
                    std::make_shared<PropertyAudit>(is_set, diagnostics),
                    std::make_shared<RoundTripAudit>(audit, compiler.threads(), diagnostics),
                    std::make_shared<RaceCheck>(pipeline, audit, diagnostics)}};
}

}  // namespace iropt
