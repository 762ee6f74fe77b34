// Legalization of matrix products and tensors.
#include "iropt/op/ops/linear_algebra.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "iropt/infer/einsum.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/matmul.h"

namespace iropt::legalize {

const Expr* LegalizeMatmul(LegalizeCall& call) {
  TeCall te(call, "matmul");
  const te::Tensor a = te.Arg(0);
  return te.Finish({topi::Matmul(a, te.Arg(1), false, MatmulAttrs(call.call()).out_dtype(), "matmul")});
}

// ---- Einsum

namespace {

using te::Tensor;
using te::Value;

// The letters of an equation, with their extents and indices. The axes of an ellipsis come as a shape of their own.
class Einsum {
 public:
  Einsum(const EinsumEquation& equation, const std::vector<Tensor>& inputs) : equation_(equation), inputs_(inputs) {
    for (size_t k = 0; k < inputs.size(); ++k) CollectExtents(equation.inputs[k], inputs[k]);
    std::string letters;
    for (const std::string& subscript : equation.inputs) letters += subscript;
    std::sort(letters.begin(), letters.end());
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
    for (const char letter : letters) {
      if (equation.output.find(letter) == std::string::npos) reduced_ += letter;
    }
  }

  te::Shape shape() const { return Extents(equation_.output); }
  std::vector<te::ReduceAxis> loops() const {
    std::vector<te::ReduceAxis> loops;
    for (const char letter : reduced_) {
      for (const Value& extent : Extents(std::string(1, letter)))
        loops.push_back({letter == '.' ? "k" : std::string(1, letter), extent});
    }
    return loops;
  }
  Value Product(te::Values spatial, te::Values reduced) {
    ellipsis_index_.clear();
    Assign(equation_.output, spatial);
    Assign(reduced_, reduced);
    Value product;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const Value term = inputs_[k](te::Values(IndicesOf(k)));
      product = k == 0 ? term : product * term;
    }
    return product;
  }

 private:
  size_t EllipsisRank(size_t rank, const std::string& subscript) const { return rank - (subscript.size() - 1); }

  void CollectExtents(const std::string& subscript, const Tensor& x) {
    size_t at = 0;
    for (const char letter : subscript) {
      if (letter == '.') {
        te::Shape part;
        for (size_t i = 0; i < EllipsisRank(x.ndim(), subscript); ++i) part.push_back(x.dim(at++));
        ellipsis_ = topi::Broadcast(x.te(), ellipsis_, part).shape;
        continue;
      }
      Value& extent = extents_[static_cast<uint8_t>(letter)];
      const Value own = x.dim(at++);
      extent = extent.expr() ? topi::Broadcast(x.te(), te::Values(&extent, 1), te::Values(&own, 1)).shape[0] : own;
    }
  }
  te::Shape Extents(const std::string& subscript) const {
    te::Shape shape;
    for (const char letter : subscript) {
      if (letter == '.') {
        shape.insert(shape.end(), ellipsis_.begin(), ellipsis_.end());
      } else {
        shape.push_back(extents_[static_cast<uint8_t>(letter)]);
      }
    }
    return shape;
  }
  void Assign(const std::string& subscript, te::Values indices) {
    size_t at = 0;
    for (const char letter : subscript) {
      if (letter == '.') {
        for (size_t i = 0; i < ellipsis_.size(); ++i) ellipsis_index_.push_back(indices[at++]);
      } else {
        index_[static_cast<uint8_t>(letter)] = indices[at++];
      }
    }
  }
  std::vector<Value> IndicesOf(size_t k) const {
    const std::string& subscript = equation_.inputs[k];
    const Tensor& x = inputs_[k];
    std::vector<Value> indices;
    const auto add = [&](Value index, Value whole) {
      const Value own = x.dim(indices.size());
      indices.push_back(own.Is(1) && !whole.Is(1) ? Value(0) : index);
    };
    for (const char letter : subscript) {
      if (letter != '.') {
        add(index_[static_cast<uint8_t>(letter)], extents_[static_cast<uint8_t>(letter)]);
        continue;
      }
      const size_t rank = EllipsisRank(x.ndim(), subscript);
      for (size_t i = ellipsis_.size() - rank; i < ellipsis_.size(); ++i) add(ellipsis_index_[i], ellipsis_[i]);
    }
    return indices;
  }

  const EinsumEquation& equation_;
  const std::vector<Tensor>& inputs_;
  std::array<Value, 128> extents_{}, index_{};  // by letter
  te::Shape ellipsis_;
  std::vector<Value> ellipsis_index_;
  std::string reduced_;  // letters
};

}  // namespace

const Expr* LegalizeEinsum(LegalizeCall& call) {
  const std::optional<EinsumEquation> equation = ParseEinsum(EinsumAttrs(call.call()).subscripts());
  if (!equation) return call.Error("its subscripts are not an equation");
  const std::vector<const Expr*> fields = call.TupleFields(0);
  if (fields.size() != equation->inputs.size()) return call.Error("the equation has another number of operands");
  TeCall te(call, "einsum");
  const std::vector<Tensor> inputs = te.Inputs(fields);
  Einsum einsum(*equation, inputs);
  const std::vector<te::ReduceAxis> loops = einsum.loops();
  if (loops.empty())
    return te.Finish({te.Compute("T_einsum", einsum.shape(), [&](te::Values i) { return einsum.Product(i, {}); })});
  return te.Finish({te.Reduce("T_einsum", einsum.shape(), loops, te::Reducer::kSum,
                              [&](te::Values i, te::Values r) { return einsum.Product(i, r); })});
}

const Expr* LegalizeOuter(LegalizeCall& call) {
  TeCall te(call, "outer");
  const te::Tensor a = te.Arg(0);
  const te::Tensor b = te.Arg(1);
  const te::Value shape[] = {a.dim(0), b.dim(0)};
  return te.Finish({te.Compute(
      "outer", shape, [&](te::Values i) { return a(i[0]) * b(i[1]); }, te::PythonAxes({"i", "j"}))});
}

}  // namespace iropt::legalize
