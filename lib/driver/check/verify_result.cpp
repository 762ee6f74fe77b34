#include "driver/check/verify_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "driver/check/verify_each.h"
#include "driver/session/place_notes.h"
#include "iropt/analysis/well_formed.h"
#include "iropt/ir/structural.h"
#include "iropt/support/file.h"
#include "iropt/text/script/version.h"

namespace iropt {

namespace {

std::string_view LineAt(std::string_view text, size_t begin) {
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

Result<Module> ResultVerifier::ReadBack(const std::string& text, std::optional<TextVersion> version) {
  const auto buffer = std::make_shared<const FileBuffer>(text);
  Result<Module> module = compiler_.Parse({.name = "<output>",
                                           .owner = buffer,
                                           .text = buffer->text(),
                                           .format = &Formats().front(),
                                           .unknown_version = version});
  if (module.ok() || !module.error().reported()) return module;
  compiler_.diagnostics().Error({}, "roundtrip-mismatch", "the output does not read back");
  return Failure{ErrorCode::Rejected};
}

Status ResultVerifier::ExpectSameText(DiagId kind, std::string_view message, std::string_view expected,
                                      std::string_view found) {
  if (expected == found) return {};
  const size_t at = static_cast<size_t>(std::ranges::mismatch(expected, found).in1 - expected.begin());
  const size_t begin = expected.substr(0, at).rfind('\n') + 1;  // 0 in the first line
  const auto line = 1 + std::ranges::count(expected.substr(0, at), '\n');
  compiler_.diagnostics()
      .Error({}, kind, fmt::format("{}; the first difference is in line {} of the output", message, line))
      .Note({}, fmt::format("before: {}", LineAt(expected, begin)))
      .Note({}, fmt::format("after:  {}", LineAt(found, begin)));
  return Failure{ErrorCode::Rejected};
}

Status ResultVerifier::CheckWellFormed(const ModuleSource& source, const Module& result, const Pass& pass,
                                       PassContext context) {
  VerifyOptions strict = compiler_.verify_options();
  strict.allow_free_vars = false;
  DiagnosticBuffer first;
  DiagnosticEngine ignored(&first);
  if (VerifyModule(result, strict, ignored)) return {};
  IROPT_ASSIGN_OR_RETURN(Module input, compiler_.Parse(source));
  DiagnosticBuffer buffer;
  DiagnosticEngine found(&buffer);
  if (VerifyMade(input, result, strict, found)) return {};
  const Result<PassResult> again = pass(std::move(input), context);
  if (!again.ok() && again.error().code == ErrorCode::Rejected) return again.error();
  // Checked pass by pass the module is well-formed, for example because a pass is not deterministic.
  compiler_.diagnostics().Error({}, "ill-formed-result", "the passes made an ill-formed module");
  ReportWithPlaces(buffer, result, compiler_.diagnostics());
  return Failure{ErrorCode::Rejected};
}

// A text may be refused whose module is accepted: what the text does not say, reading derives.
Status ResultVerifier::ExpectWellFormed(const Module& module, const Module& again) {
  DiagnosticBuffer ignored;
  DiagnosticBuffer buffer;
  DiagnosticEngine before(&ignored);
  DiagnosticEngine found(&buffer);
  if (VerifyModule(again, compiler_.verify_options(), found)) return {};
  if (compiler_.options().no_verify && !VerifyModule(module, compiler_.verify_options(), before)) return {};
  compiler_.diagnostics().Error(
      {}, "roundtrip-mismatch",
      fmt::format("the output reads back as an ill-formed module: {}", buffer.diagnostics().front().message));
  return Failure{ErrorCode::Rejected};
}

Status ResultVerifier::CheckRoundTrip(const Module& module) {
  const std::string text = compiler_.PrintToString(module);
  IROPT_ASSIGN_OR_RETURN(const Module again, ReadBack(text, module.text_version()));
  IROPT_RETURN_IF_ERROR(ExpectWellFormed(module, again));
  const StructuralOptions by_structure{.map_free_vars = true};
  const std::optional<std::string> difference =
      FirstDifference(WithoutBufferDeclarations(module), WithoutBufferDeclarations(again), by_structure);
  if (difference) {
    compiler_.diagnostics().Error({}, "roundtrip-mismatch",
                                  fmt::format("the output reads back as another module: {}", *difference));
    return Failure{ErrorCode::Rejected};
  }
  // The declarations that only the text has number the names of buffers again.
  if (FirstDifference(module, again, by_structure)) return {};
  return ExpectSameText("roundtrip-mismatch", "the output reads back and prints differently", text,
                        compiler_.PrintToString(again));
}

Status ResultVerifier::CheckDeterministic(const ModuleSource& source, const Module& result, const Pass& pass,
                                          PassContext context) {
  constexpr int kManyThreads = 4;
  context.threads = context.threads == 1 ? kManyThreads : 1;
  IROPT_ASSIGN_OR_RETURN(Module input, compiler_.Parse(source));
  IROPT_ASSIGN_OR_RETURN(PassResult again, pass(std::move(input), context));
  CompleteForVersion(again.module);
  return ExpectSameText("not-deterministic", "a second run of the passes gives another module",
                        compiler_.PrintToString(result), compiler_.PrintToString(again.module));
}

Status ResultVerifier::CheckIdempotent(const Module& module, const Pass& pass, PassContext context) {
  const std::string text = compiler_.PrintToString(module);
  IROPT_ASSIGN_OR_RETURN(Module again, ReadBack(text, module.text_version()));
  IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(again), context));
  CompleteForVersion(result.module);
  compiler_.weights().Externalize(result.module);
  return ExpectSameText("not-idempotent", "a second run of the passes changes the module", text,
                        compiler_.PrintToString(result.module));
}

}  // namespace iropt
