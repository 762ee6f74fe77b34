// tir.ApplyTrace: applies the instructions of a schedule's trace.
//
//   // split.trace: b0 = sch.get_block("B", "main"); l1, = sch.get_loops(b0); l2, l3 = sch.split(l1, [None, 16])
//   for i in range(128):              for i_0, i_1 in T.grid(8, 16):
//       with T.block("B"):     -->        with T.block("B"):
//           vi = ...                          vi = T.axis.spatial(128, i_0 * 16 + i_1)
//
// The option `file` names a file with TVM's JSON of a trace (Trace.as_json()) or the Python statements that print it;
// the option `trace` is that text itself. With `func`, all blocks are looked for in that function, whatever names the
// trace has. An instruction that cannot be applied is an error; the module then stays as it was. The cost is that of
// the primitives, see include/iropt/schedule.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "iropt/pass/applied_trace.h"
#include "iropt/pass/located_text.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/trace.h"
#include "iropt/support/file.h"
#include "iropt/transform/options/ApplyTrace.h"
#include "transform/tir/schedule/run_schedule.h"

namespace iropt {

namespace {

schedule::Trace TraceOf(std::string_view text, SourceSpan span, DiagnosticEngine& diagnostics) {
  auto trace = schedule::ReadTrace(text);
  if (trace) return *std::move(trace);
  diagnostics.Error(span, "bad-trace", fmt::format("the trace cannot be read: {}", trace.error().message));
  return {};
}

// Errors are located in the file, if the context has the sources of its diagnostics.
schedule::Trace ReadTraceFile(const std::string& path, SourceSpan span, const PassOptions& options) {
  const auto file = ReadFile(path);
  if (!file) {
    options.diagnostics().Error(span, "file", file.error().message);
    return {};
  }
  const auto* sources = dynamic_cast<const SourceReader*>(options.reader());
  const std::optional<uint32_t> base = sources ? sources->AddSource(path, *file) : std::nullopt;
  if (!base) return TraceOf((*file)->text(), span, options.diagnostics());
  auto trace = schedule::ReadLocatedTrace((*file)->text(), *base, options.diagnostics());
  return trace ? *std::move(trace) : schedule::Trace();
}

}  // namespace

Pass CreateApplyTrace(const PassOptions& options) {
  const pass_options::ApplyTrace given(options);
  const std::string& path = *given.file;
  auto trace = std::make_shared<schedule::Trace>();
  if (path.empty() == given.trace->empty())
    options.Refuse(given.file, "or 'trace' must be given, and not both of them");
  else
    *trace = path.empty() ? TraceOf(*given.trace, given.trace.span(), options.diagnostics())
                          : ReadTraceFile(path, given.file.span(), options);
  const auto intrinsics = std::make_shared<TensorIntrinsics>(options, given.intrinsics);
  return CreateModulePass(
      options.info(),
      [trace, intrinsics, func = *given.func](Module module, ModulePassContext& context) -> Result<Module> {
        schedule::Schedule sch(std::move(module), intrinsics.get(), func);
        IROPT_RETURN_IF_ERROR(ApplyTrace(*trace, sch, context.context, context.diagnostics));
        if (WantsTraces()) ReportTrace({}, schedule::ToPython(sch.trace()));
        return sch.Finish();
      });
}

}  // namespace iropt
