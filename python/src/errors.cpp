#include "errors.h"

#include <algorithm>
#include <span>
#include <string>

#include "iropt/diag/consumers.h"
#include "iropt/support/file.h"

namespace iropt::python {

namespace {

// Lives as long as the interpreter.
PyObject* error_class = nullptr;

py::object PlaceOf(const SourceManager& sources, SourceSpan span) {
  if (!span.known()) return py::none();
  const SourceLocation begin = sources.Locate(span.begin);
  const SourceLocation end = sources.Locate(span.end);
  return py::make_tuple(begin.name, begin.line, begin.column, end.line, end.column);
}

py::dict ToDict(const Diagnostic& diagnostic, const SourceManager& sources) {
  py::dict result;
  result["severity"] = SeverityName(diagnostic.severity);
  result["kind"] = diagnostic.kind;
  result["message"] = diagnostic.message;
  result["place"] = PlaceOf(sources, diagnostic.span);
  py::list notes;
  for (const DiagnosticNote& note : diagnostic.notes)
    notes.append(py::make_tuple(note.message, PlaceOf(sources, note.span)));
  result["notes"] = notes;
  py::list fixes;
  for (const FixItHint& fix : diagnostic.fix_its)
    fixes.append(py::make_tuple(fix.replacement, PlaceOf(sources, fix.span)));
  result["fix_its"] = fixes;
  return result;
}

}  // namespace

std::string Log::Text() const {
  std::string text;
  OutputStream out(&text);
  TextConsumer consumer(&out, &sources_, false);
  for (const Diagnostic& diagnostic : std::span(buffer_.diagnostics()).subspan(first_)) consumer.Consume(diagnostic);
  static_cast<void>(out.Flush());
  return text;
}

void Log::Throw(const iropt::Error& error) const {
  if (error.exception != nullptr) {
    try {
      std::rethrow_exception(error.exception);
    } catch (const py::error_already_set&) {
      throw;
    } catch (const std::exception&) {
      // The message says so, too.
    }
  }
  std::string text = Text();
  if (!error.reported()) text = text.empty() ? error.message : error.message + "\n" + text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto type = py::reinterpret_borrow<py::object>(error_class);
  const py::object raised = type(text);
  py::list diagnostics;
  for (const Diagnostic& diagnostic : std::span(buffer_.diagnostics()).subspan(first_))
    diagnostics.append(ToDict(diagnostic, sources_));
  raised.attr("diagnostics") = diagnostics;
  raised.attr("code") = ExitCode(error.code);
  PyErr_SetObject(error_class, raised.ptr());
  throw py::error_already_set();
}

void Log::CheckErrors() const {
  if (engine_.has_errors()) Throw(iropt::Error{ErrorCode::Parse, {}});
}

void Log::CheckNewErrors() {
  const auto is_error = [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; };
  if (std::ranges::none_of(std::span(buffer_.diagnostics()).subspan(first_), is_error)) return;
  try {
    Throw(iropt::Error{ErrorCode::Parse, {}});
  } catch (...) {
    first_ = buffer_.diagnostics().size();
    throw;
  }
}

void AddErrors(py::module_& m) {
  // Many errors are about a value that the caller gave, and programs for TVM expect a ValueError for some of them.
  const py::tuple bases = py::make_tuple(py::handle(PyExc_RuntimeError), py::handle(PyExc_ValueError));
  error_class = PyErr_NewExceptionWithDoc(
      "iropt.Error",
      "An error of the library. `diagnostics` has what was reported, each with severity, kind, message, place, notes "
      "and fix_its; `code` is the exit code that the command line ends with.",
      bases.ptr(), nullptr);
  if (error_class == nullptr) throw py::error_already_set();
  m.add_object("Error", error_class);
}

}  // namespace iropt::python
