#include "iropt/observe/pass_counter.h"

#include "iropt/support/check.h"

namespace iropt {

Status PassCounter::RunBeforePass(const Module&, const PassInfo& info) {
  names_.insert(info.name);
  if (info.is_composite()) return {};
  current_ = ++begun_;
  running_.push_back(current_);
  return {};
}

Status PassCounter::RunAfterPass(const Module&, const PassInfo& info, PassOutcome) {
  if (info.is_composite()) return {};
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  current_ = running_.back();
  running_.pop_back();
  return {};
}

}  // namespace iropt
