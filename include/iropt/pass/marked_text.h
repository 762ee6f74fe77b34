// The interface by which passes show parts of a function in messages: passes do not depend on a text format.
#pragma once

#include <span>
#include <string>

#include "iropt/ir/module.h"

namespace iropt {

// The readers of contexts (PassContext::reader) may be writers of this kind, too.
class MarkedTextWriter {
 public:
  virtual ~MarkedTextWriter() = default;
  // The text of the PrimFunc with the marked loops and blocks underlined; of a long one, their surroundings.
  virtual std::string WriteMarked(const Module& module, const GlobalVar* var,
                                  std::span<const Node* const> marks) const = 0;
};

}  // namespace iropt
