// The pipeline and the settings of a run as a pipeline file.
#include <algorithm>
#include <filesystem>

#include "driver/pipeline/option_paths.h"
#include "driver/pipeline/pipeline_setup.h"

namespace iropt {

PipelineFile PipelineSetup::SettingsWith(Pipeline passes) const {
  PipelineFile file;
  std::error_code error;  // without a current folder, paths stay as they are
  for (const PluginRecord& plugin : compiler_.registry().plugins()) {
    const std::filesystem::path path = std::filesystem::absolute(plugin.path, error);
    file.plugins.push_back({error ? plugin.path : path.string(), {}});
  }
  file.version = file_.version;
  file.opt_level = context_.opt_level;
  file.disabled = disabled_;
  file.required = required_;
  file.config = file_.config;
  file.target = file_.target;
  file.passes = std::move(passes);
  ResolveOptionPaths(*file.passes, compiler_.registry(), std::filesystem::current_path(error));
  return file;
}

// The run may have enabled the pass in spite of its level: in a Sequential with a level of its own, or because another
// pass requires it.
PipelineFile PipelineSetup::SettingsForPass(const PipelineItem& pass) const {
  PipelineFile file = SettingsWith({pass});
  const PassEntry* row = compiler_.registry().Find(pass.name);
  if (row != nullptr) file.opt_level = std::max(*file.opt_level, row->info.opt_level);
  std::erase_if(file.disabled, [&](const LocatedName& name) { return name.name == pass.name; });
  return file;
}

PipelineFile PipelineSetup::Settings() const {
  PipelineFile file = SettingsWith(pipeline_.value_or(Pipeline()));
  if (!pipeline_) file.passes.reset();
  file.instruments = instruments_;
  return file;
}

std::string PipelineSetup::PrintPipelineFile() const { return iropt::PrintPipelineFile(Settings()); }

std::string PipelineSetup::PrintedPasses() const { return PrintPipeline(pipeline_.value_or(Pipeline())); }

Result<RunIdentity> PipelineSetup::Identity() const {
  // It would be read twice.
  if (options_.input == "-") return Error{ErrorCode::Usage, "-checkpoint-dir needs an input in a file"};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> input, ReadFile(options_.input));
  return RunIdentity::Of(input->text(), iropt::PrintPipelineFile(SettingsWith(pipeline_.value_or(Pipeline()))));
}

}  // namespace iropt
