// The nodes of ONNX models that bindings come from, for differences of their text.
#pragma once

#include <string>
#include <string_view>

#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt {

class NodeLabels {
 public:
  explicit NodeLabels(const SourceManager& sources) : sources_(sources) {}

  // Notes the bindings of a function. O(bindings).
  void Read(const Function& function);
  // What the binding on a line of the function's text comes from: `Conv "conv1"  # MODEL.py:12`, or several of these.
  // Empty for other lines and for what comes from a text.
  std::string Of(std::string_view line) const;

 private:
  std::string Describe(Span span) const;

  const SourceManager& sources_;
  LookupMap<std::string, std::string> labels_;  // by variables; empty where several have the name
};

// A unified difference with the nodes that its removed and added lines come from.
std::string WithNodes(std::string_view difference, const NodeLabels& before, const NodeLabels& after);

}  // namespace iropt
