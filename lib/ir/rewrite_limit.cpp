#include "iropt/ir/rewrite_limit.h"

#include "iropt/ir/location.h"
#include "iropt/support/inherited.h"

namespace iropt {

using CurrentCounter = Inherited<RewriteCounter>;

bool RewriteCounter::Allow(std::string_view kind, SourceSpan span) {
  const std::scoped_lock lock(mutex_);
  if (limit_ >= 0 && last_.number >= limit_) {
    has_stopped_ = true;
    return false;
  }
  last_ = {last_.number + 1, std::string(kind), span};
  if (on_rewrite_) on_rewrite_(last_);
  return true;
}

CountedRewrite RewriteCounter::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

bool RewriteCounter::has_stopped() const {
  const std::scoped_lock lock(mutex_);
  return has_stopped_;
}

void RewriteCounter::Reset() {
  const std::scoped_lock lock(mutex_);
  last_ = {};
  has_stopped_ = false;
}

RewriteLimitScope::RewriteLimitScope(RewriteCounter* counter) : outer_(CurrentCounter::Exchange(counter)) {}

RewriteLimitScope::~RewriteLimitScope() { CurrentCounter::Restore(outer_); }

bool AllowRewrite(std::string_view kind, const Node& at) {
  RewriteCounter* counter = CurrentCounter::Current();
  return counter == nullptr || counter->Allow(kind, Location(at));
}

}  // namespace iropt
