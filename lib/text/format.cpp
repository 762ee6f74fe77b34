#include "iropt/text/format.h"

#include <optional>
#include <utility>

#include "iropt/text/dot/printer.h"

namespace iropt {

namespace {

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

class Dot final : public Format {
 public:
  Status Write(const Module& module, const WriteRequest& request, OutputStream& out,
               DiagnosticEngine& /*diagnostics*/) const override {
    PrintDot(module, request.printing, out);
    return {};
  }
};

}  // namespace

Result<Module> Format::Read(const ReadRequest& /*request*/, DiagnosticEngine& /*diagnostics*/) const {
  return Error{ErrorCode::Usage, "modules cannot be read from this format"};
}

Status Format::Write(const Module& /*module*/, const WriteRequest& /*request*/, OutputStream& /*out*/,
                     DiagnosticEngine& /*diagnostics*/) const {
  return Error{ErrorCode::Usage, "modules cannot be written in this format"};
}

const Format& ScriptFormat() {
  static const TvmScript format;
  return format;
}

const Format& DotFormat() {
  static const Dot format;
  return format;
}

}  // namespace iropt
