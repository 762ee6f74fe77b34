// Passes as objects of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "errors.h"
#include "iropt/pass/pass.h"
#include "session.h"

namespace iropt::python {

// A pass of the library is made for a session, to which types and attributes in its options belong. Passes of Python
// outlive sessions, so the pass is made when it runs, and again for another session.
class PassHandle {
 public:
  using Maker = std::function<Pass(Log&)>;

  PassHandle(PassInfo info, Maker make) : info_(std::move(info)), make_(std::move(make)) {}

  const PassInfo& info() const { return info_; }
  // In the context of the current session.
  const Pass& Get(Log& log) {
    const std::shared_ptr<Session> session = Session::Current();
    if (!pass_ || session_.lock() != session) {
      pass_ = make_(log);
      session_ = session;
    }
    return *pass_;
  }

 private:
  PassInfo info_;
  Maker make_;
  std::weak_ptr<Session> session_;
  std::optional<Pass> pass_;
};

// An object of Python that passes and instruments hold, which may be dropped without the interpreter lock.
class Callback {
 public:
  explicit Callback(py::object function) : function_(std::move(function)) {}
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() {
    if (Py_IsInitialized() == 0) {
      function_.release();
      return;
    }
    const py::gil_scoped_acquire lock;
    function_ = py::object();
  }
  const py::object& operator*() const { return function_; }

 private:
  py::object function_;
};

// A pass whose work a function of Python does: of (module) for module passes, else of (part, module).
std::shared_ptr<PassHandle> MakePythonPass(PassKind kind, py::object function, PassInfo info);

}  // namespace iropt::python
