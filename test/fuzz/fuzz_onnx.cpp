// The reader of ONNX files must answer any bytes with a module or with diagnostics, and a module that it gives must be
// one that the verifier can look at and that prints.
#include <cstdint>
#include <memory>
#include <string>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/exchange/format.h"
#include "iropt/ir/context.h"
#include "iropt/support/check.h"
#include "iropt/text/script/printer.h"

extern "C" const iropt::FormatLibrary* iroptGetFormat();

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace iropt;
  IRContext context;
  const IRContext::Scope scope(context);
  const auto file = std::make_shared<const FileBuffer>(std::string(reinterpret_cast<const char*>(data), size));
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  const ReadRequest request{
      .contents = file->text(), .owner = file, .name = "model.onnx", .folder = "/nonexistent", .options = {}};
  const Result<Module> module = iroptGetFormat()->format->Read(request, diagnostics);
  IROPT_CHECK(module.ok() || diagnostics.has_errors() || !module.error().reported());
  if (!module.ok()) return 0;
  if (VerifyModule(*module, {}, diagnostics)) static_cast<void>(ModuleToString(*module));
  return 0;
}
