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

// The operators that the user names: those whose name, or a part of it, is one of the texts, or is matched as a whole
// by one as a regular expression. Notes the texts that match nothing.
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
