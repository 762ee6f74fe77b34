// PassContext: scopes, threads, configuration.
#include "iropt/pass/context.h"

#include <fmt/format.h>

#include <mutex>
#include <set>
#include <thread>

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/config.h"

using namespace iropt;

namespace {

// A registry with a record like that of TVM's loop unrolling.
struct Configured {
  Configured() {
    OptionSpec unroll{"tir.UnrollLoop", OptionType::Record, {}, "how loops are unrolled"};
    unroll.fields = {{"auto_max_step", OptionType::Int, 0, ""}, {"explicit_unroll", OptionType::Bool, true, ""}};
    REQUIRE(registry.AddConfig(unroll).ok());
    REQUIRE(registry.AddConfig({"test.names", OptionType::StringList, OptionValue::List{}, ""}).ok());
    REQUIRE(registry.AddConfig({"test.scale", OptionType::Float, 1.0, ""}).ok());
    context.registry = &registry;
  }
  bool Set(std::string_view key, OptionValue value) {
    return context.SetConfig(key, std::move(value), reports.engine());
  }

  PassRegistry registry;
  PassContext context;
  Reports reports;
};

}  // namespace

TEST_CASE("without a scope there is a default context") {
  CHECK(&PassContext::Current() == &PassContext::Current());
  CHECK(PassContext::Current().opt_level == 2);
}

TEST_CASE("scopes nest, and leaving one brings back the one around it") {
  PassContext& outermost = PassContext::Current();
  PassContext outer;
  PassContext inner;
  {
    With<PassContext> outer_scope(outer);
    CHECK(&PassContext::Current() == &outer);
    {
      With<PassContext> inner_scope(inner);
      CHECK(&PassContext::Current() == &inner);
    }
    CHECK(&PassContext::Current() == &outer);
    REQUIRE(outer_scope.Exit().ok());
    CHECK(&PassContext::Current() == &outermost);
  }
  CHECK(&PassContext::Current() == &outermost);
}

TEST_CASE("a pass that is called without a context runs under the current one") {
  PassContext context;
  context.opt_level = 4;
  With<PassContext> scope(context);
  const PassContext* seen = nullptr;
  const Pass pass = CreateModulePass({.name = "Look"}, [&](Module module, ModulePassContext& inner) -> Result<Module> {
    seen = &inner.context;
    return module;
  });
  REQUIRE(pass(Module()).ok());
  CHECK(seen == &context);
}

TEST_CASE("each thread has a current context of its own") {
  PassContext context;
  With<PassContext> scope(context);
  const PassContext* other = nullptr;
  std::thread([&] { other = &PassContext::Current(); }).join();
  CHECK(other != &context);
}

TEST_CASE("the threads of a function pass have the context of the pass") {
  Module module;
  for (int i = 0; i < 200; ++i) {
    Workspace workspace;
    workspace.arena().Allocate(4096, 8);  // so that the module is big enough for threads
    AddFunction(module, fmt::format("f{}", i));
    const ModuleEntry& entry = module.functions().back();
    workspace.Adopt(entry.storage);
    module.SetAt(module.size() - 1, entry.func, workspace.Finish());
  }
  PassContext context;
  context.threads = 4;
  With<PassContext> scope(context);
  std::mutex mutex;
  std::set<const PassContext*> seen;
  const Pass pass = CreateFunctionPass({.name = "Look"}, [&](const Function* f, FunctionPassContext&) {
    const std::scoped_lock lock(mutex);
    seen.insert(&PassContext::Current());
    return Result<const Function*>(f);
  });
  REQUIRE(pass(module).ok());
  CHECK(seen == std::set<const PassContext*>{&context});
}

TEST_CASE("configuration options have defaults") {
  const Configured c;
  CHECK(*c.context.Config("test.scale").as_double() == 1.0);
  REQUIRE(c.context.Config("tir.UnrollLoop").Find("explicit_unroll") != nullptr);
  CHECK(*c.context.Config("tir.UnrollLoop").Find("explicit_unroll")->as_bool());
  CHECK_FALSE(c.context.Config(config::testing::immutable_module));
}

TEST_CASE("a record keeps the defaults of the fields that are left out") {
  Configured c;
  REQUIRE(c.Set("tir.UnrollLoop", OptionValue::Dict{{"auto_max_step", 16, {}}}));
  CHECK(*c.context.Config("tir.UnrollLoop").Find("auto_max_step")->as_int() == 16);
  CHECK(*c.context.Config("tir.UnrollLoop").Find("explicit_unroll")->as_bool());
}

TEST_CASE("configuration values are fitted to their types") {
  Configured c;
  REQUIRE(c.Set("test.scale", 2));
  CHECK(*c.context.Config("test.scale").as_double() == 2.0);
  REQUIRE(c.Set("testing.immutable_module", 1));
  CHECK(c.context.Config(config::testing::immutable_module));
  REQUIRE(c.Set("test.names", "one"));
  CHECK(c.context.Config("test.names") == OptionValue(OptionValue::List{"one"}));
  REQUIRE(c.Set("test.names", OptionValue()));
  CHECK(c.context.Config("test.names") == OptionValue(OptionValue::List{}));
}

TEST_CASE("unknown configuration keys name the nearest one") {
  Configured c;
  CHECK_FALSE(c.Set("tir.UnrolLoop", OptionValue::Dict{}));
  CHECK_FALSE(c.Set("nothing.like.it", 1));
  CHECK_FALSE(c.Set("tir.UnrollLoop", OptionValue::Dict{{"auto_max_steps", 16, {}}}));
  CHECK(c.reports.texts() ==
        Log{"unknown-option: unknown configuration option 'tir.UnrolLoop'; did you mean 'tir.UnrollLoop'?",
            "unknown-option: unknown configuration option 'nothing.like.it'",
            "unknown-option: configuration option 'tir.UnrollLoop' has no option 'auto_max_steps'; did you mean "
            "'auto_max_step'?"});
}

TEST_CASE("configuration values of the wrong type are errors") {
  Configured c;
  CHECK_FALSE(c.Set("testing.immutable_module", 2));
  CHECK_FALSE(c.Set("test.scale", "big"));
  CHECK_FALSE(c.Set("test.names", OptionValue::List{"a", 1}));
  CHECK_FALSE(c.Set("tir.UnrollLoop", OptionValue::Dict{{"auto_max_step", 1.5, {}}}));
  CHECK(c.reports.texts() ==
        Log{"wrong-option-type: configuration option 'testing.immutable_module' must be a boolean, not an integer",
            "wrong-option-type: configuration option 'test.scale' must be a number, not a string",
            "wrong-option-type: configuration option 'test.names' must be a list of strings, not a list",
            "wrong-option-type: option 'auto_max_step' of configuration option 'tir.UnrollLoop' must be an integer, "
            "not a "
            "floating-point number"});
}

TEST_CASE("a field of a record is set by its path, and the others stay") {
  Configured c;
  REQUIRE(c.Set("tir.UnrollLoop", OptionValue::Dict{{"explicit_unroll", false, {}}}));
  REQUIRE(c.Set("tir.UnrollLoop.auto_max_step", 16));
  CHECK(c.context.Config(ConfigKey<int64_t>{"tir.UnrollLoop.auto_max_step"}) == 16);
  CHECK_FALSE(c.context.Config(ConfigKey<bool>{"tir.UnrollLoop.explicit_unroll"}));
  // A whole record sets all of its fields.
  REQUIRE(c.Set("tir.UnrollLoop", OptionValue::Dict{{"auto_max_step", 8, {}}}));
  CHECK(c.context.Config(ConfigKey<int64_t>{"tir.UnrollLoop.auto_max_step"}) == 8);
  CHECK(c.context.Config(ConfigKey<bool>{"tir.UnrollLoop.explicit_unroll"}));
}

TEST_CASE("the fields of a record have defaults of their own") {
  const Configured c;
  CHECK(c.context.Config(ConfigKey<int64_t>{"tir.UnrollLoop.auto_max_step"}) == 0);
  CHECK(c.context.config().empty());
}

TEST_CASE("a key that is a prefix of another key is not a record") {
  Configured c;
  REQUIRE(c.registry.AddConfig({"tir", OptionType::Record, {}, "", {{"x", OptionType::Int, 1, ""}}}).ok());
  REQUIRE(c.registry.AddConfig({"tir.x", OptionType::Int, 2, ""}).ok());
  CHECK(c.context.Config(ConfigKey<int64_t>{"tir.x"}) == 2);
  REQUIRE(c.Set("tir.UnrollLoop.auto_max_step", 3));
  CHECK(c.context.Config(ConfigKey<int64_t>{"tir.UnrollLoop.auto_max_step"}) == 3);
}

TEST_CASE("unknown paths name the nearest key, or the nearest field") {
  Configured c;
  CHECK_FALSE(c.Set("tir.UnrollLoop.auto_max_steps", 1));
  CHECK_FALSE(c.Set("tir.UnrolLoop.auto_max_step", 1));
  CHECK_FALSE(c.Set("testing.immutable_module.x", 1));
  CHECK_FALSE(c.Set("tir.UnrollLoop.", 1));
  CHECK_FALSE(c.Set("", 1));
  CHECK(c.reports.texts() ==
        Log{"unknown-option: configuration option 'tir.UnrollLoop' has no option 'auto_max_steps'; did you mean "
            "'tir.UnrollLoop.auto_max_step'?",
            "unknown-option: unknown configuration option 'tir.UnrolLoop.auto_max_step'; did you mean "
            "'tir.UnrollLoop.auto_max_step'?",
            "unknown-option: configuration option 'testing.immutable_module' has no option 'x'",
            "unknown-option: unknown configuration option 'tir.UnrollLoop.'; did you mean 'tir.UnrollLoop'?",
            "unknown-option: unknown configuration option ''"});
}

TEST_CASE("a field of the wrong type is an error, and the record stays as it was") {
  Configured c;
  CHECK_FALSE(c.Set("tir.UnrollLoop.auto_max_step", "many"));
  CHECK(c.reports.texts() == Log{"wrong-option-type: configuration option 'tir.UnrollLoop.auto_max_step' must be an "
                                 "integer, not a string"});
  CHECK(c.context.config().empty());
}

TEST_CASE("the text of a configuration option") {
  Reports reports;
  const auto parse = [&](std::string_view text) {
    const std::optional<OptionValue::Dict> config = ParseConfig(text, 1, reports.engine());
    return config ? ToString(OptionValue(*config)) : std::string("nothing");
  };
  CHECK(parse("tir.noalias=false") == R"({"tir.noalias":false})");
  CHECK(parse(" a.b = 16 ") == R"({"a.b":16})");
  CHECK(parse("a={\"x\": [1, 2.5]}") == R"({"a":{"x":[1,2.5]}})");
  CHECK(parse("a=word") == R"({"a":word})");
  CHECK(parse("a=word,b=[1, 2], c=3") == R"({"a":word,"b":[1,2],"c":3})");
  CHECK(parse(R"({"a": 1, "b.c": "d"})") == R"({"a":1,"b.c":d})");
  CHECK(reports.all().empty());
}

TEST_CASE("errors in the text of a configuration option have a place") {
  Reports reports;
  for (const std::string_view text : {"", "=1", "a", "a=", "a=1 b", "{\"a\": 1} x", "[1]"}) {
    CHECK_FALSE(ParseConfig(text, 1, reports.engine()));
  }
  CHECK(reports.texts() == Log{"pipeline-syntax: expected the key of a configuration option",
                               "pipeline-syntax: expected the key of a configuration option",
                               "pipeline-syntax: expected '=' and a value after 'a'",
                               "pipeline-syntax: expected a value",
                               "pipeline-syntax: expected ',' or the end of the configuration options",
                               "pipeline-syntax: expected ',' or the end of the configuration options",
                               "pipeline-syntax: expected the key of a configuration option"});
  CHECK(reports.all()[4].span == SourceSpan{5, 6});
}
