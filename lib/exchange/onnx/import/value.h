// The values of a graph while it is imported.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

// The elements of a small tensor of integers or booleans as scalar expressions: the results of Shape and of what is
// computed from them. Rank 0 or 1.
struct Elements {
  // Tensors of more elements are values like others.
  static constexpr size_t kMost = 64;

  std::vector<const PrimExpr*> values = {};
  bool is_scalar = false;  // rank 0
  DataType dtype = DataType::Int(64);

  // The elements if all are known numbers.
  std::optional<std::vector<int64_t>> Numbers() const;
};

// Value of a name of a graph. A value with elements may have no expression yet: it gets one when an operator needs the
// tensor.
struct Value {
  const Expr* expr = nullptr;
  std::optional<Elements> elements;
  Span span = {};  // of the node that computes the elements

  Value() = default;
  Value(const Expr* e) : expr(e) {}              // NOLINT(google-explicit-constructor)
  Value(Elements e) : elements(std::move(e)) {}  // NOLINT(google-explicit-constructor)
  bool present() const { return expr != nullptr || elements.has_value(); }
};

// The names that a node can see. A graph that is an attribute of a node sees those around the node.
class Scope {
 public:
  explicit Scope(Scope* outer = nullptr) : outer_(outer) {}

  Value* Find(std::string_view name) {
    for (Scope* scope = this; scope != nullptr; scope = scope->outer_) {
      auto* found = scope->values_.Find(name);
      if (found) return found;
    }
    return nullptr;
  }
  // False if this graph has a value of that name already.
  bool Add(std::string_view name, Value value) {
    const auto [place, is_new] = values_.try_emplace(name);
    if (is_new) place = std::move(value);
    return is_new;
  }

 private:
  Scope* outer_;
  LookupMap<std::string_view, Value> values_;
};

}  // namespace iropt::onnx
