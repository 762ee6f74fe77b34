// The attributes of a node by their names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "exchange/onnx/model.h"

namespace iropt::onnx {

// For classes with a function `const NodeProto& node() const`. What is missing has the fallback.
template <class Derived>
class NodeAttributes {
 public:
  const AttributeProto* FindAttr(std::string_view name) const {
    const std::vector<AttributeProto>& attributes = static_cast<const Derived*>(this)->node().attributes;
    const auto found = std::ranges::find(attributes, name, &AttributeProto::name);
    return found == attributes.end() ? nullptr : &*found;
  }
  int64_t Int(std::string_view name, int64_t fallback = 0) const {
    const AttributeProto* attribute = FindAttr(name);
    return attribute ? attribute->i : fallback;
  }
  double Float(std::string_view name, double fallback = 0) const {
    const AttributeProto* attribute = FindAttr(name);
    return attribute ? static_cast<double>(attribute->f) : fallback;
  }
  std::string_view String(std::string_view name, std::string_view fallback = "") const {
    const AttributeProto* attribute = FindAttr(name);
    return attribute ? attribute->s : fallback;
  }
  std::vector<int64_t> Ints(std::string_view name) const {
    const AttributeProto* attribute = FindAttr(name);
    return attribute ? attribute->ints : std::vector<int64_t>();
  }
};

}  // namespace iropt::onnx
