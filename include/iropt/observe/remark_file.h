// The file of -remarks: what passes optimized and missed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iropt/diag/source.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/remark.h"
#include "iropt/support/file.h"

namespace iropt {

// Collects the remarks of passes and writes them as YAML documents. Source: LLVM, "Remarks", the YAML format; so that
// llvm-remarkutil and opt-viewer read the file. The order does not depend on the number of threads.
class RemarkFile : public PassInstrument, public RunListener {
 public:
  // The sources must outlive it.
  RemarkFile(std::unique_ptr<AtomicFile> file, const SourceManager& sources)
      : PassInstrument("remarks"), file_(std::move(file)), sources_(sources) {}

  ~RemarkFile() override;

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // The file appears only if that succeeds, and if a module was read.
  Status Write(const RunEnd& end) override;

 private:
  struct Running {
    std::string pass;
    size_t begin;  // the index of its first remark
    std::unique_ptr<RemarkScope> scope;
  };

  void LeaveAll();
  void WriteRemark(const OptRemark& remark);

  std::unique_ptr<AtomicFile> file_;
  const SourceManager& sources_;
  OptRemarks remarks_;
  std::vector<std::unique_ptr<Running>> running_;
};

}  // namespace iropt
