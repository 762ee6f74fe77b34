// Dimensions and shapes as tensors of integers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

class FunctionExporter;

class DimValues {
 private:
  // The element of a tensor that holds a symbolic variable: a dimension of the tensor, or its element.
  struct Source {
    std::string_view tensor;
    int64_t index;
    bool is_element;         // of a tensor that is a shape
    bool is_vector = false;  // its only dimension
  };

 public:
  // Adds nodes to the exporter's graph.
  explicit DimValues(FunctionExporter& exporter) : exporter_(exporter) {}

  // A tensor int64[n] of scalar expressions; computed where they are not numbers.
  std::string_view ShapeTensor(std::span<const PrimExpr* const> values);
  // A tensor int64[1].
  std::string_view ScalarTensor(const PrimExpr* value);
  // A tensor int64[]; empty if no tensor has the dimension.
  std::string_view DimScalar(const PrimExpr* dim);

  // From now on, the tensor gives its dimensions, or the shape its elements.
  void Define(const Type* type, std::string_view tensor);
  void DefineElements(const ShapeType* type, std::string_view tensor);
  void Rename(std::string_view from, std::string_view to);

  // What is known, which a branch adds to for itself.
  struct Known {
    LookupMap<const tir::Var*, Source> symbols;
    // Other dimensions that tensors have, each once.
    std::vector<std::pair<const PrimExpr*, Source>> dims;
    std::unordered_map<const PrimExpr*, std::string_view> scalars;  // that were computed
  };
  const Known& known() const { return known_; }
  void set_known(Known known) { known_ = std::move(known); }

 private:
  const Source* SourceOf(const PrimExpr* dim) const;
  // The parts of ScalarTensor for expressions that have operands.
  std::string_view CompoundScalar(const PrimExpr* value);
  std::string_view BinaryScalar(const tir::BinaryExpr& e);

  FunctionExporter& exporter_;
  Known known_;
};

}  // namespace iropt::onnx
