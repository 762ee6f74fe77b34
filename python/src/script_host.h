// Scripts that use functions and values of the program around them.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/text/script/host.h"
#include "node.h"
#include "session.h"

namespace iropt::python {

// Variables of the program that the text declares by name.
using CapturedVars = std::vector<std::pair<std::string, NodeRef>>;

// Answers the calls of one text with a function of Python, which is given the number of the function and its arguments:
// nodes, numbers, texts, and lists of such. Nodes that Python gets are copies that outlive the text; what it makes of
// them is copied back, with the variables and buffers of the script in the places of the copies.
class PythonScriptHost final : public ScriptHost {
 public:
  PythonScriptHost(Build& build, py::object call, CapturedVars captured);
  ~PythonScriptHost() override;
  PythonScriptHost(const PythonScriptHost&) = delete;
  PythonScriptHost& operator=(const PythonScriptHost&) = delete;

  // Takes the interpreter lock.
  bool Call(int64_t index, const PyArgs& args, const HostScope& scope, FindName find, PyValue& out) override;
  // What a function of Python has raised, for the error of the text.
  const std::optional<py::error_already_set>& raised() const { return raised_; }

 private:
  class Exchange;
  Exchange& ExchangeOf(const HostScope& scope, FindName find);

  Build& build_;
  py::object call_;
  CapturedVars captured_;
  std::optional<py::error_already_set> raised_;
  std::map<Workspace*, std::unique_ptr<Exchange>> exchanges_;
};

}  // namespace iropt::python
