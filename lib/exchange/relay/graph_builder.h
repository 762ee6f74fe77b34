// Adds the nodes of a graph.
#pragma once

#include <span>
#include <string_view>

#include "graph.h"
#include "iropt/support/lookup.h"
#include "ops/op_table.h"

namespace iropt::relay {

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  NodeId Add(GraphKind kind, uint32_t index, SourceSpan span, std::span<const NodeId> operands) {
    graph_.nodes.push_back({kind, index, span, List<NodeId>(graph_.arena.Copy(operands))});
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }
  NodeId AddError(SourceSpan span) { return Add(GraphKind::kError, 0, span, {}); }

  NodeId AddConstant(const Expr* constant, SourceSpan span) {
    graph_.constants.push_back(constant);
    return Add(GraphKind::kConstant, static_cast<uint32_t>(graph_.constants.size() - 1), span, {});
  }

  NodeId AddOperator(const Operator* op, std::span<const NodeId> args, std::span<const Attribute> attributes,
                     SourceSpan span) {
    const auto added = static_cast<uint32_t>(graph_.calls.size());
    const uint32_t call = attributes.empty() ? plain_calls_.try_emplace(op, added).first : added;
    if (call == added) graph_.calls.push_back({op, List<Attribute>(graph_.arena.Copy(attributes))});
    return Add(GraphKind::kOperator, call, span, args);
  }
  NodeId AddSign(std::string_view name, std::span<const NodeId> args, SourceSpan span) {
    const NodeId node = AddOperator(FindOperator(name), args, {}, span);
    graph_.nodes[node].kind = GraphKind::kSign;
    return node;
  }

  NodeId AddFunction(const GraphFunction& function, SourceSpan span, bool global) {
    graph_.functions.push_back(function);
    const auto index = static_cast<uint32_t>(graph_.functions.size() - 1);
    if (global) graph_.definitions.push_back(index);
    const bool has_body = function.body != kNoNode;
    return Add(GraphKind::kFunction, index, span, std::span(&function.body, has_body ? 1 : 0));
  }

  // `values` has those of the variables, and then the body.
  NodeId AddLets(std::span<const NodeId> vars, std::span<const NodeId> values, SourceSpan span) {
    const auto first = static_cast<uint32_t>(graph_.let_vars.size());
    graph_.let_vars.insert(graph_.let_vars.end(), vars.begin(), vars.end());
    return Add(GraphKind::kLets, first, span, values);
  }

 private:
  Graph& graph_;
  LookupMap<const Operator*, uint32_t> plain_calls_;  // of operators without attributes
};

}  // namespace iropt::relay
