// A plugin with an instrument: `-instruments=call-counter` prints the number of operator calls after each pass.
#include <cstdio>
#include <string>

#include "iropt/ir/relax/walk.h"
#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

struct CountCalls : WalkHandler {
  std::string only;  // one operator, or empty for all
  size_t count = 0;

  void OnCall(const Call& call) {
    const auto* op = As<Op>(call.op);
    if (op != nullptr && (only.empty() || op->name == only)) ++count;
  }
};

class CallCounter : public PassInstrument {
 public:
  explicit CallCounter(std::string only) : PassInstrument("call-counter"), only_(std::move(only)) {}

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome) override {
    CountCalls calls;
    calls.only = only_;
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* function = As<Function>(entry.func)) Walk(*function, calls);
    }
    std::fprintf(stderr, "%s: %zu calls\n", info.name.c_str(), calls.count);
    return {};
  }

 private:
  std::string only_;
};

std::shared_ptr<PassInstrument> CreateCallCounter(const PassOptions& options) {
  return std::make_shared<CallCounter>(options.String("op"));
}

Status Register(PassRegistry& registry) {
  return registry.AddInstrument({.name = "call-counter",
                                 .options = {{"op", OptionType::String, "", "count only this operator"}},
                                 .summary = "say after each pass how many calls of operators there are",
                                 .create = &CreateCallCounter});
}

}  // namespace

IROPT_PASS_PLUGIN("call-counter", "1.0", Register)
