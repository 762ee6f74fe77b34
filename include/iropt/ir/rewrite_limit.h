// Counting the rewrites of a pass and stopping it after some of them, which finds the wrong one by bisection.
//
// A pass asks before each rewrite, and leaves the code as it is if the answer is false. The result is correct after any
// number of rewrites:
//
//   if (!AllowRewrite("merged-expression", *binding)) return binding;
//
// A pass that asks before all of its rewrites says so in its PassInfo (counts_rewrites). The rewrites of one function
// that depend on each other are one rewrite.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/diag/source.h"
#include "iropt/ir/node.h"

namespace iropt {

// A rewrite that was allowed.
struct CountedRewrite {
  int64_t number = 0;  // from 1
  std::string kind = {};
  SourceSpan span = {};  // of what is rewritten; possibly unknown
};

// Allows the first `limit` rewrites; all if it is negative. Thread-safe, but the numbers depend on the order in which
// threads ask.
class RewriteCounter {
 public:
  static constexpr int64_t kNoLimit = -1;
  using OnRewrite = std::function<void(const CountedRewrite&)>;

  // `on_rewrite`, if there is one, is called for each rewrite that is allowed, before it is made.
  explicit RewriteCounter(int64_t limit = kNoLimit, OnRewrite on_rewrite = {})
      : limit_(limit), on_rewrite_(std::move(on_rewrite)) {}

  bool Allow(std::string_view kind, SourceSpan span);
  int64_t limit() const { return limit_; }
  // The last rewrite that was allowed; its number is that of all of them.
  CountedRewrite last() const;
  // Returns whether a rewrite was not allowed.
  bool has_stopped() const;
  // Begins to count again.
  void Reset();

 private:
  const int64_t limit_;
  const OnRewrite on_rewrite_;
  mutable std::mutex mutex_;
  CountedRewrite last_;
  bool has_stopped_ = false;
};

// During its lifetime, rewrites of this thread and of the threads of its parallel loops are counted by `counter`, which
// must outlive it; null: all are allowed and none is counted.
class RewriteLimitScope {
 public:
  explicit RewriteLimitScope(RewriteCounter* counter);
  RewriteLimitScope(const RewriteLimitScope&) = delete;
  RewriteLimitScope& operator=(const RewriteLimitScope&) = delete;
  ~RewriteLimitScope();

 private:
  RewriteCounter* outer_;
};

// Returns whether a rewrite may be made. `kind` is lower-case words joined by '-', such as "folded-call"; `at` is what
// is rewritten. Without a scope: a read of a thread-local variable.
bool AllowRewrite(std::string_view kind, const Node& at);

}  // namespace iropt
