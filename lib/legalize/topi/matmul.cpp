// Tensor expressions of matrix products.
#include "iropt/legalize/topi.h"

namespace iropt::topi {

namespace {

// The positions of a matrix product: the batch dimensions of each operand, then its rows or columns.
class MatmulIndices {
 public:
  MatmulIndices(const Tensor& a, const Tensor& b, bool transpose_b) : a_(a), b_(b), transpose_b_(transpose_b) {
    const Shape x = a.shape();
    const Shape y = b.shape();
    const auto batch = [](const Shape& dims) { return Values(dims).first(dims.size() < 2 ? 0 : dims.size() - 2); };
    shapes_ = Broadcast(a.te(), batch(x), batch(y));
  }

  Shape shape() const {
    Shape shape = shapes_.shape;
    if (a_.ndim() > 1) shape.push_back(a_.dim(a_.ndim() - 2));
    if (b_.ndim() > 1) shape.push_back(b_.dim(b_.ndim() - (transpose_b_ ? 2 : 1)));
    return shape;
  }
  Value reduced() const { return a_.dim(a_.ndim() - 1); }

  Value A(Values i, Value k) const {
    std::vector<Value> own = Batch(i, shapes_.repeats_a);
    if (a_.ndim() > 1) own.push_back(i[shapes_.shape.size()]);
    own.push_back(k);
    return a_(Values(own));
  }
  Value B(Values i, Value k) const {
    std::vector<Value> own = Batch(i, shapes_.repeats_b);
    if (b_.ndim() > 1 && transpose_b_) own.push_back(i.back());
    own.push_back(k);
    if (b_.ndim() > 1 && !transpose_b_) own.push_back(i.back());
    return b_(Values(own));
  }

 private:
  std::vector<Value> Batch(Values i, const std::vector<bool>& repeats) const {
    std::vector<Value> own;
    for (size_t k = 0; k < repeats.size(); ++k)
      own.push_back(repeats[k] ? Value(0) : i[shapes_.shape.size() - repeats.size() + k]);
    return own;
  }

  const Tensor& a_;
  const Tensor& b_;
  bool transpose_b_;
  BroadcastShapes shapes_;
};

}  // namespace

Tensor Matmul(const Tensor& x, const Tensor& y, bool transpose_b, DataType out_dtype, std::string_view name) {
  const MatmulIndices indices(x, y, transpose_b);
  const auto convert = [&](Value v) { return out_dtype.is_void() ? v : te::Cast(out_dtype, v); };
  const te::ReduceAxis k[] = {{"k", indices.reduced()}};
  return x.te().Reduce(
      name, indices.shape(), k, te::Reducer::kSum,
      [&](Values i, Values r) { return convert(indices.A(i, r[0])) * convert(indices.B(i, r[0])); }, te::PythonAxes());
}

}  // namespace iropt::topi
