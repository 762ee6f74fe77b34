#include "make_pass.h"

#include <utility>

#include "iropt/transform/passes.h"

namespace iropt::transform {

namespace {

// The reference makes the linker take the table of passes, which PassRegistry::Global() is filled with, into programs
// that make passes by these functions only.
[[gnu::used]] constexpr const PassRegistry& (*kAllPasses)() = &AllPasses;

}  // namespace

Pass MakePass(std::string_view name, std::span<const OptionValue::Entry> options) {
  DiagnosticBuffer reports;
  DiagnosticEngine diagnostics(&reports);
  Result<Pass> pass = PassRegistry::Global().Create(name, {options.begin(), options.end()}, diagnostics);
  if (pass) return *std::move(pass);
  return CreateModulePass(
      PassRegistry::Global().Find(name)->info,
      [refusals = reports.diagnostics()](const Module&, ModulePassContext& context) -> Result<Module> {
        for (const Diagnostic& refusal : refusals) context.diagnostics.Report(refusal);
        return Failure{ErrorCode::Usage};
      });
}

}  // namespace iropt::transform
