// Files with the states of a module during a run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "iropt/driver/compiler_instance.h"
#include "iropt/pass/pipeline_cursor.h"
#include "module_changes.h"
#include "pass_counter.h"

namespace iropt {

// Writes the module after each pass that changed it to a file of its own, "0003-FoldConstant.ir", as a snapshot with
// the rest of the pipeline.
class DumpDir : public ChangeInstrument {
 public:
  // `settings_with` makes a pipeline file of passes under the settings of the run.
  using SettingsWith = std::function<PipelineFile(Pipeline)>;

  // Creates the folder if it does not exist. Fails if no files can be made there. The compiler must outlive it.
  static Result<std::shared_ptr<DumpDir>> Make(std::string folder, const CompilerInstance& compiler,
                                               std::shared_ptr<const PassCounter> counter,
                                               std::shared_ptr<const PipelineCursor> cursor,
                                               SettingsWith settings_with);

 private:
  Status OnResult(const Module& before, const Module& after, const PassInfo& info, ModuleChanges changes) override;
  DumpDir(std::string folder, const CompilerInstance& compiler)
      : ChangeInstrument("dump-dir"), folder_(std::move(folder)), compiler_(compiler) {}

  Status Write(const Module& module, const PassInfo& info) const;

  const std::string folder_;
  const CompilerInstance& compiler_;
  std::shared_ptr<const PassCounter> counter_;
  std::shared_ptr<const PipelineCursor> cursor_;
  SettingsWith settings_with_;
};

}  // namespace iropt
