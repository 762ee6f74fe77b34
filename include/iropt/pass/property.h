// Properties of PrimFuncs, which the passes of a lowering establish, require and break.
//
// A pass states them in its PassInfo. Before a pass over PrimFuncs rewrites a function, and before a pass over modules
// runs, the pass manager checks what the pass requires. PropertyAudit checks after each pass that what was established
// still holds. As LLVM's MachineFunctionProperties, except that the properties are not stored in the functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

class PassContext;
struct PassInfo;

struct FunctionProperty {
  std::string_view name;     // one word; one per property of a program, plugins included
  std::string_view summary;  // of the state, as a clause: "no block has axes"
  // Returns whether passes bring the function to this state. A property of other functions neither holds nor fails.
  bool (*applies)(const PrimFunc& func);
  // Returns whether a node of the body, a statement, scalar expression, IterVar or BufferRegion, contradicts the
  // property.
  bool (*is_broken_by)(const Node& node);
  // Nodes that may contradict the property: with kStatements, only statements are visited.
  enum class Nodes : uint8_t { kStatements, kAll };
  Nodes nodes = Nodes::kAll;
};

using FunctionProperties = std::vector<const FunctionProperty*>;

// A property that a pass establishes.
struct EstablishedProperty {
  const FunctionProperty* property = nullptr;
  std::string config = {};                  // only if this configuration option is true; empty: with any configuration
  const FunctionProperty* given = nullptr;  // only for functions that have this property before the pass; null: for all
};

// The name, and "with CONFIG given PROPERTY" where they decide.
std::string Describe(const EstablishedProperty& established, std::string_view name);

// A node that contradicts a property.
struct Counterexample {
  const FunctionProperty* property = nullptr;
  const Node* node = nullptr;

  // That of the node, or of the function if the node has none.
  SourceSpan LocationIn(const PrimFunc& func) const;
};

// The first one, of those properties that apply to the function: in pre-order if only statements can contradict them,
// and else in post-order. O(nodes * properties), with statements instead of nodes in the first case.
std::optional<Counterexample> FindCounterexample(const PrimFunc& func, const FunctionProperties& properties);

// Reports the first counterexample to a property that the pass requires, and the passes of the registry of the context
// that establish the property. Returns whether all hold.
bool CheckRequiredProperties(const PassInfo& info, const PrimFunc& func, const PassContext& context,
                             DiagnosticEngine& diagnostics);

}  // namespace iropt
