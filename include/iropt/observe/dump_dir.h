// Files with the states of a module during a run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "iropt/observe/module_changes.h"
#include "iropt/observe/module_console.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/pass/pipeline_cursor.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Writes the module after each pass that changed it to a file of its own, "0003-FoldConstant.ir", as a snapshot with
// the rest of the pipeline.
class DumpDir : public ChangeInstrument {
 public:
  // `settings_with` makes a pipeline file of passes under the settings of the run.
  using SettingsWith = std::function<PipelineFile(Pipeline)>;

  // Creates the folder if it does not exist. Fails if no files can be made there. `flag` names the folder in messages.
  // `console` must outlive it.
  static Result<std::shared_ptr<DumpDir>> Make(const std::string& flag, std::string folder,
                                               const ModuleConsole& console, std::shared_ptr<const PassCounter> counter,
                                               std::shared_ptr<const PipelineCursor> cursor,
                                               SettingsWith settings_with);

  // Removes the modules that an earlier run wrote to the folder, so that its files are those of one run. Other files
  // stay. Does nothing after the first call. O(files of the folder).
  Status RemoveOldFiles();

  // Tells the name of each file that is written after a pass.
  void set_on_written(std::function<void(std::string)> on_written) { on_written_ = std::move(on_written); }

  // A file that is described before it is known whether it will be needed. Empty: there is none.
  struct Pending {
    std::string path;
    std::string header;
  };
  // For the module before a pass that begins now, "0003-before-FoldConstant.ir", with the pass and the rest of the
  // pipeline under the settings that `adjust` returns.
  Pending Before(const PassInfo& info, FunctionRef<PipelineFile(PipelineFile)> adjust) const;
  Status Write(const Pending& file, const Module& module) const;

 private:
  Status OnResult(const Module& before, const Module& after, const PassInfo& info, ModuleChanges changes) override;
  DumpDir(const std::string& flag, std::string folder, const ModuleConsole& console)
      : ChangeInstrument(flag), folder_(std::move(folder)), console_(console) {}

  // "0003-FoldConstant.ir", and "pass 3, FoldConstant".
  std::string PathOf(std::string_view kind, const PassInfo& info) const;
  std::string TitleOf(const PassInfo& info) const;

  const std::string folder_;
  const ModuleConsole& console_;
  std::shared_ptr<const PassCounter> counter_;
  std::shared_ptr<const PipelineCursor> cursor_;
  SettingsWith settings_with_;
  std::function<void(std::string)> on_written_;  // may be empty
  bool has_removed_ = false;
};

}  // namespace iropt
