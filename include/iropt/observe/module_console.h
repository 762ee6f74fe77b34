// Printing of modules as text, for what shows them during a run.
#pragma once

#include <string>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

// The program that runs passes implements it, see CompilerInstance.
class ModuleConsole {
 public:
  // The part of the input that is worked on, such as "chunk 2, from line 5"; empty for all of it.
  virtual const std::string& chunk() const = 0;
  // The standard error output, for text that is not a diagnostic.
  virtual OutputStream& err() = 0;

  // Prints TVMScript. `path` is that of the file that is written: paths of weights in the text are relative to its
  // folder.
  virtual void Print(const Module& module, OutputStream& out, const std::string& path = "-") const = 0;
  // The text that is shown during a run, without the data of big constants.
  virtual std::string ShownText(const Module& module) const = 0;
  // Prints that text to err(), under a comment: "# HEADING (details, chunk)". The heading may have several lines. Fails
  // if the text would be too long.
  virtual Status PrintUnderHeading(const Module& module, const std::string& heading, std::string_view details) = 0;
  // The comment, with a newline: "# HEADING (details, chunk): result".
  virtual std::string Heading(std::string heading, std::string_view details, std::string_view result = {}) const = 0;

 protected:
  ~ModuleConsole() = default;
};

}  // namespace iropt
