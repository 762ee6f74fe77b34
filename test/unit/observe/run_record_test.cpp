#include "iropt/observe/report/run_record.h"

#include "../catch.h"
#include "iropt/driver/compiler_instance.h"

namespace iropt {

namespace {

Module Parse(CompilerInstance& compiler, const std::string& bindings) {
  const std::string head = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
)";
  Result<Module> module = compiler.ParseModule(head + bindings + "        return c\n");
  REQUIRE(module.ok());
  return *std::move(module);
}

PassEffect Effect(const std::string& before, const std::string& after) {
  CompilerInstance compiler;
  const Module a = Parse(compiler, before);
  const Module b = Parse(compiler, after);
  return EffectOf(a, b, FindChanges(a, b));
}

constexpr const char* kThree =
    "        a = R.add(x, x)\n"
    "        b = R.exp(a)\n"
    "        c = R.multiply(b, a)\n";

}  // namespace

TEST_CASE("effect: equal functions", "[driver]") {
  const PassEffect effect = Effect(kThree, kThree);
  CHECK(effect.changed.empty());
  CHECK(effect.bindings.empty());
  CHECK(effect.operators.empty());
}

TEST_CASE("effect: another operand is a change, and a moved binding is not", "[driver]") {
  const PassEffect operand =
      Effect(kThree, "        a = R.add(x, x)\n        b = R.exp(x)\n        c = R.multiply(b, a)\n");
  CHECK(operand.changed == std::vector<std::string>{"main"});
  CHECK(operand.bindings.changed == 1);
  CHECK(operand.bindings.added + operand.bindings.removed == 0);
  CHECK(operand.operators.empty());
  const std::string two = "        a = R.add(x, x)\n        b = R.exp(x)\n        c = R.multiply(b, a)\n";
  const PassEffect moved = Effect(two, "        b = R.exp(x)\n        a = R.add(x, x)\n        c = R.multiply(b, a)\n");
  CHECK(moved.changed.size() == 1);
  CHECK(moved.bindings.empty());
}

TEST_CASE("effect: added and removed bindings and calls", "[driver]") {
  const PassEffect effect = Effect(kThree, "        a = R.add(x, x)\n        c = R.add(a, a)\n");
  CHECK(effect.bindings.added == 0);
  CHECK(effect.bindings.removed == 1);
  CHECK(effect.bindings.changed == 1);
  REQUIRE(effect.operators.size() == 3);
  CHECK(effect.operators.at("R.add").before == 1);
  CHECK(effect.operators.at("R.add").after == 2);
  CHECK(effect.operators.at("R.exp").after == 0);
  CHECK(effect.operators.at("R.multiply").before == 1);
}

TEST_CASE("effect: functions", "[driver]") {
  CompilerInstance compiler;
  const Module module = Parse(compiler, kThree);
  const Module none;
  const PassEffect removed = EffectOf(module, none, FindChanges(module, none));
  CHECK(removed.removed == std::vector<std::string>{"main"});
  CHECK(removed.bindings.removed == 3);
  const PassEffect added = EffectOf(none, module, FindChanges(none, module));
  CHECK(added.added == std::vector<std::string>{"main"});
  CHECK(added.bindings.added == 3);
}

TEST_CASE("function texts: a change holds the lines that differ", "[driver]") {
  CompilerInstance compiler;
  const Module before = Parse(compiler, kThree);
  const Module after = Parse(compiler, "        a = R.add(x, x)\n        b = R.sin(a)\n        c = R.multiply(b, a)\n");
  FunctionTexts texts{PrintOptions()};
  texts.Begin(0, before);
  REQUIRE(texts.functions().size() == 2);
  CHECK(texts.functions()[0].kind == "module");
  CHECK(texts.functions()[1].first.starts_with("@R.function\ndef main("));
  const std::vector<TextChange> changes = texts.Update(after, FindChanges(before, after));
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].function == 1);
  REQUIRE(changes[0].steps.size() == 2);
  CHECK(changes[0].steps[0].kept == 3);
  CHECK(changes[0].steps[0].removed == 1);
  REQUIRE(changes[0].steps[0].added.size() == 1);
  CHECK(changes[0].steps[0].added[0].find("R.sin(a)") != std::string::npos);
  CHECK(changes[0].steps[1].kept == 2);
  CHECK(texts.Update(after, FindChanges(before, after)).empty());
}

}  // namespace iropt
