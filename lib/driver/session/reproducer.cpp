#include "driver/session/reproducer.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/observe/snapshot.h"
#include "iropt/support/crash.h"
#include "iropt/support/file.h"

namespace iropt {

Reproducer::Reproducer(std::string path, PipelineFile settings, CompilerInstance& compiler)
    : path_(std::move(path)), settings_(std::move(settings)), compiler_(compiler) {}

Reproducer::~Reproducer() { WriteFileOnCrash({}, {}); }

void Reproducer::Begin(const ModuleSource& input) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view text = input.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string chunk = compiler_.chunk().empty() ? "" : fmt::format(" ({})", compiler_.chunk());
  title_ = fmt::format("a run on {}{} failed", input.name, chunk);
  text_ = SnapshotHeader(title_, settings_, path_);
  text_ += text;
  WriteFileOnCrash(path_, text_);
}

Status Reproducer::Write(std::optional<LocalReproducer> local) {
  if (std::exchange(written_, true)) return {};
  if (local) {
    const std::string title = fmt::format("{} in pass '{}'", title_, local->settings.passes->front().name);
    IROPT_RETURN_IF_ERROR(WriteLocalReproducer(path_, title, *std::move(local), settings_.instruments, compiler_));
  } else {
    IROPT_RETURN_IF_ERROR(WriteFileAtomically(path_, [&](OutputStream& out) {
      out.Append(text_);
      return out.Flush();
    }));
  }
  compiler_.diagnostics().Remark({}, "reproducer", fmt::format("to repeat this run: ir-opt -run-reproducer {}", path_));
  return {};
}

}  // namespace iropt
