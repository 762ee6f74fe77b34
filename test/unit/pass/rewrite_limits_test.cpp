// Limits on the rewrites of passes.
#include "iropt/pass/rewrite_limits.h"

#include <memory>
#include <vector>

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

// A pass over functions that sets an attribute on each one that it may rewrite.
Pass MarkingRewritable(std::string name) {
  return CreateFunctionPass({.name = std::move(name), .counts_rewrites = true},
                            [](const Function* f, FunctionPassContext& context) -> Result<const Function*> {
                              if (!AllowRewrite("marked-function", *f)) return f;
                              return WithAttribute(f, "marked", context.workspace());
                            });
}

size_t NumMarked(const Module& module) {
  size_t marked = 0;
  for (const ModuleEntry& entry : module.functions()) marked += entry.func->attrs->Find("marked") != nullptr;
  return marked;
}

}  // namespace

TEST_CASE("limits are read and printed") {
  const Result<RewriteLimit> limit = ParseRewriteLimit("tir.Simplify:12");
  REQUIRE(limit.ok());
  CHECK(limit->pass == "tir.Simplify");
  CHECK(limit->limit == 12);
  CHECK(ToString(*limit) == "tir.Simplify:12");
  CHECK(ParseRewriteLimit("A:-1")->limit == RewriteCounter::kNoLimit);
  for (const char* invalid : {"", "A", "A:", "A:x", "A:1x", "A:-2", "A:99999999999999999999"}) {
    const Result<RewriteLimit> read = ParseRewriteLimit(invalid);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == ErrorCode::Usage);
  }
}

TEST_CASE("a limit counts the rewrites of all runs of a pass, and of no other pass") {
  const Module module = MakeModule({"a", "b", "c"});
  const auto limits = std::make_shared<RewriteLimits>(std::vector<RewriteLimit>{{"A", 2}});
  PassContext context;
  context.instruments = {limits};
  {
    const With<PassContext> scope(context);
    CHECK(NumMarked(MarkingRewritable("A")(module)->module) == 2);
    CHECK(NumMarked(MarkingRewritable("A")(module)->module) == 0);
    CHECK(NumMarked(MarkingRewritable("B")(module)->module) == 3);
  }
  CHECK(limits->counters().at("A")->last().number == 2);
  CHECK(limits->counters().at("A")->has_stopped());
  const With<PassContext> again(context);
  CHECK(NumMarked(MarkingRewritable("A")(module)->module) == 2);
}

TEST_CASE("a pass that another one runs is counted by itself") {
  const Module module = MakeModule({"a", "b", "c"});
  const auto limits = std::make_shared<RewriteLimits>(std::vector<RewriteLimit>{{"Outer", 0}, {"Inner", 1}});
  PassContext context;
  context.instruments = {limits};
  const Pass outer = CreateModulePass({.name = "Outer"}, [](Module m, ModulePassContext&) -> Result<Module> {
    Result<PassResult> inner = MarkingRewritable("Inner")(m);
    Result<PassResult> other = MarkingRewritable("Other")(inner->module);
    CHECK(NumMarked(inner->module) == 1);
    CHECK(NumMarked(other->module) == 3);
    for (const ModuleEntry& entry : m.functions()) CHECK_FALSE(AllowRewrite("changed-module", *entry.func));
    return inner->module;
  });
  const With<PassContext> scope(context);
  CHECK(outer(module).ok());
}

TEST_CASE("the scope of a pass ends when it fails") {
  const auto limits = std::make_shared<RewriteLimits>(std::vector<RewriteLimit>{{"Fails", 0}});
  PassContext context;
  context.instruments = {limits};
  const Pass fails = CreateModulePass({.name = "Fails"}, [](Module, ModulePassContext&) -> Result<Module> {
    return Error{ErrorCode::PassFailed, "it fails"};
  });
  const With<PassContext> scope(context);
  CHECK_FALSE(fails(MakeModule({"a"})).ok());
  const Module module = MakeModule({"a"});
  CHECK(AllowRewrite("changed-module", *module.functions()[0].func));
}
