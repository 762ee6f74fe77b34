// Instruments watch the passes that run under a context. The first one here shows which operators a pass adds and
// removes, the second one decides which passes run at all.
#include <iostream>
#include <map>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/transform/passes.h"

using namespace iropt;

constexpr const char* kModule = R"(
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    with R.dataflow():
        c = R.add(R.const(1.0), R.const(2.0))
        y = R.multiply(x, c)
        z = R.multiply(x, c)
        out = R.add(y, z)
        R.output(out)
    return out
)";

// The number of calls of each operator.
std::map<std::string_view, int> CountCalls(const Module& module) {
  std::map<std::string_view, int> counts;
  for (const ModuleEntry& entry : module.functions()) {
    PostOrderVisit(entry.func, [&](const Expr* expr) {
      const auto* call = As<Call>(expr);
      if (call && Is<Op>(call->op)) ++counts[To<Op>(call->op)->name];
    });
  }
  return counts;
}

class CallDiff : public PassInstrument {
 public:
  CallDiff() : PassInstrument("call-diff") {}

  Status EnterPassContext() override {
    std::cout << "enter\n";
    return {};
  }
  Status ExitPassContext() override {
    std::cout << "exit\n";
    return {};
  }
  Status RunBeforePass(const Module& module, const PassInfo&) override {
    before_.push_back(CountCalls(module));  // a stack: passes run other passes
    return {};
  }
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome) override {
    std::map<std::string_view, int> diff = CountCalls(module);
    for (const auto& [op, count] : before_.back()) diff[op] -= count;
    before_.pop_back();
    std::cout << info.name << "\n";
    for (const auto& [op, count] : diff) {
      if (count != 0) std::cout << "  " << op << " " << std::showpos << count << std::noshowpos << "\n";
    }
    return {};
  }

 private:
  std::vector<std::map<std::string_view, int>> before_;
};

// Skips passes of level 3. A pass that the context requires runs nevertheless.
class OnlySafePasses : public PassInstrument {
 public:
  OnlySafePasses() : PassInstrument("only-safe-passes") {}

  bool ShouldRun(const Module&, const PassInfo& info) override { return info.opt_level < 3; }
};

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const Module module, compiler.ParseModule(kModule));
  const Pass seq = Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr()});

  PassContext context = compiler.MakeContext(/*opt_level=*/3);
  context.instruments = {std::make_shared<CallDiff>()};
  With<PassContext> scope(context);
  IROPT_RETURN_IF_ERROR(seq(module));

  // Replaces the instruments of the current context: the old ones exit, the new ones enter.
  IROPT_RETURN_IF_ERROR(
      PassContext::Current().OverrideInstruments({std::make_shared<OnlySafePasses>(), std::make_shared<CallDiff>()}));
  IROPT_RETURN_IF_ERROR(seq(module));
  return scope.Exit();
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   enter
//   FoldConstant
//     relax.add -1
//   EliminateCommonSubexpr
//     relax.multiply -1
//   sequential
//     relax.add -1
//     relax.multiply -1
//   exit
//   enter
//   FoldConstant
//     relax.add -1
//   sequential
//     relax.add -1
//   exit
