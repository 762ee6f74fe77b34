// The file that a failing run leaves: input, pipeline and settings, for -run-reproducer.
#pragma once

#include <optional>
#include <string>

#include "driver/bisect/local_reproducer.h"
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
  // Writes it now, after a failure, and says so: the part of the module and the pass of `local`, or else the whole
  // input with all passes. Only the first failure of a run is written.
  Status Write(std::optional<LocalReproducer> local);

 private:
  const std::string path_;
  const PipelineFile settings_;
  CompilerInstance& compiler_;
  std::string title_;
  std::string text_;
  bool written_ = false;
};

}  // namespace iropt
