// The test case that is reduced: a module, and the pipeline in its first comments if it is a reproducer or a snapshot.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/module.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

// The parts of a test case that reductions change.
struct Candidate {
  Module module = {};
  std::optional<PipelineFile> pipeline = {};
};

struct TestCase {
  std::shared_ptr<CompilerInstance> reader;  // owns what the module refers to
  Candidate parts;
  std::string text;
};

// Prints and reads test cases. What it reads is well-formed.
class TestCaseMaker {
 public:
  // Paths of weights in the texts are relative to `folder`. The compiler must outlive it.
  TestCaseMaker(CompilerInstance& compiler, std::string folder);

  // The input, whose errors are reported.
  Result<TestCase> ReadInput(const ModuleSource& source);
  // The text for a file in the folder; nothing if the candidate is ill-formed.
  std::optional<std::string> Print(const Candidate& candidate) const;
  // The text for the file at the path, in the format of its extension. Reports what the format lacks.
  Result<std::string> PrintTo(const TestCase& test_case, const std::string& path) const;
  // Nothing if the text does not read back as a well-formed module.
  std::optional<TestCase> Read(std::string text) const;

 private:
  VerifyOptions verify_options() const;

  CompilerInstance& compiler_;
  const std::string folder_;
  bool allow_free_vars_ = true;  // the input has PrimFuncs with variables that they do not define
};

}  // namespace iropt
