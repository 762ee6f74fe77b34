// A plugin with the bug named by the environment variable IROPT_TEST_BUG; by default it works.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

std::string_view Bug() {
  const char* bug = std::getenv("IROPT_TEST_BUG");
  return bug != nullptr ? bug : "";
}

Pass CreateRename(const PassOptions& options) {
  return CreateModulePass(options.info(),
                          [to = options.String("to")](Module module, ModulePassContext&) -> Result<Module> {
                            module.set_name(to);
                            return module;
                          });
}

PassEntry Row(const char* name) {
  return {.info = {.name = name, .kind = PassKind::Module},
          .options = {{"to", OptionType::String, "Renamed", "the new name"}},
          .summary = "rename the module",
          .create = &CreateRename};
}

// Volatile, so that the compiler cannot know its value.
int* volatile nowhere = reinterpret_cast<int*>(0x10);

const Type* InferNothing(const Call&, InferContext&) { return ObjectType::Get(); }

std::string PrintSize(const Module& module, const PassContext&) {
  return "functions: " + std::to_string(module.functions().size()) + "\n";
}

// Additions that are neither a pass nor an instrument.
Status AddWrong(std::string_view bug, PassRegistry& registry) {
  if (bug == "taken-kind") return registry.AddDiagnosticKind({"syntax", Severity::Remark, "another syntax"});
  if (bug == "bad-kind") return registry.AddDiagnosticKind({"Two Words", Severity::Remark, "not an id"});
  if (bug == "taken-operator") return registry.AddOperator({.name = "nn.relu", .functions = {&InferNothing, nullptr}});
  if (bug == "bad-operator") return registry.AddOperator({.name = "relu", .functions = {&InferNothing, nullptr}});
  if (bug == "no-rule") return registry.AddOperator({.name = "mine.op"});
  if (bug == "no-pipeline") return registry.ExtendPipeline({"defaults", 1, 2, "FoldConstant"});
  if (bug == "taken-analysis") return registry.AddAnalysis({.name = "uses", .print = &PrintSize});
  if (bug == "no-printer") return registry.AddAnalysis({.name = "test_size"});
  return {};
}

Status Register(PassRegistry& registry) {
  const std::string_view bug = Bug();
  PassEntry first = Row("test.RenameModule");
  if (bug == "bad-name") first.info.name = "two words";
  if (bug == "reserved-name") first.info.name = "fixpoint";
  if (bug == "no-factory") first.create = nullptr;
  if (bug == "requires-itself") first.info.required = {"test.RenameModule"};
  if (bug == "circle") first.info.required = {"test.Later"};
  IROPT_RETURN_IF_ERROR(registry.Add(first));
  if (bug == "circle") {
    PassEntry later = Row("test.Later");
    later.info.required = {"test.RenameModule"};
    IROPT_RETURN_IF_ERROR(registry.Add(later));
  }
  IROPT_RETURN_IF_ERROR(AddWrong(bug, registry));
  IROPT_RETURN_IF_ERROR(
      registry.AddAnalysis({.name = "test_size", .summary = "the number of functions", .print = &PrintSize}));
  if (bug == "taken-name") IROPT_RETURN_IF_ERROR(registry.Add(Row("FoldConstant")));
  if (bug == "taken-instrument") {
    const auto none = [](const PassOptions&) { return std::shared_ptr<PassInstrument>(); };
    IROPT_RETURN_IF_ERROR(registry.AddInstrument({.name = "timing", .options = {}, .summary = "", .create = none}));
  }
  if (bug == "throws-while-adding") throw std::runtime_error("this is the plugin speaking");
  if (bug == "crashes-while-adding") *nowhere = 1;
  return {};
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const iropt::PassPluginInfo* iroptGetPassPluginInfo() {
  static constexpr iropt::plugin_detail::Abi kAbi = iropt::plugin_detail::MakeAbi();
  static iropt::PassPluginInfo info{iropt::kPassPluginApiVersion,         kAbi.text.data(), "broken", "2.5",
                                    iropt::plugin_detail::StateAddress(), &Register};
  const std::string_view bug = Bug();
  if (bug == "nothing") return nullptr;
  if (bug == "throws") throw std::runtime_error("this is the entry point speaking");
  if (bug == "old-version") info.api_version = 0;
  if (bug == "other-build") info.abi = "ir-opt 0.0.1, libstdc++, layout 0123456789abcdef";
  if (bug == "no-build") info.abi = nullptr;
  if (bug == "own-state") info.state = &info;
  if (bug == "no-name") info.name = nullptr;
  return &info;
}
