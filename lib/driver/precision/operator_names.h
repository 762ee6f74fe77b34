// The names that people know operators by.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/precision/operators.h"

namespace iropt {

// The names of nodes of the model that the module was read from, several of them joined by "+" for what was made of
// several nodes; the names of variables for other modules, and for nodes without a name. The sources must outlive it.
precision::OperatorNamer MakeOperatorNamer(const Module& module, const SourceManager& sources);

// The operators of -keep-precision. A text selects an operator if it is one of the names that "+" joins in that of the
// operator, or a regular expression that matches all of one. Texts that select nothing are recorded.
class KeptOperators {
 public:
  // Fails if a regular expression is malformed.
  static Result<KeptOperators> Make(const std::vector<std::string>& texts);
  bool Contains(const std::string& name);
  std::vector<std::string> Unmatched() const;

 private:
  struct Entry;
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace iropt
