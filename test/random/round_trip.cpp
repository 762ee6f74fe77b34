// Prints random modules and reads them back:
//
//   round_trip [FIRST] COUNT
//
// Modules are built of nodes, as passes build them, and read from texts. Each must be well-formed, and its text must
// read back as an equal module that prints as the same text.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "any_prim_func.h"
#include "any_relax.h"
#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"
#include "random_module.h"

namespace {

using namespace iropt;

constexpr int kTextSize = 12;  // bindings of main
constexpr uint64_t kSeed = 25;
constexpr size_t kMostFailures = 20;  // that are printed

std::optional<Module> Parse(const std::string& text, std::string& error) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  std::optional<Module> module = ParseModule(text, 0, {}, diagnostics);
  if (!module)
    error = fmt::format("{} (at {})", buffer.diagnostics().front().message,
                        text.substr(buffer.diagnostics().front().span.begin, 60));
  return module;
}

std::string VerifierError(const Module& module) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  if (VerifyModule(module, {}, diagnostics)) return {};
  return buffer.diagnostics().front().message;
}

// What is wrong with the module or its text; empty if nothing.
std::string FailureOf(const Module& module, std::string& text) {
  text = ModuleToString(module);
  std::string error = VerifierError(module);
  if (!error.empty()) return "not well-formed: " + error;
  const std::optional<Module> again = Parse(text, error);
  if (!again) return "does not read back: " + error;
  if (const auto difference = FirstDifference(module, *again, {.map_free_vars = true}))
    return "reads back as another module: " + *difference;
  return ModuleToString(*again) == text ? "" : "prints differently after it was read";
}

std::optional<Module> MakeModule(uint64_t index, std::string& error) {
  generate::Choices choices(HashCombine(kSeed, index));
  switch (index % 4) {
    case 0: return Parse(generate::RandomModule(choices, kTextSize), error);
    case 1: return Parse(generate::AnyRelaxModule(choices), error);
    default: return generate::AnyPrimFuncs(choices);
  }
}

bool ParseNumber(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t first = 0;
  uint64_t count = 0;
  const bool ok =
      (argc == 2 || argc == 3) && ParseNumber(argv[argc - 1], count) && (argc == 2 || ParseNumber(argv[1], first));
  if (!ok) {
    fmt::print(stderr, "usage: round_trip [FIRST] COUNT\n");
    return 1;
  }
  uint64_t num_failures = 0;
  for (uint64_t i = first; i < first + count; ++i) {
    IRContext context;
    const IRContext::Scope scope(context);
    std::string text;
    std::string failure;
    if (const std::optional<Module> module = MakeModule(i, failure)) failure = FailureOf(*module, text);
    if (failure.empty()) continue;
    if (++num_failures <= kMostFailures) fmt::print("module {} {}\n{}\n", i, failure, count == 1 ? text : "");
  }
  fmt::print("{} of {} modules differ\n", num_failures, count);
  return num_failures == 0 ? 0 : 1;
}
