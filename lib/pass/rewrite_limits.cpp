#include "iropt/pass/rewrite_limits.h"

#include <fmt/format.h>

#include <charconv>

#include "iropt/support/check.h"

namespace iropt {

Result<RewriteLimit> ParseRewriteLimit(std::string_view text) {
  const size_t colon = text.rfind(':');
  RewriteLimit limit{.pass = std::string(text.substr(0, colon))};
  const std::string_view number = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, limit.limit);
  if (number.empty() || error != std::errc() || rest != end || limit.limit < RewriteCounter::kNoLimit) {
    return Error{ErrorCode::Usage,
                 fmt::format("invalid limit '{}': expected PASS:N, where N is a number of rewrites, or -1", text)};
  }
  return limit;
}

std::string ToString(const RewriteLimit& limit) { return fmt::format("{}:{}", limit.pass, limit.limit); }

RewriteLimits::RewriteLimits(const std::vector<RewriteLimit>& limits, const RewriteCounter::OnRewrite& on_rewrite)
    : PassInstrument("rewrite-limit") {
  for (const RewriteLimit& limit : limits) {
    counters_[limit.pass] = std::make_unique<RewriteCounter>(limit.limit, on_rewrite);
  }
}

RewriteLimits::~RewriteLimits() { LeaveAll(); }

Status RewriteLimits::EnterPassContext() {
  LeaveAll();
  for (const auto& [pass, counter] : counters_) counter->Reset();
  return {};
}

// A run that is out of memory does not end its passes. The innermost scope ends first.
void RewriteLimits::LeaveAll() {
  while (!running_.empty()) running_.pop_back();
}

Status RewriteLimits::RunBeforePass(const Module&, const PassInfo& info) {
  const auto found = counters_.find(info.name);
  running_.push_back(std::make_unique<RewriteLimitScope>(found == counters_.end() ? nullptr : found->second.get()));
  return {};
}

Status RewriteLimits::RunAfterPass(const Module&, const PassInfo& info, PassOutcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  running_.pop_back();
  return {};
}

}  // namespace iropt
