// Lets passes make only some of their rewrites; see ir/rewrite_limit.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/rewrite_limit.h"
#include "iropt/pass/instrument.h"
#include "iropt/support/result.h"

namespace iropt {

// A pass, and how many rewrites it may make in all of its runs together; a negative limit only counts them.
struct RewriteLimit {
  std::string pass;
  int64_t limit = RewriteCounter::kNoLimit;
};

// Reads "PASS:N".
Result<RewriteLimit> ParseRewriteLimit(std::string_view text);
std::string ToString(const RewriteLimit& limit);

// Counts the rewrites of these passes and stops them after their limits. The numbers are those of a run with one
// thread. A pass that another pass runs inside of it is counted by itself.
class RewriteLimits : public PassInstrument {
 public:
  // Of several limits for one pass the last one holds.
  explicit RewriteLimits(const std::vector<RewriteLimit>& limits, const RewriteCounter::OnRewrite& on_rewrite = {});
  ~RewriteLimits() override;

  // In the order of the names of the passes.
  const std::map<std::string, std::unique_ptr<RewriteCounter>, std::less<>>& counters() const { return counters_; }

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  void LeaveAll();

  std::map<std::string, std::unique_ptr<RewriteCounter>, std::less<>> counters_;
  std::vector<std::unique_ptr<RewriteLimitScope>> running_;  // passes that have begun
};

}  // namespace iropt
