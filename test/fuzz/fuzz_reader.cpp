// The reader must answer any bytes with a module or with diagnostics. A module that it accepts is verified, printed and
// read again; the second text must be the first.
#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/support/check.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace iropt;
  // A context of its own for each input, so that nothing piles up.
  IRContext context;
  const IRContext::Scope scope(context);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  const std::optional<Module> module = ParseModule(text, 1, {}, diagnostics);
  IROPT_CHECK(module.has_value() != diagnostics.has_errors());
  if (!module) return 0;
  const bool well_formed = VerifyModule(*module, {}, diagnostics);
  const std::string printed = ModuleToString(*module);
  if (!well_formed) return 0;
  DiagnosticBuffer again_buffer;
  DiagnosticEngine again(&again_buffer);
  const std::optional<Module> reread = ParseModule(printed, 1, {}, again);
  IROPT_CHECK(reread.has_value(), "the printed module does not read back:\n{}", printed);
  const std::string reprinted = ModuleToString(*reread);
  IROPT_CHECK(reprinted == printed, "printing is not stable:\n{}\n--\n{}", printed, reprinted);
  return 0;
}
