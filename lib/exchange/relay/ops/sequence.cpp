// Windows, sequences, parts of matrices, and transforms of signals.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "exchange/relay/constants.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/broadcast.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/linear_algebra.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/infer/ops/reorder.h"
#include "iropt/infer/ops/repeat.h"
#include "iropt/infer/ops/slice.h"
#include "relay_builder.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

// A constant of integers of the shape.
Value IntMatrix(OpCall& call, std::span<const int64_t> shape, std::span<const int64_t> values, DataType dtype) {
  return MakeConstant(dtype, shape, values, call.workspace());
}

Value FloatMatrix(OpCall& call, std::span<const int64_t> shape, std::span<const double> values, DataType dtype) {
  return MakeConstant(dtype, shape, values, call.workspace());
}

// ---- Sequences

// The positions after the length of a sequence get the value.
const Expr* BuildSequenceMask(OpCall& call) {
  RelayBuilder relay(call);
  Value data = call.arg(0);
  const auto dims = DimsOf(data);
  const int64_t axis = call.Int("axis");
  if (!dims || dims->size() < 2 || (axis != 0 && axis != 1))
    return call.Error("bad-argument", "axis is 0 or 1, and the data has two dimensions or more");
  const int rank = static_cast<int>(dims->size());
  Value places = call.Iota((*dims)[static_cast<size_t>(axis)], kInt64);
  places = AlongAxis(call, places, axis, rank);
  Value lengths = AlongAxis(call, call.Cast(call.arg(1), kInt64), 1 - axis, rank);
  const DataType dtype = DTypeOf(data);
  return relay.Where(relay.Less(places, lengths), data, call.Cast(relay.Float(call.Float("mask_value")), dtype));
}

const Expr* BuildReverseSequence(OpCall& call) {
  return op::ReverseSequence(call, call.arg(0), call.arg(1),
                             {.seq_axis = call.Int("seq_axis"), .batch_axis = call.Int("batch_axis")});
}

// Takes along one axis after the other the positions (window, element of the window).
const Expr* BuildSlidingWindow(OpCall& call) {
  const auto shape = StaticDimsOf(call.arg(0));
  if (!shape) return call.NoCounterpart("windows of a tensor with unknown dimensions");
  const auto rank = static_cast<int64_t>(shape->size());
  const auto axis = call.Axis(call.Int("axis"), static_cast<int>(rank));
  if (!axis) return nullptr;
  const std::vector<int64_t> windows = call.Ints("window_shape");
  const std::vector<int64_t> strides = call.Ints("strides");
  const auto count = static_cast<size_t>(rank - *axis);
  if (windows.size() != count || strides.size() != count)
    return call.Error("bad-argument", "needs a window and a stride for each axis from `axis` on");
  Value data = call.arg(0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = (*shape)[static_cast<size_t>(*axis) + i];
    if (windows[i] < 1 || windows[i] > size || strides[i] < 1)
      return call.Error("bad-argument", "a window does not fit the data");
    const int64_t places[] = {(size - windows[i]) / strides[i] + 1, windows[i]};
    if (!call.MayTabulate({places[0], places[1]})) return nullptr;
    std::vector<int64_t> indices;
    for (int64_t w = 0; w < places[0]; ++w) {
      for (int64_t e = 0; e < places[1]; ++e) indices.push_back(w * strides[i] + e);
    }
    data =
        op::Take(call, data, IntMatrix(call, places, indices, kInt64), {.axis = *axis + 2 * static_cast<int64_t>(i)});
  }
  std::vector<int64_t> order(static_cast<size_t>(*axis));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t part = 0; part < 2; ++part) {
    for (size_t i = 0; i < count; ++i) order.push_back(*axis + 2 * static_cast<int64_t>(i) + part);
  }
  return call.Permute(data, order);
}

// ---- Matrices

const Expr* BuildTrilu(OpCall& call) {
  const bool upper = call.Bool("upper");
  if (const auto k = ConstantInt(call.arg(1)))
    return upper ? op::Triu(call, call.arg(0), call.Prim(*k)) : op::Tril(call, call.arg(0), call.Prim(*k));
  RelayBuilder relay(call);
  const auto dims = DimsOf(call.arg(0));
  if (!dims || dims->size() < 2) return call.Error("type-inference", "the operand does not have two dimensions");
  Value rows = call.Iota((*dims)[dims->size() - 2], kInt64);
  Value columns = call.Iota(dims->back(), kInt64);
  Value diagonal = relay.Add(AlongAxis(call, rows, 0, 2), call.Cast(call.arg(1), kInt64));
  Value keeps = upper ? relay.GreaterEqual(columns, diagonal) : op::LessEqual(call, columns, diagonal);
  return relay.Where(keeps, call.arg(0), op::ZerosLike(call, call.arg(0)));
}

// Elements of a matrix on the diagonals from k1 to k2, and the places of their values.
struct DiagonalPlaces {
  std::vector<int64_t> is_on;
  std::vector<int64_t> at;  // in the diagonals, one after the other
};

DiagonalPlaces FindDiagonals(OpCall& call, int64_t rows, int64_t columns, int64_t longest) {
  const int64_t k1 = call.Int("k1");
  const int64_t k2 = call.Int("k2");
  DiagonalPlaces places;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t k = j - i;
      const bool is_on = k >= k1 && k <= k2;
      const bool aligns_right = k >= 0 ? call.Bool("super_diag_right_align") : call.Bool("sub_diag_right_align");
      const int64_t length = k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns);
      const int64_t offset = k1 != k2 && aligns_right ? longest - length : 0;
      const int64_t at = (k1 != k2 ? (k2 - k) * longest : 0) + (k >= 0 ? i : j) + offset;
      places.is_on.push_back(is_on ? 1 : 0);
      places.at.push_back(is_on ? at : 0);
    }
  }
  return places;
}

const Expr* BuildMatrixSetDiag(OpCall& call) {
  RelayBuilder relay(call);
  Value matrix = call.arg(0);
  const auto dims = DimsOf(matrix);
  const auto of_diagonal = DimsOf(call.arg(1));
  if (!dims || dims->size() < 2 || !of_diagonal || of_diagonal->empty())
    return call.Error("type-inference", "the operands are not matrices and diagonals of known shape");
  const int64_t* rows = arith::AsInt((*dims)[dims->size() - 2]);
  const int64_t* columns = arith::AsInt(dims->back());
  const int64_t* longest = arith::AsInt(of_diagonal->back());
  if (rows == nullptr || columns == nullptr || longest == nullptr)
    return call.NoCounterpart("diagonals of matrices with unknown dimensions");
  if (!call.MayTabulate({*rows, *columns})) return nullptr;
  const DiagonalPlaces places = FindDiagonals(call, *rows, *columns, *longest);
  const size_t batches = dims->size() - 2;
  DimList flat(dims->begin(), dims->end() - 2);
  flat.push_back(Product(std::span(*of_diagonal).subspan(std::min(batches, of_diagonal->size()))));
  Value values = call.Reshape(call.arg(1), flat);
  values = op::Take(call, values, call.IntTensor(places.at, kInt64), {.axis = static_cast<int64_t>(dims->size()) - 2});
  values = call.Reshape(values, *dims);
  const int64_t shape[] = {*rows, *columns};
  return relay.Where(IntMatrix(call, shape, places.is_on, DataType::Bool()), values, matrix);
}

// With xy, the first tensor lies along the second axis, and the second one along the first.
const Expr* GridOfColumns(OpCall& call, std::span<const Value> tensors) {
  const auto rank = static_cast<int>(tensors.size());
  const auto axis_of = [](size_t i) { return i < 2 ? 1 - i : i; };
  DimList shape(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto dims = DimsOf(tensors[i]);
    if (!dims || dims->size() > 1) return call.Error("type-inference", "an operand is not a vector of known shape");
    const arith::PrimBuilder make;
    shape[axis_of(i)] = dims->empty() ? make.Int(1) : dims->front();
  }
  std::vector<Value> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Value line = AlongAxis(call, tensors[i], static_cast<int64_t>(axis_of(i)), rank);
    grids.push_back(op::BroadcastTo(call, line, call.Shape(shape)));
  }
  return call.MakeTuple(grids);
}

const Expr* BuildMeshgrid(OpCall& call) {
  const std::vector<Value> tensors = call.Fields(call.arg(0));
  if (call.String("indexing") == "xy" && tensors.size() > 1) return GridOfColumns(call, tensors);
  return op::Meshgrid(call, call.arg(0), {.indexing = call.String("indexing")});
}

const Expr* BuildEinsum(OpCall& call) { return op::Einsum(call, call.arg(0), {.subscripts = call.String("equation")}); }

// ---- Transforms

// The waves of frequencies 0 to `frequencies` - 1: cosines and sines of 2 pi k n / period for n up to `points`.
struct Waves {
  Waves(OpCall& call, int64_t points, int64_t frequencies, int64_t period, DataType dtype) {
    std::vector<double> cosines, sines;
    for (int64_t n = 0; n < points; ++n) {
      for (int64_t k = 0; k < frequencies; ++k) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(k * n % period) / static_cast<double>(period);
        cosines.push_back(std::cos(angle));
        sines.push_back(std::sin(angle));
      }
    }
    const int64_t shape[] = {points, frequencies};
    cosine = FloatMatrix(call, shape, cosines, dtype);
    sine = FloatMatrix(call, shape, sines, dtype);
  }

  Value cosine;
  Value sine;
};

// The limit of the constants that a transform needs.
constexpr int64_t kMostPoints = 4096;

const Expr* BuildDft(OpCall& call) {
  RelayBuilder relay(call);
  const auto dims = DimsOf(call.arg(0));
  const int64_t* points = dims && !dims->empty() ? arith::AsInt(dims->back()) : nullptr;
  if (points == nullptr || *points > kMostPoints || *points < 1)
    return call.NoCounterpart("a Fourier transform of an unknown or large number of points");
  const DataType dtype = DTypeOf(call.arg(0));
  const Waves waves(call, *points, *points, *points, dtype);
  const bool inverse = call.Bool("inverse");
  const auto product = [&](size_t operand, Value wave) { return op::Matmul(call, call.arg(operand), wave); };
  Value real = product(0, waves.cosine);
  Value imaginary = product(1, waves.cosine);
  Value real_part = product(1, waves.sine);
  Value imaginary_part = product(0, waves.sine);
  if (inverse) {
    real = relay.Subtract(real, real_part);
    imaginary = relay.Add(imaginary, imaginary_part);
    Value count = relay.Float(static_cast<double>(*points), dtype);
    real = relay.Divide(real, count);
    imaginary = relay.Divide(imaginary, count);
  } else {
    real = relay.Add(real, real_part);
    imaginary = relay.Subtract(imaginary, imaginary_part);
  }
  const Value parts[] = {real, imaginary};
  return call.MakeTuple(parts);
}

// Windows of the signal times the waves.
const Expr* BuildStft(OpCall& call) {
  RelayBuilder relay(call);
  const auto dims = StaticDimsOf(call.arg(0));
  if (!dims || dims->empty()) return call.NoCounterpart("a Fourier transform of a signal of unknown length");
  const int64_t points = call.Int("n_fft");
  const int64_t hop = call.Int("hop_length");
  const int64_t window = call.Int("win_length");
  const int64_t length = dims->back();
  if (points < 1 || hop < 1 || window < 1 || points > kMostPoints || window > kMostPoints || points > length)
    return call.Error("bad-argument", "n_fft, hop_length or win_length does not fit the signal");
  const int64_t frequencies = call.Bool("onesided") ? points / 2 + 1 : points;
  const int64_t frames[] = {(length - points) / hop + 1, window};
  if (!call.MayTabulate({frames[0], window})) return nullptr;
  std::vector<int64_t> places;
  for (int64_t frame = 0; frame < frames[0]; ++frame) {
    for (int64_t i = 0; i < window; ++i) places.push_back(std::min(frame * hop + i, length - 1));
  }
  const DataType dtype = DTypeOf(call.arg(0));
  Value signal = op::Take(call, call.arg(0), IntMatrix(call, frames, places, kInt64),
                          {.axis = static_cast<int64_t>(dims->size()) - 1});
  signal = relay.Multiply(signal, call.Cast(call.arg(1), dtype));
  const Waves waves(call, window, frequencies, window, dtype);
  const auto transformed = [&](Value wave) {
    Value product = op::Matmul(call, signal, wave);
    std::vector<int64_t> order(dims->size() + 1);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return call.Permute(product, order);
  };
  const Value parts[] = {transformed(waves.cosine), relay.Unary("negative", transformed(waves.sine))};
  Value result = op::Stack(call, call.MakeTuple(parts), {.axis = -1});
  if (!call.Bool("normalized")) return result;
  return relay.Divide(result, relay.Float(std::sqrt(static_cast<double>(points)), dtype));
}

constexpr OperatorRow kSequence[] = {
    {"dft", "re_data, im_data", "inverse=False", BuildDft},
    {"einsum", "data", "equation", BuildEinsum},
    {"matrix_set_diag", "input, diagonal", "k1=0, k2=0, super_diag_right_align=True, sub_diag_right_align=False",
     BuildMatrixSetDiag},
    {"meshgrid", "data", "indexing=\"ij\"", BuildMeshgrid},
    {"reverse_sequence", "data, seq_lengths", "seq_axis=1, batch_axis=0", BuildReverseSequence},
    {"sequence_mask", "data, valid_length", "mask_value=0f, axis=0", BuildSequenceMask},
    {"sliding_window", "data", "axis, window_shape, strides", BuildSlidingWindow},
    {"stft", "data, window", "n_fft=-1, hop_length=-1, win_length=-1, normalized=False, onesided=True", BuildStft},
    {"trilu", "data, k", "upper=True", BuildTrilu},
};

}  // namespace

std::span<const OperatorRow> SequenceOperators() { return kSequence; }

}  // namespace iropt::relay
