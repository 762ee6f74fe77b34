// How passes read what their options say in the language of modules: passes do not know what text looks like, but
// whoever makes a context does.
#pragma once

#include <span>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

class TextReader {
 public:
  // Where things are read for, and where errors go.
  struct Place {
    const Module& module;  // has the virtual devices and the like that names refer to
    Workspace& workspace;
    DiagnosticEngine& diagnostics;
    SourceSpan span;  // of the option; all errors are located there
  };

  virtual ~TextReader() = default;
  // A type such as R.Tensor((n, 4), "float32"): n is the last of the variables of that name, or a new one where there
  // is none. Null after an error was reported.
  virtual const Type* ReadType(std::string_view text, std::span<const tir::Var* const> variables,
                               Place place) const = 0;
  // A value such as I.vdevice("cuda", 1). Null after an error was reported.
  virtual const Attr* ReadAttr(std::string_view text, Place place) const = 0;
};

}  // namespace iropt
