// A plugin with the fault named by the environment variable IROPT_TEST_FAULT; by default it works.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

std::string_view Fault() {
  const char* fault = std::getenv("IROPT_TEST_FAULT");
  return fault != nullptr ? fault : "";
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

// Additions that are neither a pass nor an instrument.
Status AddWrong(std::string_view fault, PassRegistry& registry) {
  if (fault == "taken-kind") return registry.AddDiagnosticKind({"syntax", Severity::Remark, "another syntax"});
  if (fault == "bad-kind") return registry.AddDiagnosticKind({"Two Words", Severity::Remark, "not an id"});
  if (fault == "taken-operator")
    return registry.AddOperator({.name = "nn.relu", .functions = {&InferNothing, nullptr}});
  if (fault == "bad-operator") return registry.AddOperator({.name = "relu", .functions = {&InferNothing, nullptr}});
  if (fault == "no-rule") return registry.AddOperator({.name = "mine.op"});
  if (fault == "no-pipeline") return registry.ExtendPipeline({"defaults", 1, 2, "FoldConstant"});
  return {};
}

Status Register(PassRegistry& registry) {
  const std::string_view fault = Fault();
  PassEntry first = Row("test.RenameModule");
  if (fault == "bad-name") first.info.name = "two words";
  if (fault == "reserved-name") first.info.name = "fixpoint";
  if (fault == "no-factory") first.create = nullptr;
  if (fault == "requires-itself") first.info.required = {"test.RenameModule"};
  if (fault == "circle") first.info.required = {"test.Later"};
  IROPT_RETURN_IF_ERROR(registry.Add(first));
  if (fault == "circle") {
    PassEntry later = Row("test.Later");
    later.info.required = {"test.RenameModule"};
    IROPT_RETURN_IF_ERROR(registry.Add(later));
  }
  IROPT_RETURN_IF_ERROR(AddWrong(fault, registry));
  if (fault == "taken-name") IROPT_RETURN_IF_ERROR(registry.Add(Row("FoldConstant")));
  if (fault == "taken-instrument") {
    const auto none = [](const PassOptions&) { return std::shared_ptr<PassInstrument>(); };
    IROPT_RETURN_IF_ERROR(registry.AddInstrument({.name = "timing", .options = {}, .summary = "", .create = none}));
  }
  if (fault == "throws-while-adding") throw std::runtime_error("this is the plugin speaking");
  if (fault == "crashes-while-adding") *nowhere = 1;
  return {};
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const iropt::PassPluginInfo* iroptGetPassPluginInfo() {
  static constexpr iropt::plugin_detail::Abi kAbi = iropt::plugin_detail::MakeAbi();
  static iropt::PassPluginInfo info{iropt::kPassPluginApiVersion,         kAbi.text.data(), "faulty", "2.5",
                                    iropt::plugin_detail::StateAddress(), &Register};
  const std::string_view fault = Fault();
  if (fault == "nothing") return nullptr;
  if (fault == "throws") throw std::runtime_error("this is the entry point speaking");
  if (fault == "old-version") info.api_version = 0;
  if (fault == "other-build") info.abi = "ir-opt 0.0.1, libstdc++, layout 0123456789abcdef";
  if (fault == "no-build") info.abi = nullptr;
  if (fault == "own-state") info.state = &info;
  if (fault == "no-name") info.name = nullptr;
  return &info;
}
