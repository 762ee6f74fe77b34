// The position of a run in its pipeline.
#pragma once

#include <string>
#include <vector>

#include "iropt/pass/instrument.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

// Follows a run of a pipeline and tells which passes are still to run, as a pipeline: running it on the module at that
// point, in the same context, gives the result of the run. Comes before the instruments that ask for the rest.
class PipelineCursor : public PassInstrument {
 public:
  // The pipeline that runs at `level`, with the passes of named pipelines as a Sequential.
  PipelineCursor(Pipeline pipeline, int level);

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;
  Status OnSkippedPass(const PassInfo& info, const PassSkip& skip) override;
  Status OnRound(const PassInfo& info) override;
  Status OnRequiredPass(const PassInfo& requiring, const PassInfo& required) override;

  // The pass that the current event is about, with its options.
  const PipelineItem& current() const { return current_; }
  // The passes after that one.
  Pipeline Rest() const;

 private:
  struct Frame {
    const PipelineItem* group = nullptr;  // null for a pass that is not composite
    PipelineItem pass = {};               // which is this one
    size_t next = 0;                      // the child that comes next in this round of the group
    int round = 0;
  };

  bool in_group() const { return !frames_.empty() && frames_.back().group != nullptr; }
  // `inner` is the rest of the group inside of the frame.
  void AppendRestOf(size_t frame, Pipeline inner, Pipeline& rest) const;
  // Returns the level around the group of the frame.
  int LevelAround(size_t frame) const;

  const int level_;
  PipelineItem root_;  // a Sequential around the pipeline
  std::vector<Frame> frames_;
  PipelineItem current_;
  std::string required_;  // the pass that runs next because another one requires it
};

}  // namespace iropt
