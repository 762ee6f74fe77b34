// The program of a Relay text as a graph: what is written once and named %n is one node, however often it is used.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/diag/source.h"
#include "iropt/infer/py_value.h"
#include "iropt/ir/module.h"
#include "iropt/ir/node.h"
#include "iropt/support/arena.h"

namespace iropt::relay {

struct Operator;

// The index of a node in its graph. Operands have smaller numbers than their users, apart from variables.
using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

enum class GraphKind : uint8_t {
  kError,     // was reported
  kVar,       // index: in Graph::vars
  kGlobal,    // index: in Graph::globals
  kConstant,  // index: in Graph::constants
  kTuple,
  kItem,      // of the only operand; index: of the field
  kCall,      // the callee, then the arguments
  kOperator,  // a call of an operator, which begins with its name: the arguments; index: in Graph::calls
  kSign,      // as kOperator, for one that is written with a sign such as +
  kIf,        // the condition, then the branches
  kFunction,  // the body; index: in Graph::functions
  kLets       // the values of variables, in order, then the body; index: of the first variable in Graph::let_vars
};

struct GraphNode {
  GraphKind kind = GraphKind::kError;
  uint32_t index = 0;
  SourceSpan span;
  List<NodeId> operands;
};

struct GraphVar {
  std::string_view name;  // without the %
  SourceSpan span;
  const Type* type = nullptr;  // the annotation, or null
  NodeId value = kNoNode;      // of a let
};

struct Attribute {
  std::string_view name;
  SourceSpan span;
  PyValue value;
};

struct OperatorCall {
  const Operator* op = nullptr;
  List<Attribute> attributes;
};

struct GraphFunction {
  std::string_view name;  // of a global function, without the @; else empty
  SourceSpan name_span;
  List<NodeId> params;           // variables
  const Type* result = nullptr;  // the annotation, or null
  SourceSpan result_span;
  List<Attribute> attributes;
  bool is_generic = false;  // has type parameters, which are Object in the types of its variables
  NodeId body = kNoNode;
  NodeId first_node = 0;           // of a global function: the nodes of its text are those from here to its own
  std::string_view extern_symbol;  // of a function that is only declared
};

// All functions of a text.
struct Graph {
  Arena arena;  // of lists, names and values of attributes
  std::vector<GraphNode> nodes;
  std::vector<GraphVar> vars;
  std::vector<NodeId> let_vars;  // the variables of all kLets nodes
  std::vector<std::string_view> globals;
  std::vector<const Expr*> constants;
  std::vector<OperatorCall> calls;  // one for all calls of an operator without attributes
  std::vector<GraphFunction> functions;
  std::vector<uint32_t> definitions;  // the functions with names, in the order of the text

  const GraphNode& operator[](NodeId id) const { return nodes[id]; }
};

}  // namespace iropt::relay
