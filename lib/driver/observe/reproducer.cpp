#include "reproducer.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/support/crash.h"
#include "iropt/support/file.h"
#include "snapshot.h"

namespace iropt {

Reproducer::Reproducer(std::string path, PipelineFile settings, CompilerInstance& compiler)
    : path_(std::move(path)), settings_(std::move(settings)), compiler_(compiler) {}

Reproducer::~Reproducer() { WriteFileOnCrash({}, {}); }

void Reproducer::Begin(const ModuleSource& input) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view text = input.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string chunk = compiler_.chunk().empty() ? "" : fmt::format(" ({})", compiler_.chunk());
  text_ = SnapshotHeader(fmt::format("a run on {}{} failed", input.name, chunk), settings_, path_);
  text_ += text;
  WriteFileOnCrash(path_, text_);
}

Status Reproducer::Write() {
  if (std::exchange(written_, true)) return {};
  IROPT_RETURN_IF_ERROR(WriteFileAtomically(path_, [&](OutputStream& out) {
    out.Append(text_);
    return out.Flush();
  }));
  compiler_.diagnostics().Remark({}, "reproducer", fmt::format("to repeat this run: ir-opt -run-reproducer {}", path_));
  return {};
}

}  // namespace iropt
