// Checkpoints: the states of a run, from which another run of the same passes on the same input can go on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/observe/pass_counter.h"
#include "iropt/pass/instrument.h"
#include "iropt/support/result.h"

namespace iropt {

// Facts that two runs must have in common for one to resume the other.
struct RunIdentity {
  std::string version;
  std::string input;     // the hash of its bytes
  std::string pipeline;  // a pipeline file without instruments

  static RunIdentity Of(std::string_view input, std::string pipeline);
};

// The file "checkpoints.json" of a folder with checkpoints.
struct CheckpointIndex {
  struct Entry {
    size_t number = 0;  // of the pass
    std::string file;   // in the folder
  };

  RunIdentity run;
  size_t passes_done = 0;
  std::vector<Entry> entries;  // of the passes that changed the module, in their order

  static Result<CheckpointIndex> Read(const std::string& folder);
  Status Write(const std::string& folder) const;
  // Fails unless a run with this identity can begin with pass `first`. Forgets what came after that.
  Status ResumeFrom(size_t first, const RunIdentity& identity, const std::string& folder);
};

// Records the passes that are done. Comes after the DumpDir that writes the modules to the same folder.
class CheckpointRecorder : public PassInstrument {
 public:
  CheckpointRecorder(std::string folder, CheckpointIndex index, std::shared_ptr<const PassCounter> counter)
      : PassInstrument("checkpoints"),
        folder_(std::move(folder)),
        index_(std::move(index)),
        counter_(std::move(counter)) {}

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // The module after the current pass is in this file.
  void Add(std::string file) { index_.entries.push_back({counter_->current(), std::move(file)}); }

 private:
  const std::string folder_;
  CheckpointIndex index_;
  const std::shared_ptr<const PassCounter> counter_;
};

}  // namespace iropt
