// Listings of passes, pipelines, instruments and configuration options, of ir-opt itself and of plugins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/registry.h"
#include "iropt/support/result.h"

namespace iropt {

// The table of passes, with their options.
std::string RenderPasses(const PassRegistry& registry);
// Renders the table of passes as JSON, {"passes": [{"name": ..., "kind": ..., "opt_level": ..., ...}]}, as for the
// tables below.
std::string RenderPassesJson(const PassRegistry& registry);

// Renders the passes as a document in Markdown, with what DescribePass gives for each pass. Runs all examples: about
// 0.3 s for those of ir-opt. Fails if an example does not run.
Result<std::string> RenderPassesMarkdown(const PassRegistry& registry);

// The table of named pipelines, and their names in pipelines: "default<O2>".
std::string RenderPipelines(const PassRegistry& registry);
std::string RenderPipelinesJson(const PassRegistry& registry);
// The levels of a row: "O0-O4", or "O2" for one level.
std::string LevelsOf(const PipelineEntry& entry);
// Describes the effect of a rule, without the key of its configuration option: "tir.LowerAsyncDMA runs".
std::string DescribeRule(const PipelineRule& rule);
// The targets for which passes are added to a pipeline: "for -target=c", or "for all targets".
std::string DescribeTarget(const PipelineEntry& addition);
std::vector<std::string> PipelineNames(const PassRegistry& registry);

// The table of configuration options, and all keys of -config, with paths to the fields of records.
std::string RenderConfigs(const PassRegistry& registry);
std::string RenderConfigsJson(const PassRegistry& registry);
std::vector<std::string> ConfigPaths(const PassRegistry& registry);

// The kinds of targets with their options, and the tags.
std::string RenderTargets();
std::string RenderTargetsJson();

// The properties of PrimFuncs that passes name, and the passes that establish, require and break them.
std::string RenderProperties(const PassRegistry& registry);
std::string RenderPropertiesJson(const PassRegistry& registry);

// A name and its meaning.
struct CatalogEntry {
  std::string name;
  std::string summary;
};

// The instruments in the order of their names, and their table with options and flags.
std::vector<CatalogEntry> Instruments(const PassRegistry& registry);
std::string RenderInstruments(const PassRegistry& registry);
std::string RenderInstrumentsJson(const PassRegistry& registry);

// The description of a pass, with an example before and after it, which is made by running the pass; or that of a named
// pipeline with its passes. Fails if there is neither, or if the example does not run.
Result<std::string> DescribePass(std::string_view name, const PassRegistry& registry);

}  // namespace iropt
