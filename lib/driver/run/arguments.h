// The inputs of a run, from files or random.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/execution/entry.h"

namespace iropt {

class ArgumentReader {
 public:
  // The arguments must outlive the reader.
  ArgumentReader(const Entry& entry, const ProgramOptions& options, CompilerInstance& compiler)
      : entry_(entry),
        options_(options),
        compiler_(compiler),
        values_(entry.inputs().size()),
        is_allocated_(entry.inputs().size()) {}

  // Reads the files, generates random tensors for the other inputs if the options ask for it, and checks all inputs
  // against the parameters. Reports missing, unknown and mismatched inputs at their parameters. A buffer that a
  // PrimFunc writes and that has no input is a new tensor.
  Result<std::vector<HostValue>> Read(const EvalLimits& limits, Storage::Tracking tracking);

  // The inputs that Read gave, for a file, from which it reads them again. Without new tensors of written buffers.
  std::vector<NamedTensor> ForFile(const std::vector<HostValue>& values) const;

 private:
  Status ReadFiles();
  Status Place(const NamedTensor& named, const std::string& file);
  // The input with this name or position; null if there is none.
  const EntryInput* FindInput(const std::string& name) const;
  Status ReadSymbols();
  void CheckGiven();
  void MakeMissing(const EvalLimits& limits, Storage::Tracking tracking);
  // The value that the symbolic variables give the scalar, if another one was given.
  std::optional<int64_t> Contradicted(const EntryInput& input);
  bool Fits(const EntryInput& input, const HostValue& value);

  HostValue& ValueOf(const EntryInput& input) { return values_[static_cast<size_t>(&input - entry_.inputs().data())]; }
  bool IsGiven(const EntryInput& input) { return !std::holds_alternative<std::monostate>(ValueOf(input).state); }
  void Report(const EntryInput& input, std::string message);

  const Entry& entry_;
  const ProgramOptions& options_;
  CompilerInstance& compiler_;
  std::vector<HostValue> values_;
  std::vector<bool> is_allocated_;  // a new tensor of a written buffer
  SymbolValues symbols_;
  ErrorCode code_ = ErrorCode::Usage;
  bool failed_ = false;
};

}  // namespace iropt
