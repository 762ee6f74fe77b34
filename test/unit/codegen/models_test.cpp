// Functions of real models, as passes leave them.
#include <cstdlib>
#include <filesystem>

#include "codegen_test_util.h"
#include "iropt/support/file.h"

namespace iropt::codegen {

// Every so many functions: all of them take minutes.
constexpr size_t kStride = 16;

TEST_CASE("functions of real models are compiled", "[models]") {
  const char* conformance = std::getenv("IROPT_CONFORMANCE_DIR");
  const std::filesystem::path folder = std::filesystem::path(conformance ? conformance : "") / "../corpus/models";
  if (!conformance || !std::filesystem::exists(folder)) {
    WARN("skipped: no models");
    return;
  }
  size_t found = 0;
  for (const char* form : {"legalized", "fused", "lowered"}) {
    const auto file = ReadFile((folder / fmt::format("resnet50.{}.ir", form)).string());
    REQUIRE(file.ok());
    DiagnosticBuffer diagnostics;
    DiagnosticEngine engine(&diagnostics);
    const std::optional<Module> module = ParseModule((*file)->text(), 1, {}, engine);
    REQUIRE(module.has_value());
    for (const ModuleEntry& entry : module->functions()) {
      if (!Is<PrimFunc>(entry.func) || found++ % kStride != 0) continue;
      const auto function = SharedCompiler().Compile(*module, *entry.var);
      INFO(form << " " << entry.var->name << (function.ok() ? "" : ": " + function.error().message));
      CHECK(function.ok());
    }
  }
  CHECK(found > 100);
}

TEST_CASE("functions with very many statements and loops are compiled in time", "[models]") {
  std::string body;
  for (int i = 0; i < 8000; ++i) body += fmt::format("out[{}] = A[{}] + out[{}]\n", i % 8, i * 3 % 8, i * 5 % 8);
  std::string nest = "for i in range(8):\n    out[i] = T.float32(0)\n";
  for (int depth = 0; depth < 200; ++depth) nest += fmt::format("{:{}}for i{} in range(1):\n", "", depth * 4, depth);
  nest += fmt::format("{:{}}out[0] = A[1] + out[0]\n", "", 800);
  const char* const params = "A: T.Buffer((8,), \"float32\"), out: T.Buffer((8,), \"float32\")";
  CheckSame(Func(params, "for i in range(8):\n    out[i] = T.float32(0)\n" + body));
  CheckSame(Func(params, nest));
}

}  // namespace iropt::codegen
