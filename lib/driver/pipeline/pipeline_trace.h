// The outcome of each pass of a pipeline, or why it did not run, for -explain-pipeline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/context.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pass.h"

namespace iropt {

// The origins of the settings of a context, for messages.
struct SettingOrigins {
  std::string level;                                           // "-O2", "-O2, the default", ...
  std::function<std::string(std::string_view pass)> disabled;  // "-disable", "p.json:3:14"
  std::function<std::string(std::string_view pass)> required;
};

// Records the runs of a pipeline. The entries have the structure of the pipeline: a pass that runs in several rounds is
// one entry with counts, so that the size does not depend on the number of rounds.
class PipelineTrace : public PassInstrument {
 public:
  // The context must outlive it.
  PipelineTrace(const PassContext& context, SettingOrigins origins, Pass pipeline);
  ~PipelineTrace() override;

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;
  Status OnSkippedPass(const PassInfo& info, const PassSkip& skip) override;
  Status OnRound(const PassInfo& info) override;
  Status OnRequiredPass(const PassInfo& requiring, const PassInfo& required) override;
  Status OnSkippedFunction(const GlobalVar& name, std::string_view attribute, const PassInfo& info) override;

  // The outcomes since the last call: a line for each pass, nested as the pipeline is, and one for each setting about a
  // pass that is not in the pipeline.
  std::string Render();
  // Renders the outcomes as one line of JSON:
  //   {"explain-pipeline": {"input": "in.ir", "pipeline": {"name": "FoldConstant", "kind": "module", "runs": 1, ...},
  //                         "absent": ["-disable: pass 'A' is not in the pipeline"]}}
  std::string RenderJson(std::string_view input);
  // That of a run without a pipeline: "pipeline" is null.
  static std::string RenderNothing(std::string_view input);

 private:
  struct Node;
  struct NodeJson;
  struct Frame {
    Node* node;
    size_t next = 0;  // the child that comes next in this round
    int level = 0;    // that is in force around the pass
  };

  static std::unique_ptr<Node> MakeNode(const Pass& pass);
  Node& NextNode(const PassInfo& info);
  std::string SkipText(const PassInfo& info, const PassSkip& skip) const;
  // The level in force, with its origin.
  std::string LevelText(int level) const;
  std::string Outcome(const Node& node, const std::string& inherited) const;
  std::vector<std::string> AbsentPasses() const;
  void RenderInto(const Node& node, size_t indent, const std::string& inherited, size_t width, std::string& out) const;

  const PassContext& context_;
  SettingOrigins origins_;
  Pass pipeline_;
  std::unique_ptr<Node> root_;
  std::vector<Frame> running_;
  std::string requirement_of_;  // the pass that requires the next one to begin
};

}  // namespace iropt
