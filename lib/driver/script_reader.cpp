#include "script_reader.h"

#include "iropt/text/script/marked.h"
#include "iropt/text/script/parser.h"

namespace iropt {

namespace {

// Parses with `read`, and reports the first error at the location.
template <class F>
auto ReadAt(const TextReader::Place& place, F&& read) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  auto result = read(diagnostics);
  if (!buffer.diagnostics().empty()) {
    const Diagnostic& first = buffer.diagnostics().front();
    place.diagnostics.Error(place.span, DiagId::Dynamic(first.kind), first.message);
  }
  return result;
}

}  // namespace

std::optional<uint32_t> ScriptReader::AddSource(const std::string& name,
                                                const std::shared_ptr<const FileBuffer>& text) const {
  const Result<uint32_t> base = sources_.AddBuffer(name, text->text(), text);
  return base.ok() ? std::optional(*base) : std::nullopt;
}

const Type* ScriptReader::ReadType(std::string_view text, std::span<const tir::Var* const> variables,
                                   Place place) const {
  return ReadAt(place, [&](DiagnosticEngine& diagnostics) -> const Type* {
    return ParseType(text, 0, {place.module, variables}, place.workspace, diagnostics);
  });
}

const Attr* ScriptReader::ReadAttr(std::string_view text, Place place) const {
  return ReadAt(place, [&](DiagnosticEngine& diagnostics) -> const Attr* {
    return ParseAttribute(text, 0, {place.module}, place.workspace, diagnostics);
  });
}

std::optional<Module> ScriptReader::ReadModule(std::string_view text, Place place) const {
  return ReadAt(place, [&](DiagnosticEngine& diagnostics) { return ParseModule(text, 0, {}, diagnostics); });
}

std::string ScriptReader::WriteMarked(const Module& module, const GlobalVar* var,
                                      std::span<const Node* const> marks) const {
  return MarkedFunctionToString(module, var, marks);
}

}  // namespace iropt
