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
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/trace.h"
#include "iropt/support/file.h"
#include "pass_options/ApplyTrace.h"
#include "transform/tir/schedule/run_schedule.h"

namespace iropt {

Pass CreateApplyTrace(const PassOptions& options) {
  const pass_options::ApplyTrace given(options);
  const std::string& path = *given.file;
  auto trace = std::make_shared<schedule::Trace>();
  std::string text = *given.trace;
  if (path.empty() == text.empty()) {
    options.Refuse(given.file, "or 'trace' must be given, and not both of them");
  } else if (!path.empty()) {
    const auto file = ReadFile(path);
    if (!file) options.diagnostics().Error(given.file.span(), "file", file.error().message);
    if (file) text = (*file)->text();
  }
  if (!text.empty()) {
    auto read = schedule::ReadTrace(text);
    if (!read)
      options.diagnostics().Error((path.empty() ? given.trace : given.file).span(), "bad-trace",
                                  fmt::format("the trace cannot be read: {}", read.error().message));
    if (read) *trace = *std::move(read);
  }
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
