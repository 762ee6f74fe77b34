// The tensors that a value holds: one, none, or those of the fields of a tuple. TVM's NestedMsg of StorageTokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "iropt/support/stack.h"

namespace iropt {

class TensorTokens {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = 0;

  TensorTokens() : nodes_(1) {}

  Id Leaf(uint32_t tensor) { return Add({tensor, 0, kHard}); }
  // Nothing if no field holds a tensor.
  Id Tuple(std::span<const Id> fields) {
    bool holds_any = false;
    for (const Id field : fields) holds_any |= field != kNone;
    if (!holds_any) return kNone;
    const auto begin = static_cast<uint32_t>(fields_.size());
    fields_.insert(fields_.end(), fields.begin(), fields.end());
    return Add({begin, static_cast<uint32_t>(fields.size()), kTuple});
  }
  Id Field(Id tuple, uint32_t index) const {
    const Node& node = nodes_[tuple];
    return node.kind == kTuple && index < node.size ? fields_[node.first + index] : kNone;
  }
  // Marks the tensors as soft: the value is the same memory, but that is not known for planning.
  Id MakeSoft(Id tokens) {
    const Node node = nodes_[tokens];
    if (node.kind == kHard) return Add({node.first, 0, kSoft});
    if (node.kind != kTuple) return tokens;
    return WithStack([&] {
      std::vector<Id> fields;
      for (uint32_t i = 0; i < node.size; ++i) fields.push_back(MakeSoft(fields_[node.first + i]));
      return Tuple(fields);
    });
  }
  // Calls f(tensor, soft) for each tensor.
  template <class F>
  void ForEachLeaf(Id tokens, F&& f) const {
    const Node& node = nodes_[tokens];
    if (node.kind == kHard || node.kind == kSoft) return f(node.first, node.kind == kSoft);
    if (node.kind != kTuple) return;
    WithStack([&] {
      for (uint32_t i = 0; i < node.size; ++i) ForEachLeaf(fields_[node.first + i], f);
    });
  }

 private:
  enum Kind : uint8_t { kNothing, kHard, kSoft, kTuple };
  struct Node {
    uint32_t first = 0;  // the tensor, or the first of the fields
    uint32_t size = 0;   // the number of fields
    Kind kind = kNothing;
  };

  Id Add(Node node) {
    nodes_.push_back(node);
    return static_cast<Id>(nodes_.size() - 1);
  }

  std::vector<Node> nodes_;  // the first holds nothing
  std::vector<Id> fields_;
};

}  // namespace iropt
