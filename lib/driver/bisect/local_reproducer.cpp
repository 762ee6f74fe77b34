#include "local_reproducer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "driver/session/module_part.h"
#include "iropt/observe/snapshot.h"

namespace iropt {

Result<bool> Localizer::IsBad(const Module& module) {
  IROPT_ASSIGN_OR_RETURN(const Verdict verdict, test_.Try(module, *pass_, context_, {}));
  // Another reason is another bug.
  if (verdict.is_good || verdict.code != code_ || verdict.reason != reason_) return false;
  if (test_.request().check != BisectRequest::Check::Command) return true;
  // A command may miss what the part does not have.
  IROPT_ASSIGN_OR_RETURN(const Verdict before, test_.Try(module, Sequential({}), context_, {}));
  return before.is_good;
}

Result<std::optional<Localizer::Roots>> Localizer::BadHalf(const Module& module, const Roots& roots) {
  const auto middle = roots.begin() + static_cast<std::ptrdiff_t>(roots.size() / 2);
  for (Roots half : {Roots(roots.begin(), middle), Roots(middle, roots.end())}) {
    IROPT_ASSIGN_OR_RETURN(const bool is_bad, IsBad(PartOf(module, half)));
    if (is_bad) return std::optional(std::move(half));
  }
  return std::optional<Roots>();
}

Result<std::optional<LocalReproducer>> Localizer::Find(const FailurePoint& point, int code) {
  code_ = code;
  PipelineFile settings = setup_.settings().ForPass(point.pass);
  context_ = setup_.settings().ContextFor(settings);
  const DiagnosticCapture capture(compiler_.diagnostics());
  IROPT_ASSIGN_OR_RETURN(pass_,
                         BuildPipeline(*settings.passes, compiler_.registry(), compiler_.diagnostics(), &context_));
  IROPT_ASSIGN_OR_RETURN(const Verdict whole, test_.Try(point.module, *pass_, context_, {}));
  if (whole.is_good || whole.code != code) return std::optional<LocalReproducer>();
  reason_ = whole.reason;
  if (const ModuleEntry* entry = point.module.Find(point.function)) {
    Module part = PartOf(point.module, {entry->var});
    IROPT_ASSIGN_OR_RETURN(const bool is_bad, IsBad(part));
    if (is_bad) return std::optional(LocalReproducer{std::move(part), std::move(settings)});
  }
  Roots roots;
  for (const ModuleEntry& entry : point.module.functions()) roots.push_back(entry.var);
  while (roots.size() > 1) {
    IROPT_ASSIGN_OR_RETURN(std::optional<Roots> half, BadHalf(point.module, roots));
    if (!half) break;
    roots = *std::move(half);
  }
  return std::optional(LocalReproducer{PartOf(point.module, roots), std::move(settings)});
}

Status WriteLocalReproducer(const std::string& path, std::string_view title, LocalReproducer reproducer,
                            std::vector<InstrumentSpec> instruments, const CompilerInstance& compiler) {
  reproducer.settings.instruments = std::move(instruments);
  return WriteSnapshot(title, reproducer.settings, path,
                       [&](OutputStream& out) { compiler.Print(reproducer.module, out, path); });
}

}  // namespace iropt
