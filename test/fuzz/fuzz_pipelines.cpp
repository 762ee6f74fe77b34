// The readers of pipelines, as a string and as a file, and of traces must answer any text with a value or with an
// error. What they accept is the same after it is printed and read again.
#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/schedule/trace.h"
#include "iropt/support/check.h"

namespace {

using namespace iropt;

void CheckPipeline(std::string_view text) {
  DiagnosticBuffer buffer;
  CompilerInstance compiler({}, buffer);
  const std::optional<Pipeline> pipeline = ParsePipeline(text, 1, compiler.diagnostics());
  IROPT_CHECK(pipeline.has_value() != compiler.diagnostics().has_errors());
  if (!pipeline) return;
  const std::string printed = PrintPipeline(*pipeline);
  const std::optional<Pipeline> again = ParsePipeline(printed, 1, compiler.diagnostics());
  IROPT_CHECK(again && PrintPipeline(*again) == printed, "the printed pipeline is another one: {}", printed);
  // Names and options are checked here.
  static_cast<void>(BuildPipeline(*pipeline, compiler.registry(), compiler.diagnostics()));
}

void CheckFile(std::string_view text) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  const std::optional<PipelineFile> file = ParsePipelineFile(text, 1, diagnostics);
  IROPT_CHECK(file.has_value() != diagnostics.has_errors());
  if (!file) return;
  const std::string printed = PrintPipelineFile(*file);
  const std::optional<PipelineFile> again = ParsePipelineFile(printed, 1, diagnostics);
  IROPT_CHECK(again && PrintPipelineFile(*again) == printed, "the printed file is another one: {}", printed);
}

void CheckTrace(std::string_view text) {
  const Result<schedule::Trace> trace = schedule::ReadTrace(text);
  if (!trace.ok()) return;
  const std::string json = schedule::ToJson(*trace);
  const Result<schedule::Trace> again = schedule::ReadTraceJson(std::string_view(json));
  IROPT_CHECK(again.ok(), "the printed trace does not read back: {}\n{}", again.error().message, json);
  IROPT_CHECK(schedule::ToJson(*again) == json, "the printed trace is another one: {}", json);
  static_cast<void>(schedule::ToPython(schedule::Simplify(*trace)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A context of its own for each input, so that nothing piles up.
  IRContext context;
  const IRContext::Scope scope(context);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckPipeline(text);
  CheckFile(text);
  CheckTrace(text);
  return 0;
}
