// The ranges of values that integers stand for, by what the values are in runs.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

enum class CalibrationMethod : uint8_t {
  kMinMax,      // all values
  kPercentile,  // all but a part of the values at each end
  kMse,         // the range with the least squared error
  kEntropy,     // the range that keeps the distribution, by the divergence of Kullback and Leibler
};

struct ValueRange {
  double least = 0;
  double greatest = 0;
};

// Counts of values other than 0 in bins of equal width.
struct ValueHistogram {
  ValueRange range;
  std::vector<uint64_t> counts;

  double width() const { return (range.greatest - range.least) / static_cast<double>(counts.size()); }
};

// A range that has 0, for integers of 8 bits. `percent` is that of the values in the range, for percentiles. O(bins^2)
// for the last two methods.
ValueRange ChooseRange(const ValueHistogram& histogram, CalibrationMethod method, double percent);

// Observes variables in two rounds of the same runs: their ranges, and then their histograms.
class RangeObserver final : public RunObserver {
 public:
  explicit RangeObserver(const std::vector<const Var*>& vars);

  // After the first round.
  void BeginHistograms();
  // Null if the variable had no finite value.
  const ValueHistogram* Find(const Var* var) const;

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind, std::string_view, double) override {}

 private:
  std::vector<ValueHistogram> histograms_;
  std::vector<bool> is_seen_;
  LookupMap<const Var*, size_t> by_var_;
  bool counts_ = false;
};

}  // namespace iropt
