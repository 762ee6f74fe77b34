// Numbers for the runs of passes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "iropt/pass/instrument.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Numbers the runs of passes that are not composite from 1, in the order in which they begin. Comes before the
// instruments that ask for the number.
class PassCounter : public PassInstrument {
 public:
  PassCounter() : PassInstrument("pass-counter") {}

  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // These runs were done before.
  void Skip(size_t passes) { begun_ += passes; }

  // The number of the run that the current event is about; 0 before the first one. The numbers go on over all modules
  // of a run.
  size_t current() const { return current_; }
  // The number of runs that have begun.
  size_t num_begun() const { return begun_; }
  // Returns whether a pass of this name has begun; it may be composite.
  bool HasBegun(const std::string& pass) const { return names_.contains(pass); }

 private:
  std::vector<size_t> running_;
  LookupSet<std::string> names_;  // of passes that have begun
  size_t begun_ = 0;
  size_t current_ = 0;
};

}  // namespace iropt
