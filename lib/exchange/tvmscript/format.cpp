// TVMScript, of all versions.
#include "iropt/exchange/format.h"

#include <optional>
#include <string_view>
#include <utility>

namespace iropt::formats {

namespace {

constexpr std::string_view kScriptExtensions[] = {".ir", ".py"};

class TvmScript final : public Format {
 public:
  Result<Module> Read(const ReadRequest& request, DiagnosticEngine& diagnostics) const override {
    std::optional<Module> module = ParseModule(request.contents, request.base, request.options, diagnostics);
    if (!module) return Failure{ErrorCode::Parse};
    return *std::move(module);
  }

  Status Write(const Module& module, const WriteRequest& request, OutputStream& out,
               DiagnosticEngine& /*diagnostics*/) const override {
    PrintModule(module, request.printing, out);
    return {};
  }
};

const Format& ScriptFormat() {
  static const TvmScript format;
  return format;
}

}  // namespace

extern const FormatRow tvmscript;
constinit const FormatRow tvmscript{.name = "tvmscript", .extensions = kScriptExtensions, .built_in = &ScriptFormat};

}  // namespace iropt::formats
