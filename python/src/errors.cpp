#include "errors.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "iropt/diag/consumers.h"
#include "iropt/ir/assertion.h"
#include "iropt/support/file.h"

namespace iropt::python {

namespace {

// They live as long as the interpreter.
PyObject* error_class = nullptr;
PyObject* type_error_class = nullptr;
PyObject* assertion_error_class = nullptr;

// Returns whether a diagnostic says that an argument is not one that the operator or the function takes.
bool IsAboutArguments(const Diagnostic& diagnostic) {
  constexpr std::string_view kKinds[] = {"type-inference", "missing-argument", "too-many-arguments",
                                         "unknown-argument"};
  return std::ranges::find(kKinds, diagnostic.kind) != std::end(kKinds);
}

// The class of an error by what was reported and its text.
PyObject* ClassOf(std::span<const Diagnostic> reported, std::string_view text) {
  if (std::ranges::any_of(reported, IsAboutArguments)) return type_error_class;
  return text.find(kAssertionFailed) != text.npos ? assertion_error_class : error_class;
}

PyObject* MakeClass(const char* name, const char* doc, const py::tuple& bases) {
  PyObject* made = PyErr_NewExceptionWithDoc(name, doc, bases.ptr(), nullptr);
  if (made == nullptr) throw py::error_already_set();
  return made;
}

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

void ThrowError(const std::string& message) {
  PyErr_SetString(error_class, message.c_str());
  throw py::error_already_set();
}

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
  const auto reported = std::span(buffer_.diagnostics()).subspan(first_);
  const auto type = py::reinterpret_borrow<py::object>(ClassOf(reported, text));
  const py::object raised = type(text);
  py::list diagnostics;
  for (const Diagnostic& diagnostic : reported) diagnostics.append(ToDict(diagnostic, sources_));
  raised.attr("diagnostics") = diagnostics;
  raised.attr("code") = ExitCode(error.code);
  PyErr_SetObject(type.ptr(), raised.ptr());
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
  error_class = MakeClass(
      "iropt.Error",
      "An error of the library. `diagnostics` has what was reported, each with severity, kind, message, place, notes "
      "and fix_its; `code` is the exit code that the command line ends with.",
      bases);
  // Programs for TVM expect a TypeError or an AssertionError for these.
  const py::handle error = error_class;
  type_error_class =
      MakeClass("iropt.ArgumentError", "An argument that an operator or a function does not take.",
                py::make_tuple(error, py::handle(PyExc_TypeError)));
  assertion_error_class = MakeClass("iropt.AssertionFailure", "An assertion of a program that does not hold.",
                                    py::make_tuple(error, py::handle(PyExc_AssertionError)));
  m.add_object("Error", error_class);
  m.add_object("ArgumentError", type_error_class);
  m.add_object("AssertionFailure", assertion_error_class);
}

}  // namespace iropt::python
