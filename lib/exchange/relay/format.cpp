// The format of Relay text, as a shared object that programs load.
#include "iropt/exchange/format.h"

#include "iropt/support/version.h"
#include "parser.h"
#include "printer.h"
#include "translator.h"

namespace iropt::relay {

namespace {

class RelayText final : public Format {
 public:
  Result<Module> Read(const ReadRequest& request, DiagnosticEngine& diagnostics) const override {
    const size_t errors = diagnostics.error_count();
    Workspace workspace;
    const Graph graph = ParseText(request.contents, request.base, workspace, diagnostics);
    if (graph.definitions.empty() && diagnostics.error_count() == errors)
      diagnostics.Error({request.base, request.base}, "empty-input", "the input has no function");
    Module module = Translate(graph, workspace.Finish(), diagnostics);
    if (diagnostics.error_count() != errors) return Failure{ErrorCode::Parse};
    return module;
  }

  Status Write(const Module& module, const WriteRequest& /*request*/, OutputStream& out,
               DiagnosticEngine& diagnostics) const override {
    if (!PrintModule(module, out, diagnostics)) return Failure{ErrorCode::IllFormed};
    return {};
  }
};

}  // namespace

}  // namespace iropt::relay

extern "C" const iropt::FormatLibrary* iroptGetFormat() {
  static const iropt::relay::RelayText format;
  static const iropt::FormatLibrary library{IROPT_VERSION, &format};
  return &library;
}
