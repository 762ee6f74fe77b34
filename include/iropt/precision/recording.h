// Records of the values that a function has in runs: ranges, histograms, and what overflows or vanishes in a format.
//
// A Recorder observes runs (RunOptions::observer) and fills a Recording, which outlives it:
//
//   Recording recording;
//   Recorder recorder(recording);
//   recorder.AddInputs(function, args);
//   run_options.observer = &recorder;
//   RunFunction(module, function, args, diagnostics, run_options);
//   const ValueRecord* record = recording.Find(*var);
//
// Runs on several inputs add up. Memory: some kilobytes for each value, whatever its size.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/number_format.h"
#include "iropt/precision/log_histogram.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"

namespace iropt::precision {

// All elements that a tensor of floats had in the runs.
struct ValueRecord {
  int64_t num_elements = 0;
  int64_t num_zeros = 0;
  int64_t num_nans = 0;
  int64_t num_infinities = 0;
  // Of the finite elements.
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double sum_squares = 0;
  LogHistogram histogram;  // of the finite elements other than 0, as float32

  // Adds a tensor of floats; others are ignored. O(elements).
  void Add(const NDArray& tensor);

  int64_t num_finite() const { return num_elements - num_nans - num_infinities; }
  // Of the finite elements; 0 if there are none.
  double GreatestMagnitude() const;
  double Mean() const;
  double RootMeanSquare() const;
  // Finite elements that the format makes infinite, NaN or its greatest number, and elements other than 0 that it
  // makes 0, or whose precision it reduces because they are below its least normal number. Up to the width of a bin.
  uint64_t NumOverflows(const NumberFormat& format) const;
  uint64_t NumFlushed(const NumberFormat& format) const;
  uint64_t NumSubnormal(const NumberFormat& format) const;
};

// The records of the values that functions bind, and of their parameters. Tensors in tuples are numbered in order.
class Recording {
 public:
  struct Entry {
    const Var* var;
    uint32_t leaf;  // the number of the tensor in the value
    ValueRecord record;
  };

  // In the order in which the values were seen for the first time.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null if no run has bound the variable to a tensor of floats.
  const ValueRecord* Find(const Var& var, uint32_t leaf = 0) const;
  // Returns whether some run has bound the variable to a value with tensors of floats.
  bool Has(const Var& var) const { return by_var_.Find(&var) != nullptr; }

  void Add(const Var& var, const HostValue& value);

 private:
  std::vector<Entry> entries_;
  LookupMap<const Var*, std::vector<size_t>> by_var_;  // the entries of its leaves; SIZE_MAX: none
};

// Fills a recording, which must outlive it.
class Recorder : public RunObserver {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}
  void AddInputs(const Function& function, std::span<const HostValue> args);
  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override;

 private:
  Recording& recording_;
};

// "-1.2 to 7.2e+04", of the finite elements.
std::string DescribeRange(const ValueRecord& record);

}  // namespace iropt::precision
