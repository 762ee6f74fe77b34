// Passes must keep the meaning of modules. The bytes are the choices of a pipeline and of a random module; the module
// is verified after each pass, and runs before and after it with the same results.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/check/verify_each.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/context.h"
#include "iropt/semantics/semantic_check.h"
#include "iropt/support/check.h"
#include "random_module.h"

namespace {

using namespace iropt;

constexpr int kModuleSize = 8;
constexpr int kMaxPasses = 4;
constexpr int kOptLevel = 4;
constexpr int64_t kBudget = 10'000'000;

// Options with which a pass has an effect on the random modules.
std::string_view OptionsOf(std::string_view pass) {
  if (pass == "BindParams") return R"(<params={"w":{"dtype":"float32","shape":[4],"data":[1,-2,0.5,3]}}>)";
  if (pass == "BindSymbolicVars") return R"(<binding_map={"n":3};func_name=main>)";
  if (pass == "ConvertLayout") return R"(<desired_layouts={"relax.nn.conv2d":["NHWC","OHWI"]};strict=false>)";
  if (pass == "UpdateVDevice") return R"options(<new_vdevice="I.vdevice('cuda')">)options";
  return {};
}

// Whether a pass is nothing for random modules: it only prints, or reads a file.
bool NeedsMore(std::string_view pass) {
  return pass == "PrintIR" || pass == "tir.ApplyTrace" || pass == "MetaScheduleApplyDatabase";
}

std::string ChoosePipeline(const PassRegistry& registry, generate::Choices& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : registry.passes()) names.push_back(name);
  const int num_passes = 1 + choices.Below(kMaxPasses);
  std::string pipeline;
  for (int i = 0; i < num_passes; ++i) {
    const std::string_view name = choices.Pick(names);
    if (!NeedsMore(name)) pipeline += fmt::format("{}{}{}", pipeline.empty() ? "" : ",", name, OptionsOf(name));
  }
  return pipeline;
}

std::string Messages(const DiagnosticBuffer& buffer) {
  std::string text;
  for (const Diagnostic& diagnostic : buffer.diagnostics()) {
    text += diagnostic.message + "\n";
    for (const auto& note : diagnostic.notes) text += fmt::format("  {}\n", note.message);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A context of its own for each input, so that memory does not accumulate.
  IRContext ir_context;
  const IRContext::Scope scope(ir_context);
  DiagnosticBuffer buffer;
  CompilerInstance compiler({}, buffer);
  generate::Choices choices(std::span(data, size));
  const std::string pipeline = ChoosePipeline(compiler.registry(), choices);
  if (pipeline.empty()) return 0;
  const std::string text = generate::RandomModule(choices, kModuleSize);
  Result<Module> module = compiler.ParseModule(text);
  IROPT_CHECK(module.ok(), "the random module is refused:\n{}\n{}", Messages(buffer), text);
  const Result<Pass> pass = compiler.MakePass(pipeline);
  IROPT_CHECK(pass.ok(), "the pipeline {} is refused:\n{}", pipeline, Messages(buffer));

  PassContext context = compiler.MakeContext(kOptLevel);
  const auto audit = std::make_shared<ChangeAudit>();
  const auto check = std::make_shared<SemanticCheck>(compiler.diagnostics(), compiler.err(),
                                                     SemanticCheckOptions{.each = true, .budget = kBudget, .seed = 0},
                                                     NetworkMode::Auto);
  context.instruments = {audit, std::make_shared<VerifyEach>(compiler.verify_options(), audit, compiler.diagnostics()),
                         check};
  check->Begin(*module);
  const Result<PassResult> result = (*pass)(*std::move(module), context);
  // A pass may refuse what another one has made, but with a diagnostic of its own.
  const bool is_right =
      result.ok() || (result.error().code != ErrorCode::SemanticCheck && result.error().code != ErrorCode::Rejected);
  IROPT_CHECK(is_right, "{} on a random module:\n{}\n{}", pipeline, Messages(buffer), text);
  return 0;
}
