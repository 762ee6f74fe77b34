// The file that a failing run leaves: input, pipeline and settings, for -run-reproducer.
#pragma once

#include <string>

#include "iropt/driver/compiler_instance.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

class Reproducer {
 public:
  // The compiler must outlive it.
  Reproducer(std::string path, PipelineFile settings, CompilerInstance& compiler);
  ~Reproducer();
  Reproducer(const Reproducer&) = delete;
  Reproducer& operator=(const Reproducer&) = delete;

  // From now on, a crash writes the file for this input, as it is, well-formed or not.
  void Begin(const ModuleSource& input);
  // Writes it now, after a failure, and says so. Only the first failure of a run is written.
  Status Write();

 private:
  const std::string path_;
  const PipelineFile settings_;
  CompilerInstance& compiler_;
  std::string text_;
  bool written_ = false;
};

}  // namespace iropt
