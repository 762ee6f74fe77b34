// A module with the pipeline that is to run on it, as one file: the text of the module under comments that hold the
// command line and a pipeline file. -run-reproducer runs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "iropt/pass/pipeline.h"
#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt {

// The first bytes of a snapshot, and a line of its header.
inline constexpr std::string_view kSnapshotBegin = "# ir-opt ";
inline constexpr std::string_view kSnapshotMark = "\n# pipeline file:\n";

// The comments at the top of the file `path`. `title` describes the module.
std::string SnapshotHeader(std::string_view title, const PipelineFile& pipeline, const std::string& path);

// Writes such a file; `print` appends the text of the module.
Status WriteSnapshot(std::string_view title, const PipelineFile& pipeline, const std::string& path,
                     FunctionRef<void(OutputStream&)> print);

// The pipeline file in the comments of a snapshot; nothing if the text does not begin with a header.
std::optional<std::string> PipelineOfSnapshot(std::string_view text);

// The command line of ir-opt that runs the pipeline on a file, with quotes for a shell.
std::string CommandLineOf(const PipelineFile& pipeline, const std::string& path);

}  // namespace iropt
