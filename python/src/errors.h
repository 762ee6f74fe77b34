// Errors of the library as exceptions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/support/result.h"

namespace iropt::python {

namespace py = pybind11;

// Adds the class Error, whose objects have the diagnostics as data.
void AddErrors(py::module_& m);

// Throws an Error with the message.
[[noreturn]] void ThrowError(const std::string& message);

// Collects the diagnostics of one operation, and throws them.
class Log {
 public:
  explicit Log(const SourceManager& sources) : sources_(sources), engine_(&buffer_) {}

  DiagnosticEngine& engine() { return engine_; }
  // Throws what a callback of Python threw, as itself; else an Error with the message and all diagnostics, in the text
  // of the command line.
  [[noreturn]] void Throw(const iropt::Error& error) const;
  // The value of a result, which is thrown if it is an error.
  template <class T>
  T Check(Result<T> result) const {
    if (!result.ok()) Throw(result.TakeError());
    if constexpr (!std::is_void_v<T>) return *std::move(result);
  }
  // Throws if errors were reported.
  void CheckErrors() const;
  // Throws if errors were reported since the last call, with what was reported since then.
  void CheckNewErrors();
  // All diagnostics as text.
  std::string Text() const;

 private:
  const SourceManager& sources_;
  DiagnosticBuffer buffer_;
  DiagnosticEngine engine_;
  size_t first_ = 0;  // of what is told
};

}  // namespace iropt::python
