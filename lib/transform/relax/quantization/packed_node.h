// A call of `onnx.<Op>`, as the reader of ONNX makes it of an operator that Relax does not have.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The inputs, and a name and a value for each attribute.
class PackedNode {
 public:
  explicit PackedNode(const Call& call);

  // Empty for other calls.
  std::string_view name() const { return name_; }
  size_t num_inputs() const { return inputs_.size(); }
  const Call& call() const { return call_; }
  // Null if it is left out, or the dtype or the rank of the tensor is not known.
  const Expr* In(size_t i) const;
  bool IsLeftOut(size_t i) const;
  const Expr* Attribute(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t fallback) const;
  double Float(std::string_view name, double fallback) const;
  std::vector<int64_t> Ints(std::string_view name, size_t count, int64_t fallback) const;

 private:
  const Call& call_;
  std::string_view name_;
  std::vector<const Expr*> inputs_;
  uint32_t first_attribute_ = 0;
};

}  // namespace iropt
