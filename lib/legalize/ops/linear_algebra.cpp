// Legalization of products of matrices and tensors.
#include "iropt/infer/einsum.h"
#include "legalize/legalizations.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;

// The positions of a matrix product: the batch dimensions of each operand, then its rows or columns.
class MatmulIndices {
 public:
  MatmulIndices(const Tensor& a, const Tensor& b) : a_(a), b_(b) {
    const te::Shape x = a.shape();
    const te::Shape y = b.shape();
    const auto batch = [](const te::Shape& dims) {
      return te::Values(dims).first(dims.size() < 2 ? 0 : dims.size() - 2);
    };
    shapes_ = topi::Broadcast(a.te(), batch(x), batch(y));
  }

  te::Shape shape() const {
    te::Shape shape = shapes_.shape;
    if (a_.ndim() > 1) shape.push_back(a_.dim(a_.ndim() - 2));
    if (b_.ndim() > 1) shape.push_back(b_.dim(b_.ndim() - 1));
    return shape;
  }
  Value reduced() const { return a_.dim(a_.ndim() - 1); }

  Value A(te::Values i, Value k) const {
    std::vector<Value> own = Batch(i, shapes_.repeats_a);
    if (a_.ndim() > 1) own.push_back(i[shapes_.shape.size()]);
    own.push_back(k);
    return a_(te::Values(own));
  }
  Value B(te::Values i, Value k) const {
    std::vector<Value> own = Batch(i, shapes_.repeats_b);
    own.push_back(k);
    if (b_.ndim() > 1) own.push_back(i.back());
    return b_(te::Values(own));
  }

 private:
  std::vector<Value> Batch(te::Values i, const std::vector<bool>& repeats) const {
    std::vector<Value> own;
    for (size_t k = 0; k < repeats.size(); ++k)
      own.push_back(repeats[k] ? Value(0) : i[shapes_.shape.size() - repeats.size() + k]);
    return own;
  }

  const Tensor& a_;
  const Tensor& b_;
  topi::BroadcastShapes shapes_;
};

}  // namespace

const Expr* LegalizeMatmul(LegalizeCall& call) {
  if (call.TensorArg(0)->dtype.is_void() || call.TensorArg(1)->dtype.is_void())
    return call.Error("the dtypes of both operands must be known");
  const DataType out = MatmulAttrs(call.call()).out_dtype();
  TeCall te(call, "matmul");
  const Tensor a = te.Arg(0);
  const Tensor b = te.Arg(1);
  const MatmulIndices indices(a, b);
  const auto convert = [&](Value x) { return out.is_void() ? x : te::Cast(out, x); };
  const te::ReduceAxis k[] = {{"k", indices.reduced()}};
  return te.Finish({te.Reduce(
      "matmul", indices.shape(), k, te::Reducer::kSum,
      [&](te::Values i, te::Values r) { return convert(indices.A(i, r[0])) * convert(indices.B(i, r[0])); },
      te::PythonAxes())});
}

}  // namespace iropt::legalize
