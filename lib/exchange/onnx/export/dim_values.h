// Dimensions and shapes as tensors of integers.
#pragma once

#include <cstdint>
#include <optional>
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

// The whole number by which a dimension is multiplied to get a size.
std::optional<int64_t> WholeFactor(const PrimExpr* dim, const PrimExpr* size);

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
  // What needs no nodes: for counting those of a part of a graph, where dimensions have their values elsewhere.
  enum class Given : uint8_t { Nothing, Symbols, All };

  // Adds nodes to the exporter's graph.
  explicit DimValues(FunctionExporter& exporter) : exporter_(exporter) {}

  void TakeAsGiven(Given given) { given_ = given; }

  // A tensor int64[n] of scalar expressions; computed where they are not numbers. Where `copied` has the same one at
  // the same place, 0 may stand for it.
  std::string_view ShapeTensor(std::span<const PrimExpr* const> values, std::span<const PrimExpr* const> copied = {});
  // A tensor int64[1].
  std::string_view ScalarTensor(const PrimExpr* value);
  // A tensor int64[].
  std::string_view DimScalar(const PrimExpr* dim);
  // A tensor int64[n] of the dimensions of a tensor.
  std::string_view ShapeOf(std::string_view tensor);

  // Returns whether some tensor has the dimension.
  bool IsKnown(const PrimExpr* dim) const { return SourceOf(dim) != nullptr; }

  // From now on, the tensor gives its dimensions, or the shape its elements.
  void Define(const Type* type, std::string_view tensor);
  void DefineElements(const ShapeType* type, std::string_view tensor);
  void Rename(std::string_view from, std::string_view to);

  // What is known, which a branch adds to for itself.
  struct Known {
    LookupMap<const tir::Var*, Source> symbols;
    // The first tensors of each shape that has symbolic dimensions.
    LookupMap<std::vector<const PrimExpr*>, std::string_view> shapes;
    LookupMap<std::string_view, std::string_view> shape_tensors;  // that were computed, by the tensors
    // Other dimensions that tensors have, each once.
    std::vector<std::pair<const PrimExpr*, Source>> dims;
    std::unordered_map<const PrimExpr*, std::string_view> scalars;  // that were computed, of rank 1
    std::unordered_map<const PrimExpr*, std::string_view> numbers;  // of rank 0
  };
  const Known& known() const { return known_; }
  void set_known(Known known) { known_ = std::move(known); }

 private:
  // An element of a tensor, or what a node computes of one and a number.
  struct Term {
    const Source* source;
    std::string_view op;
    int64_t number;
  };
  // Terms of one tensor and operator; no number where an element is taken as it is.
  struct Run {
    const Source* source = nullptr;
    std::string_view op = {};
    std::vector<int64_t> indices = {};
    std::vector<std::optional<int64_t>> numbers = {};
  };

  enum class Form : uint8_t { Vector, Scalar };  // rank 1 and 0

  const Source* SourceOf(const PrimExpr* dim) const;
  // A tensor of which this is the number of elements, and several dimensions are not known; empty if there is none.
  std::string_view TensorOfSize(const PrimExpr* value) const;
  // The tensor that has this shape; empty if there is none, or all dimensions are numbers.
  std::string_view TensorWith(std::span<const PrimExpr* const> shape) const;
  std::optional<Term> TermOf(const PrimExpr* value) const;
  // The longest part of a shape from `first` on that is elements of one tensor, all computed by the same operator.
  Run RunFrom(std::span<const PrimExpr* const> values, size_t first) const;
  std::string_view TensorOf(const Run& run);
  // The shape of a tensor, times whole numbers; empty if none has such a shape.
  std::string_view ScaledShape(std::span<const PrimExpr* const> values);
  // The parts of a shape, one after the other.
  std::string_view Concatenated(std::span<const PrimExpr* const> values);
  std::string_view Number(const PrimExpr* value, Form form);
  std::string_view ElementOf(const Source& source);
  std::string_view ElementsOf(const Source& source, const std::vector<int64_t>& indices);
  // The parts of Number for expressions that have operands.
  std::string_view CompoundScalar(const PrimExpr* value, Form form);
  std::string_view BinaryScalar(const tir::BinaryExpr& e, Form form);

  // A name that stands for a value that is given.
  std::string_view GivenValue();

  FunctionExporter& exporter_;
  Given given_ = Given::Nothing;
  Known known_;
};

}  // namespace iropt::onnx
