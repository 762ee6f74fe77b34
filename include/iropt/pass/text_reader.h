// The interface by which passes parse options in TVMScript: passes do not depend on a text format, the creator of a
// context provides it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

class TextReader {
 public:
  // The scope of the text, and the location of errors.
  struct Place {
    const Module& module;  // for names of virtual devices and other global infos
    Workspace& workspace;
    DiagnosticEngine& diagnostics;
    SourceSpan span;  // of the option; all errors are located there
  };

  virtual ~TextReader() = default;
  // A type such as R.Tensor((n, 4), "float32"): n is the last of the variables of that name, or a new one if there is
  // none. Null after an error was reported.
  virtual const Type* ReadType(std::string_view text, std::span<const tir::Var* const> variables,
                               Place place) const = 0;
  // A value such as I.vdevice("cuda", 1). Null after an error was reported.
  virtual const Attr* ReadAttr(std::string_view text, Place place) const = 0;
  // A module, or functions outside of a class; the global infos of the place do not count. Nothing after an error was
  // reported.
  virtual std::optional<Module> ReadModule(std::string_view text, Place place) const = 0;
};

}  // namespace iropt
