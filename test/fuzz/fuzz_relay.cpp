// The reader of Relay text must answer any bytes with a module or with diagnostics. A module that it gives must be one
// that the verifier can look at and that prints; what the writer makes of it must be read again.
#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/exchange/format.h"
#include "iropt/ir/context.h"
#include "iropt/support/check.h"
#include "iropt/support/file.h"
#include "iropt/text/script/printer.h"

extern "C" const iropt::FormatLibrary* iroptGetFormat();

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace iropt;
  IRContext context;
  const IRContext::Scope scope(context);
  const Format& relay = *iroptGetFormat()->format;
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadRequest request{
      .contents = text, .owner = nullptr, .name = "model.relay", .folder = "/nonexistent", .base = 1, .options = {}};
  const Result<Module> module = relay.Read(request, diagnostics);
  IROPT_CHECK(module.ok() != diagnostics.has_errors());
  if (!module.ok() || !VerifyModule(*module, {}, diagnostics)) return 0;
  static_cast<void>(ModuleToString(*module));
  std::string written;
  {
    OutputStream out(&written);
    if (!relay.Write(*module, {}, out, diagnostics).ok()) return 0;
  }
  DiagnosticBuffer again_buffer;
  DiagnosticEngine again(&again_buffer);
  const ReadRequest second{
      .contents = written, .owner = nullptr, .name = "again.relay", .folder = "/nonexistent", .base = 1, .options = {}};
  IROPT_CHECK(relay.Read(second, again).ok(), "what was written does not read back:\n{}", written);
  return 0;
}
