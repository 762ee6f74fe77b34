// Values and attributes that no text of a module has: only callers of the library give them to an evaluator.
#include "eval_test_util.h"

namespace iropt {
namespace {

std::string Refusal(std::string_view op, std::vector<HostValue> args, const Attr* attrs = nullptr) {
  const Result<HostValue> result = Try(op, std::move(args), attrs);
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

TEST_CASE("evaluators refuse lists of a wrong length", "[eval]") {
  const Tensor image = F32({1, 3, 4, 4}, Iota(48));
  const Tensor kernel = F32({3, 2, 2, 2}, Iota(24));
  const Attr* one = Ints({1, 1});
  CHECK(
      Refusal(
          "nn.conv2d_transpose", {image, kernel},
          Attrs(
              {{"output_padding", Ints({0})}, {"strides", one}, {"padding", Ints({0, 0, 0, 0})}, {"dilation", one}})) ==
      "relax.nn.conv2d_transpose: the output padding does not fit the number of spatial axes");
  CHECK(Refusal("nn.max_pool2d", {image}, Attrs({{"pool_size", Ints({2, 2, 2})}})) ==
        "relax.nn.max_pool2d: the window does not fit the number of spatial axes");
  CHECK(Refusal("nn.adaptive_avg_pool2d", {image}, Attrs({{"output_size", Ints({2, 2, 2})}})) ==
        "relax.nn.adaptive_avg_pool2d: the output size does not fit the number of spatial axes");
}

TEST_CASE("evaluators refuse a dimension that is left open and cannot be computed", "[eval]") {
  CHECK(Refusal("reshape", {F32({6}, Iota(6)), HostValue(ShapeValue{-1, 4})}) ==
        "relax.reshape: the dimension -1 cannot be computed");
}

TEST_CASE("evaluators refuse a wrong number of operands", "[eval]") {
  CHECK(Refusal("memory.ensure_zero_offset", {F32({1}, {1}), F32({1}, {1})}) ==
        "relax.memory.ensure_zero_offset: expects one operand");
}

TEST_CASE("evaluators refuse attributes of another operator", "[eval]") {
  const std::vector<HostValue> args = {F32({1}, {1})};
  const Result<HostValue> result = EvalOp(*FindOp("relax.sum"), Attrs({}), args, {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "relax.sum: the attributes are not those of the operator");
}

TEST_CASE("evaluators without a source of random numbers refuse what is random", "[eval]") {
  CHECK(Refusal("nn.dropout", {F32({1}, {1})}, Attrs({{"rate", FloatAttr::Get(0.5, DataType::Float(64))}})) ==
        "relax.nn.dropout: the result is random");
}

}  // namespace
}  // namespace iropt
