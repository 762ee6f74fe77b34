// Operators of networks in the formats of 8 bits, on numbers with exact results: these formats have so few digits that
// a tolerance would be meaningless. Inexact results are rounded at each step of the formula.
#include <functional>

#include "exact.h"
#include "reference.h"

namespace iropt {

namespace {

// Runs f for each of the formats.
void ForEachFormat(const std::function<void(DataType)>& f) {
  for (const DataType dtype : Float8Types()) {
    INFO(dtype.ToString());
    f(dtype);
  }
}

using Numbers = std::vector<double>;

// The elements of fields of a tuple.
Numbers FieldOf(const Result<HostValue>& result, size_t i) {
  REQUIRE(result.ok());
  return Elements(*result->tuple()->fields.at(i).tensor());
}

const ObjectAttr* ConvRecord(size_t rank, std::string_view data, std::string_view kernel) {
  const Dims ones(rank, 1);
  return Attrs({{"strides", IntItems(ones)},
                {"padding", IntItems(Dims(2 * rank, 0))},
                {"output_padding", IntItems(Dims(rank, 0))},
                {"dilation", IntItems(ones)},
                {"groups", Int(1)},
                {"data_layout", Text(data)},
                {"kernel_layout", Text(kernel)},
                {"out_layout", Text(data)},
                {"out_dtype", DType(DataType::Void())}});
}

const ObjectAttr* PoolRecord(const Dims& size, std::string_view layout) {
  return Attrs({{"pool_size", IntItems(size)},
                {"strides", IntItems(size)},
                {"dilation", IntItems(Dims(size.size(), 1))},
                {"padding", IntItems(Dims(2 * size.size(), 0))},
                {"ceil_mode", IntAttr::Bool(false)},
                {"count_include_pad", IntAttr::Bool(false)},
                {"layout", Text(layout)},
                {"out_layout", Text(layout)}});
}

}  // namespace

TEST_CASE("float8: convolutions", "[eval]") {
  ForEachFormat([](DataType f8) {
    CHECK(Values("nn.conv1d", {T(f8, {1, 1, 4}, {1, 2, 0, 1}), T(f8, {1, 1, 2}, {1, 2})},
                 ConvRecord(1, "NCW", "OIW")) == Numbers{5, 2, 2});
    CHECK(Values("nn.conv2d", {T(f8, {1, 1, 2, 3}, {1, 0, 1, 1, 1, 0}), T(f8, {1, 1, 2, 2}, {1, 1, 0, 2})},
                 ConvRecord(2, "NCHW", "OIHW")) == Numbers{3, 1});
    CHECK(Values("nn.conv3d", {T(f8, {1, 1, 2, 2, 2}, Numbers(8, 1)), T(f8, {1, 1, 2, 2, 1}, {1, -1, 2, 1})},
                 ConvRecord(3, "NCDHW", "OIDHW")) == Numbers{3, 3});
  });
  // The only result of products of booleans is a number.
  const ObjectAttr* f32 = Attrs({{"strides", IntItems({1, 1})},
                                 {"padding", IntItems({0, 0, 0, 0})},
                                 {"dilation", IntItems({1, 1})},
                                 {"groups", Int(1)},
                                 {"data_layout", Text("NCHW")},
                                 {"kernel_layout", Text("OIHW")},
                                 {"out_layout", Text("NCHW")},
                                 {"out_dtype", DType(DataType::Float(32))}});
  CHECK(Values("nn.conv2d", {B({1, 1, 2, 3}, {1, 0, 1, 1, 1, 0}), B({1, 1, 2, 2}, {1, 1, 0, 1})}, f32) ==
        Numbers{2, 1});
}

TEST_CASE("float8: pools and their gradients", "[eval]") {
  ForEachFormat([](DataType f8) {
    const Numbers four{1, 3, 2, 6};
    CHECK(Values("nn.avg_pool1d", {T(f8, {1, 1, 4}, four)}, PoolRecord({2}, "NCW")) == Numbers{2, 4});
    CHECK(Values("nn.avg_pool2d", {T(f8, {1, 1, 2, 2}, four)}, PoolRecord({2, 2}, "NCHW")) == Numbers{3});
    CHECK(Values("nn.avg_pool3d", {T(f8, {1, 1, 1, 2, 2}, four)}, PoolRecord({1, 1, 2}, "NCDHW")) == Numbers{2, 4});
    const auto adaptive = [&](const char* op, Dims shape, const Dims& out, std::string_view layout) {
      return Values(op, {T(f8, std::move(shape), four)},
                    Attrs({{"output_size", IntItems(out)}, {"layout", Text(layout)}, {"out_layout", Text(layout)}}));
    };
    CHECK(adaptive("nn.adaptive_avg_pool1d", {1, 1, 4}, {2}, "NCW") == Numbers{2, 4});
    CHECK(adaptive("nn.adaptive_avg_pool2d", {1, 1, 2, 2}, {1, 1}, "NCHW") == Numbers{3});
    CHECK(adaptive("nn.adaptive_avg_pool3d", {1, 1, 2, 1, 2}, {2, 1, 1}, "NCDHW") == Numbers{2, 4});
    CHECK(Values("grad.max_pool2d_backward", {T(f8, {1, 1, 1, 1}, {3}), T(f8, {1, 1, 2, 2}, {1, 2, 4, 2})},
                 PoolRecord({2, 2}, "NCHW")) == Numbers{0, 0, 3, 0});
    CHECK(Values("grad.avg_pool2d_backward", {T(f8, {1, 1, 1, 1}, {6}), T(f8, {1, 1, 2, 2}, {1, 2, 4, 2})},
                 PoolRecord({2, 2}, "NCHW")) == Numbers(4, 1.5));
  });
}

TEST_CASE("float8: normalizations", "[eval]") {
  ForEachFormat([](DataType f8) {
    const NamedAttr no_epsilon{"epsilon", Number(0)};
    const Tensor gamma = T(f8, {2}, {2, 3});
    const Tensor beta = T(f8, {2}, {1, 0});
    const Tensor x = T(f8, {2, 2}, {-2, 2, 4, 0});
    CHECK(Values("nn.layer_norm", {x, gamma, beta}, Attrs({{"axes", Ints({-1})}, no_epsilon})) ==
          Numbers{-1, 3, 3, -3});
    CHECK(Values("nn.rms_norm", {T(f8, {2}, {2, -2}), gamma}, Attrs({{"axes", Ints({-1})}, no_epsilon})) ==
          Numbers{2, -3});
    CHECK(Values("nn.group_norm", {T(f8, {1, 2, 2}, {-2, 2, 4, 0}), gamma, beta},
                 Attrs({{"num_groups", Int(2)}, {"channel_axis", Int(1)}, {"axes", Ints({2})}, no_epsilon})) ==
          Numbers{-1, 3, 3, -3});
    const Result<HostValue> batch =
        Try("nn.batch_norm", {T(f8, {2, 2}, {-2, 4, 2, 0}), gamma, beta, T(f8, {2}, {4, 0}), T(f8, {2}, {2, 8})},
            Attrs({{"axis", Int(1)},
                   no_epsilon,
                   {"momentum", Number(0.5)},
                   {"center", IntAttr::Bool(true)},
                   {"scale", IntAttr::Bool(true)}}));
    CHECK(FieldOf(batch, 0) == Numbers{-1, 3, 3, -3});
    CHECK(FieldOf(batch, 1) == Numbers{2, 1});
    CHECK(FieldOf(batch, 2) == Numbers{3, 6});
  });
}

TEST_CASE("float8: softmax and losses", "[eval]") {
  ForEachFormat([](DataType f8) {
    const ObjectAttr* axis = Attrs({{"axis", Int(-1)}});
    CHECK(Values("nn.softmax", {T(f8, {2, 2}, {2, 2, 0, -448})}, axis) == Numbers{0.5, 0.5, 1, 0});
    const double log2 = static_cast<double>(RoundedTo(f8, std::log(2.0L)));
    CHECK(Values("nn.log_softmax", {T(f8, {2}, {2, 2})}, axis) == Numbers{-log2, -log2});
    CHECK(Values("nn.cross_entropy_with_logits", {T(f8, {2, 2}, {1, 2, 3, 1}), T(f8, {2, 2}, {1, 0, 0, 1})}) ==
          Numbers{-1});
    const ObjectAttr* mean = Attrs({{"reduction", Text("mean")}, {"ignore_index", Int(-100)}});
    const Tensor x = T(f8, {2, 2}, {1, 2, 3, 4});
    const Tensor targets = I64({2}, {1, 0});
    const Tensor weights = T(f8, {2}, {1, 1});
    CHECK(Values("nn.nll_loss", {x, targets, weights}, mean) == Numbers{-2.5});
    CHECK(Values("grad.nll_loss_backward", {T(f8, {}, {2}), x, targets, weights}, mean) == Numbers{0, -1, -1, 0});
  });
}

TEST_CASE("float8: attention", "[eval]") {
  const ObjectAttr* attrs =
      Attrs({{"scale", Number(0.5)}, {"causal_mask", NoneAttr::Get()}, {"window_size", NoneAttr::Get()}});
  ForEachFormat([&](DataType f8) {
    // All scores are the same, so that each query gets the mean of the values.
    const Tensor q = T(f8, {1, 2, 1, 2}, {0, 0, 0, 0});
    const Tensor k = T(f8, {1, 2, 1, 2}, {1, 2, 3, 4});
    const Tensor v = T(f8, {1, 2, 1, 2}, {1, 3, 3, 5});
    CHECK(Values("nn.attention", {q, k, v}, attrs) == Numbers{2, 4, 2, 4});
    // A score that is far below the other has no weight.
    CHECK(Values("nn.attention_bias", {q, k, v, T(f8, {1, 1, 2, 2}, {0, 0, 0, -448})}, attrs) == Numbers{2, 4, 1, 3});
    const Tensor starts = I32({3}, {0, 1, 2});
    const Tensor longest = I32({1}, {1});
    CHECK(Values("nn.attention_var_len", {q, k, v, starts, starts, longest, longest}, attrs) == Numbers{1, 3, 3, 5});
  });
}

TEST_CASE("float8: sampling", "[eval]") {
  ForEachFormat([](DataType f8) {
    CHECK(Values("multinomial_from_uniform",
                 {T(f8, {1, 3}, {0.25, 0.5, 0.25}), F32({3, 1}, {0.1, 0.5, 0.9}), I64({3, 1}, {0, 0, 0})},
                 Attrs({{"dtype", DType(DataType::Int(64))}})) == Numbers{0, 1, 2});
  });
}

}  // namespace iropt
