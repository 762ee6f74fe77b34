// The functions of a model, which are expanded where they are called.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "exchange/onnx/model.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

class LocalFunctions {
 public:
  // Calls may bring so many nodes into a model: functions that call each other twice would else be exponentially many.
  static constexpr uint64_t kMostNodes = uint64_t{1} << 20;

  explicit LocalFunctions(const Model& model);

  // The function that a node calls; null for operators. O(log functions).
  const FunctionProto* Find(const NodeProto& node) const;
  // Returns whether a node is a conditional, or calls a function that has one.
  bool HasConditional(const NodeProto& node);
  // Counts the nodes that a call brings. Returns false if the model would have too many then.
  bool Expand(const FunctionProto& function);

 private:
  struct Facts {
    bool has_conditional = false;
    uint64_t nodes = 0;  // at most kMostNodes + 1
  };
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // domain, name, overload

  static Key KeyOf(std::string_view domain, std::string_view name, std::string_view overload);
  // Those of a function are found once, by its callees. A function that calls itself counts as empty there: the
  // importer refuses it.
  Facts FactsOf(const FunctionProto& function);
  void CountNodes(const std::vector<NodeProto>& nodes, uint64_t& count);

  std::map<Key, const FunctionProto*> functions_;
  LookupMap<const FunctionProto*, Facts> facts_;
  uint64_t expanded_ = 0;
};

// All nodes of a model but constants, at most 2^40. A call of a function counts as the nodes of the function.
uint64_t CountNodes(const Model& model);

}  // namespace iropt::onnx
