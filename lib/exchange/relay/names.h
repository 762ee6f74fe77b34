// The meanings of the names of a Relay text while it is read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph.h"
#include "iropt/support/lookup.h"
#include "parser_core.h"
#include "var_scopes.h"

namespace iropt::relay {

class Names {
 public:
  explicit Names(ParserCore& core) : core_(core) {}

  // The name in TVMScript: keywords of Python get an underscore.
  static std::string_view InScript(std::string_view name, Arena& arena);

  VarScopes& vars() { return vars_; }
  // The node of a variable %x. kNoNode after an error, with a suggestion if a similar one is in scope.
  NodeId FindVar(Token token) const;
  // That no operator has the name, with what may be meant.
  void ReportUnknownOperator(Token token) const;

  // The node of %0. kNoNode after an error.
  NodeId FindGraphVar(Token token) const;
  // %0 is the node from now on.
  void DefineGraphVar(Token token, NodeId value);

  // The index of the function @f in Graph::globals, defined or not.
  uint32_t IndexOfGlobal(std::string_view name);

 private:
  ParserCore& core_;
  VarScopes vars_;
  // By number, as TVM numbers them; and those whose numbers leave big gaps.
  std::vector<NodeId> graph_vars_;
  LookupMap<uint64_t, NodeId> far_graph_vars_;
  LookupMap<std::string_view, uint32_t> globals_;
};

}  // namespace iropt::relay
