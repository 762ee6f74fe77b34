// Calls from a script into the program around it. A script in a program, such as a function of Python, uses functions
// and values of the program. The text that the reader is given has a call of __host_N(...) for each of them; its
// arguments are read as usual, and the program computes the value.
#pragma once

#include <cstdint>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"

namespace iropt {

inline constexpr std::string_view kHostCallPrefix = "__host_";

// The function that is being read.
struct HostScope {
  Workspace& workspace;
  DiagnosticEngine& diagnostics;
  // A PrimFunc has scalar variables of its own; those of Relax functions are symbolic variables.
  bool is_prim_func;
};

class ScriptHost {
 public:
  // The node of a name in scope; null if there is none.
  using FindName = FunctionRef<const Node*(std::string_view name)>;

  virtual ~ScriptHost() = default;
  // Calls function `index` of the program. The nodes and lists of the result live in the workspace. False after a
  // located error was reported. Calls come from one thread.
  virtual bool Call(int64_t index, const PyArgs& args, const HostScope& scope, FindName find, PyValue& out) = 0;
};

}  // namespace iropt
