// Scaled dot-product attention.
#include "iropt/op/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "elementwise.h"
#include "linear_algebra.h"
#include "numeric.h"
#include "rearrange.h"
#include "reduce.h"

namespace iropt::eval {

namespace {

enum class Causal : uint8_t { kNone, kTopLeft, kBottomRight };

struct AttentionArgs {
  Tensor scale;  // a scalar to multiply by; null: to divide by the square root of the head's length
  Causal causal = Causal::kNone;
  int64_t window = 0;  // the number of positions, up to its own, that a query sees; 0: all
};

Result<AttentionArgs> ReadAttentionArgs(KernelCall& call, DataType dtype) {
  const auto attrs = call.attrs<AttentionAttrs>();
  AttentionArgs args;
  if (!dtype.is_floating()) return call.UnsupportedDType(dtype);
  if (const auto scale = attrs.scale()) {
    IROPT_ASSIGN_OR_RETURN(args.scale, CastTensor(call, MakeScalarTensor(Scalar::Float(*scale)), dtype));
  }
  const std::string_view causal = attrs.causal_mask().value_or("");
  if (causal == "TopLeft") {
    args.causal = Causal::kTopLeft;
  } else if (causal == "BottomRight") {
    args.causal = Causal::kBottomRight;
  } else if (!causal.empty()) {
    return call.Fail(fmt::format("the causal mask '{}' is not supported", causal));
  }
  args.window = attrs.window_size().value_or(0);
  if (args.window < 0) return call.Fail("the size of the window is negative");
  if (args.window != 0 && args.causal == Causal::kNone) return call.Fail("a window needs a causal mask");
  return args;
}

// The columns that row i of a matrix of scores keeps: from i - window + 1 (all from the first without a window) to
// i + offset.
struct Band {
  int64_t offset = 0;
  int64_t window = 0;
};

// Sets the elements outside of the band to a number in each matrix.
Result<Tensor> KeepBand(KernelCall& call, const Tensor& x, const Band& band, double rest) {
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  const int64_t columns = x->shape().back();
  const int64_t rows = x->shape()[x->shape().size() - 2];
  const int64_t size = x->dtype().bytes();
  IROPT_ASSIGN_OR_RETURN(const Tensor number, CastTensor(call, MakeScalarTensor(Scalar::Float(rest)), x->dtype()));
  for (int64_t i = 0; i < x->num_elements(); ++i)
    std::memcpy(out->mutable_data() + i * size, number->data(), static_cast<size_t>(size));
  for (int64_t i = 0; columns != 0 && i < x->num_elements() / columns; ++i) {
    const int64_t row = i % rows;
    const int64_t end = std::clamp<int64_t>(row + band.offset + 1, 0, columns);
    const int64_t begin = band.window == 0 ? 0 : std::clamp<int64_t>(row - band.window + 1, 0, end);
    const int64_t start = (i * columns + begin) * size;
    std::memcpy(out->mutable_data() + start, x->data() + start, static_cast<size_t>((end - begin) * size));
  }
  return Tensor(out);
}

// Softmax of the unmasked scores.
Result<Tensor> CausalSoftmax(KernelCall& call, const Tensor& scores, const Band& band) {
  if (scores->num_elements() == 0) return scores;
  const Shape last{static_cast<int64_t>(scores->shape().size()) - 1};
  IROPT_ASSIGN_OR_RETURN(const Tensor masked, KeepBand(call, scores, band, -std::numeric_limits<double>::infinity()));
  IROPT_ASSIGN_OR_RETURN(const Tensor highest, Reduce(call, ReduceOp::kMax, masked, last, /*keepdims=*/true));
  IROPT_ASSIGN_OR_RETURN(const Tensor shifted, MapBinary(call, kSubtract, masked, highest));
  IROPT_ASSIGN_OR_RETURN(const Tensor exps, MapUnary(call, kExp, shifted));
  IROPT_ASSIGN_OR_RETURN(const Tensor weights, KeepBand(call, exps, band, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor sums, Reduce(call, ReduceOp::kSum, weights, last, /*keepdims=*/true));
  return MapBinary(call, kDivide, weights, sums);
}

// Operands with the axes batch, position, head, element. Heads of the query share those of key and value in equal
// parts.
Result<Tensor> Attend(KernelCall& call, const AttentionArgs& args, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor& bias) {
  const Shape q = ShapeOf(*query);
  const Shape k = ShapeOf(*key);
  const Shape v = ShapeOf(*value);
  if (q.size() != 4 || k.size() != 4 || v.size() != 4) return call.Fail("the operands do not have rank 4");
  if (k[0] != q[0] || v[0] != q[0] || k[1] != v[1] || k[2] != v[2] || k[3] != q[3] || k[2] == 0 || q[2] % k[2] != 0)
    return call.Fail("the shapes of the operands do not fit together");
  const DataType dtype = query->dtype();
  const Shape by_head{0, 2, 1, 3};
  const int64_t shared = q[2] / k[2];
  IROPT_ASSIGN_OR_RETURN(Tensor queries, Permute(call, query, by_head));
  queries = Reshaped(queries, {q[0], k[2], shared, q[1], q[3]});
  IROPT_ASSIGN_OR_RETURN(Tensor keys, Permute(call, key, Shape{0, 2, 3, 1}));
  keys = Reshaped(keys, {k[0], k[2], 1, k[3], k[1]});
  IROPT_ASSIGN_OR_RETURN(Tensor scores, Matmul(call, queries, keys, dtype));
  scores = Reshaped(scores, {q[0], q[2], q[1], k[1]});
  if (args.scale) {
    IROPT_ASSIGN_OR_RETURN(scores, MapBinary(call, kMultiply, scores, args.scale));
  } else {
    IROPT_ASSIGN_OR_RETURN(const Tensor length, CastTensor(call, MakeScalarTensor(Scalar::Int(q[3])), dtype));
    IROPT_ASSIGN_OR_RETURN(const Tensor root, MapUnary(call, kSqrt, length));
    IROPT_ASSIGN_OR_RETURN(scores, MapBinary(call, kDivide, scores, root));
  }
  if (bias) {
    const Shape before = ShapeOf(*scores);
    IROPT_ASSIGN_OR_RETURN(scores, MapBinary(call, kAdd, scores, bias));
    if (ShapeOf(*scores) != before) return call.Fail("the bias does not fit the operands");
  }
  const Band band{args.causal == Causal::kBottomRight ? std::abs(q[1] - k[1]) : 0, args.window};
  const auto normalize = [&] {
    return args.causal == Causal::kNone ? Softmax(call, scores, 3) : CausalSoftmax(call, scores, band);
  };
  IROPT_ASSIGN_OR_RETURN(Tensor weights, normalize());
  weights = Reshaped(weights, {q[0], k[2], shared, q[1], k[1]});
  IROPT_ASSIGN_OR_RETURN(Tensor values, Permute(call, value, by_head));
  values = Reshaped(values, {v[0], v[2], 1, v[1], v[3]});
  IROPT_ASSIGN_OR_RETURN(Tensor out, Matmul(call, weights, values, dtype));
  return Permute(call, Reshaped(out, {q[0], q[2], q[1], v[3]}), by_head);
}

Result<HostValue> EvalWholeAttention(KernelCall& call, bool has_bias) {
  IROPT_ASSIGN_OR_RETURN(const Tensor query, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor key, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor value, call.TensorArg(2));
  Tensor bias;
  if (has_bias) {
    IROPT_ASSIGN_OR_RETURN(bias, call.TensorArg(3));
  }
  IROPT_ASSIGN_OR_RETURN(const AttentionArgs args, ReadAttentionArgs(call, query->dtype()));
  IROPT_ASSIGN_OR_RETURN(Tensor result, Attend(call, args, query, key, value, bias));
  return HostValue(std::move(result));
}

// The starts of the sequences that a batch of one holds, and the end of the last one.
Result<Shape> SequenceStarts(const KernelCall& call, size_t operand, int64_t length) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(operand));
  IROPT_ASSIGN_OR_RETURN(Shape starts, IntElements(call, *tensor));
  const bool fits = !starts.empty() && starts.front() >= 0 && starts.back() <= length && std::ranges::is_sorted(starts);
  if (!fits) return call.Fail("the sequences are out of range");
  return starts;
}

}  // namespace

Result<HostValue> EvalAttention(KernelCall& call) { return EvalWholeAttention(call, /*has_bias=*/false); }
Result<HostValue> EvalAttentionBias(KernelCall& call) { return EvalWholeAttention(call, /*has_bias=*/true); }

// Each sequence attends to itself; positions outside of all sequences stay zero.
Result<HostValue> EvalAttentionVarLen(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor query, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor key, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor value, call.TensorArg(2));
  if (query->shape().size() != 4 || key->shape().size() != 4 || value->shape().size() != 4)
    return call.Fail("the operands do not have rank 4");
  if (query->shape()[0] != 1 || key->shape()[0] != 1 || value->shape()[0] != 1 || key->shape()[1] != value->shape()[1])
    return call.Fail("the sequences are not in a batch of one");
  IROPT_ASSIGN_OR_RETURN(const Shape q_starts, SequenceStarts(call, 3, query->shape()[1]));
  IROPT_ASSIGN_OR_RETURN(const Shape k_starts, SequenceStarts(call, 4, key->shape()[1]));
  if (q_starts.size() != k_starts.size()) return call.Fail("queries and keys have different numbers of sequences");
  IROPT_ASSIGN_OR_RETURN(const AttentionArgs args, ReadAttentionArgs(call, query->dtype()));
  Shape shape = ShapeOf(*query);
  shape[3] = value->shape()[3];
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(query->dtype(), shape));
  const int64_t row = shape[2] * shape[3] * query->dtype().bytes();
  for (size_t i = 0; i + 1 < q_starts.size(); ++i) {
    const auto part = [&](const Tensor& x, const Shape& starts) { return SliceView(x, 1, starts[i], starts[i + 1]); };
    const Tensor queries = part(query, q_starts);
    const Tensor keys = part(key, k_starts);
    if (queries->num_elements() == 0) continue;
    if (keys->num_elements() == 0) return call.Fail("a sequence has queries but no keys");
    IROPT_ASSIGN_OR_RETURN(const Tensor result, Attend(call, args, queries, keys, part(value, k_starts), nullptr));
    if (result->num_bytes() != 0)
      std::memcpy(out->mutable_data() + q_starts[i] * row, result->data(), result->num_bytes());
  }
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
