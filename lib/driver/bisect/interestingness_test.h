// Decides whether what passes do to a module is good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/pass/bisect.h"
#include "iropt/pass/rewrite_limits.h"
#include "iropt/support/result.h"

namespace iropt {

// A limit on steps that does not stop any.
inline constexpr int64_t kNoLimit = -1;

struct Verdict {
  bool is_good = false;
  int code = 0;                      // the exit code for what is bad
  std::string reason = {};           // of a bad result
  std::string not_compared = {};     // of a good result: what was not compared
  BisectStep last = {};              // the last step that has begun
  CountedRewrite last_rewrite = {};  // of the pass whose rewrites were counted
};

// Part of a pipeline that runs.
struct RunExtent {
  int64_t steps = kNoLimit;
  std::optional<RewriteLimit> rewrites = {};  // of one pass
};

// The message about a function that was not compared.
std::string CannotSay(const std::string& not_compared);

class InterestingnessTest {
 public:
  // The compiler must outlive it.
  InterestingnessTest(CompilerInstance& compiler, BisectRequest request)
      : compiler_(compiler), request_(std::move(request)) {}
  ~InterestingnessTest();
  InterestingnessTest(const InterestingnessTest&) = delete;
  InterestingnessTest& operator=(const InterestingnessTest&) = delete;

  const BisectRequest& request() const { return request_; }
  // Mandatory passes have numbers from now on, see OptBisect.
  void CountMandatory() { counts_mandatory_ = true; }
  bool counts_mandatory() const { return counts_mandatory_; }

  // Runs a part of the pass in a copy of this process, under the settings of the context without its instruments. A
  // pass that crashes is bad, too. Fails if nothing can be said.
  Result<Verdict> Try(const Module& module, const Pass& pass, const PassContext& context, const RunExtent& extent);

 private:
  void Work(Module module, const Pass& pass, PassContext context, const RunExtent& extent, OutputStream& out) const;
  Status RunAndCheck(Module module, const Pass& pass, PassContext& context, std::string& not_compared) const;
  Status RunCommand(const Module& module) const;
  Status MakeFile();

  CompilerInstance& compiler_;
  const BisectRequest request_;
  bool counts_mandatory_ = false;
  std::string file_;  // for the module that the command gets; empty if there is none yet
};

}  // namespace iropt
