// Counting and stopping rewrites.
#include "iropt/ir/rewrite_limit.h"

#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/parallel.h"

using namespace iropt;

namespace {

class Fixture {
 public:
  Fixture() : node_(workspace_.New<tir::IntImm>(DataType::Int(32), 7)) { node_->set_span({5, 3}); }

  bool Ask(std::string_view kind = "changed-text") { return AllowRewrite(kind, *node_); }

 private:
  Workspace workspace_;
  tir::IntImm* node_;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "without a scope, all rewrites are allowed") {
  RewriteCounter counter(0);
  CHECK(Ask());
  {
    const RewriteLimitScope scope(&counter);
    CHECK_FALSE(Ask());
    const RewriteLimitScope none(nullptr);
    CHECK(Ask());
  }
  CHECK(Ask());
  CHECK(counter.last().number == 0);
  CHECK(counter.has_stopped());
}

TEST_CASE_METHOD(Fixture, "the first rewrites up to the limit are allowed") {
  RewriteCounter counter(2);
  const RewriteLimitScope scope(&counter);
  CHECK(Ask("first"));
  CHECK_FALSE(counter.has_stopped());
  CHECK(Ask("second"));
  CHECK_FALSE(counter.has_stopped());
  CHECK_FALSE(Ask("third"));
  CHECK_FALSE(Ask("fourth"));
  CHECK(counter.has_stopped());
  CHECK(counter.last().number == 2);
  CHECK(counter.last().kind == "second");
  CHECK(counter.last().span == SourceSpan{5, 8});
  counter.Reset();
  CHECK(counter.last().number == 0);
  CHECK_FALSE(counter.has_stopped());
  CHECK(Ask());
}

TEST_CASE_METHOD(Fixture, "a counter without a limit tells about each rewrite") {
  std::vector<std::string> told;
  RewriteCounter counter(RewriteCounter::kNoLimit, [&](const CountedRewrite& rewrite) {
    told.push_back(std::to_string(rewrite.number) + " " + rewrite.kind);
  });
  const RewriteLimitScope scope(&counter);
  CHECK(Ask("a"));
  CHECK(Ask("b"));
  CHECK(told == std::vector<std::string>{"1 a", "2 b"});
}

TEST_CASE_METHOD(Fixture, "the threads of a parallel loop share the limit") {
  RewriteCounter counter(100);
  const RewriteLimitScope scope(&counter);
  ParallelFor(1000, 4, [&](size_t) { static_cast<void>(Ask()); });
  CHECK(counter.last().number == 100);
  CHECK(counter.has_stopped());
}
