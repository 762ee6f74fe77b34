// Calls by the functions that are made of the table of operators.
#include "iropt/infer/op_builder.h"

#include <array>
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/attention.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/call_packed.h"
#include "iropt/infer/ops/call_tir.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/convolution.h"
#include "iropt/infer/ops/datatype.h"
#include "iropt/infer/ops/loss.h"
#include "iropt/infer/ops/memory.h"
#include "iropt/infer/ops/pooling.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/ops/vision.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/runtime/value.h"

namespace iropt {
namespace {

class OpBuilderTest {
 protected:
  static const TensorType* Tensor(std::initializer_list<int64_t> dims, DataType dtype = DataType::Float(32)) {
    std::vector<const PrimExpr*> sizes;
    for (const int64_t dim : dims) sizes.push_back(IRContext::Current().Int(dim));
    return TensorType::Get(sizes, dtype);
  }
  const Var* NewVar(std::initializer_list<int64_t> dims, DataType dtype = DataType::Float(32)) {
    return workspace_.NewVar("x", Tensor(dims, dtype));
  }
  static bool HasType(const Expr* expr, std::initializer_list<int64_t> dims, DataType dtype = DataType::Float(32)) {
    return TypeEqual(expr->type, Tensor(dims, dtype));
  }

  Module module_;
  Workspace workspace_;
  DiagnosticBuffer reported_;
  DiagnosticEngine diagnostics_{&reported_};
  OpTypeInferrer inferrer_{&module_, workspace_.arena(), &diagnostics_};
  BlockBuilder builder_{workspace_, &inferrer_};
  OpBuilder ops_{builder_};
};

TEST_CASE_METHOD(OpBuilderTest, "a call has the operands in the order of the table", "[op_builder]") {
  const Var* x = NewVar({2, 3});
  const Var* y = NewVar({3});
  const Call* call = op::Subtract(ops_, op::Add(ops_, x, y), y);
  CHECK(IsOp(call->op, op::kSubtract));
  CHECK(call->attrs == nullptr);
  REQUIRE(call->args.size() == 2);
  CHECK(IsOp(To<Call>(call->args[0])->op, op::kAdd));
  CHECK(call->args[1] == y);
  CHECK(HasType(call, {2, 3}));
  CHECK_FALSE(builder_.failed());
}

TEST_CASE_METHOD(OpBuilderTest, "attributes that are not mentioned have their defaults", "[op_builder]") {
  const Var* x = NewVar({2, 3});
  CHECK(HasType(op::PermuteDims(ops_, x), {3, 2}));
  const std::array<int64_t, 1> axes{0};
  const Call* sum = op::Sum(ops_, x, {.axis = axes});
  CHECK(HasType(sum, {3}));
  CHECK_FALSE(StatisticalAttrs(*sum).keepdims());
  CHECK(HasType(op::Sum(ops_, x, {.axis = axes, .keepdims = true}), {1, 3}));
  CHECK(HasType(op::Astype(ops_, x, {.dtype = DataType::Int(8)}), {2, 3}, DataType::Int(8)));
  const Call* conv = op::NnConv2d(ops_, NewVar({1, 3, 8, 8}), NewVar({4, 3, 3, 3}));
  CHECK(HasType(conv, {1, 4, 6, 6}));
  CHECK(ConvAttrs(*conv).data_layout() == "NCHW");
  CHECK_FALSE(builder_.failed());
}

TEST_CASE_METHOD(OpBuilderTest, "optional operands that are not given are left out", "[op_builder]") {
  const Var* predictions = NewVar({2, 3});
  const Var* targets = NewVar({2}, DataType::Int(64));
  CHECK(op::NnNllLoss(ops_, predictions, targets)->args.size() == 2);
  const Var* weights = NewVar({3});
  const Call* weighted = op::NnNllLoss(ops_, predictions, targets, weights, {.reduction = "sum"});
  REQUIRE(weighted->args.size() == 3);
  CHECK(weighted->args[2] == weights);
  CHECK(NLLLossAttrs(*weighted).reduction() == "sum");
  CHECK_FALSE(builder_.failed());
}

TEST_CASE_METHOD(OpBuilderTest, "operands that are not given can be empty tuples", "[op_builder]") {
  const std::array<const PrimExpr*, 1> dims{IRContext::Current().Int(6)};
  const Call* view = op::MemoryView(ops_, NewVar({2, 3}), ops_.MakeShape(dims));
  REQUIRE(view->args.size() == 4);
  CHECK(As<ShapeExpr>(view->args[1]));
  CHECK(To<Tuple>(view->args[2])->fields.empty());
  CHECK(HasType(view, {6}));
}

TEST_CASE_METHOD(OpBuilderTest, "an operand that repeats is a list, and explicit types are given", "[op_builder]") {
  const Var* x = NewVar({2});
  const std::array<const Expr*, 2> args{x, x};
  const std::array<const Type*, 1> types{Tensor({2})};
  const auto* callee = workspace_.New<ExternFunc>("f", DictAttr::Empty(), FuncType::Opaque(ObjectType::Get()));
  const Call* call = op::CallPurePacked(ops_, callee, args, TupleType::Get(types));
  CHECK(call->args.size() == 3);
  CHECK(call->args[2] == x);
  CHECK(HasType(call, {2}));
}

TEST_CASE_METHOD(OpBuilderTest, "tuples, their items, shapes and scalars are operands", "[op_builder]") {
  const Var* x = NewVar({2, 3});
  const std::array<const Expr*, 2> both{x, x};
  const Expr* tuple = ops_.MakeTuple(both);
  CHECK(HasType(ops_.MakeItem(tuple, 1), {2, 3}));
  CHECK(HasType(op::Concat(ops_, tuple, {.axis = 1}), {2, 6}));
  const std::array<const PrimExpr*, 1> dims{IRContext::Current().Int(6)};
  CHECK(HasType(op::Reshape(ops_, x, ops_.MakeShape(dims)), {6}));
  const Expr* half = ops_.MakeScalar(0.5, DataType::Float(16));
  CHECK(HasType(half, {}, DataType::Float(16)));
  CHECK(ScalarOf(*To<Constant>(half)->data)->real == 0.5);
  CHECK(ScalarOf(*To<Constant>(ops_.MakeScalar(3, DataType::Int(8)))->data)->integer == 3);
}

TEST_CASE_METHOD(OpBuilderTest, "a try reports nothing where operands do not fit", "[op_builder]") {
  const Var* x = NewVar({2, 3});
  CHECK(ops_.TryMake(op::kAdd, {x, x}));
  CHECK(ops_.TryMake(op::kAdd, {x, NewVar({5})}) == nullptr);
  CHECK_FALSE(builder_.failed());
  CHECK(diagnostics_.error_count() == 0);
  op::Add(ops_, x, NewVar({5}));
  CHECK(builder_.failed());
  CHECK(diagnostics_.error_count() == 1);
}

// Readers of text refuse such calls before they have a type.
TEST_CASE_METHOD(OpBuilderTest, "attributes and operands that do not fit are errors", "[op_builder]") {
  const Var* image = NewVar({1, 3, 8, 8});
  const Var* boxes = NewVar({1, 5});
  const Var* x = NewVar({2, 3});
  const std::array<int64_t, 1> one{1};
  const std::array<int64_t, 3> three{1, 1, 1};
  const std::array<double, 1> variance{0.1};
  const auto* unknown = workspace_.NewVar("o", ObjectType::Get());
  const auto* callee = workspace_.New<ExternFunc>("f", DictAttr::Empty(), FuncType::Opaque(ObjectType::Get()));
  const std::array<const Type*, 2> types{Tensor({2}), Tensor({2})};
  op::NnConv2d(ops_, image, image, {.strides = three});
  op::NnMaxPool2d(ops_, image, {.pool_size = three});
  op::NnAdaptiveAvgPool2d(ops_, image, {.output_size = three});
  op::VisionRoiAlign(ops_, image, boxes, {.pooled_size = three, .spatial_scale = 1});
  op::VisionMultiboxTransformLoc(ops_, NewVar({1, 2, 3}), NewVar({1, 12}), NewVar({1, 3, 4}), {.variances = variance});
  op::Concat(ops_, x);
  op::CallPurePacked(ops_, callee, {}, TupleType::Get(types));
  op::CallTir(ops_, callee, x, TupleType::Get(types));
  op::NnAttention(ops_, x, x, x);
  op::Sum(ops_, unknown, {.axis = one});
  std::string messages;
  for (const Diagnostic& diagnostic : reported_.diagnostics()) messages += diagnostic.message + "\n";
  CHECK(messages == R"(R.nn.conv2d: needs 2 strides, 2 dilations and 4 paddings, but has 3, 2 and 4
R.nn.max_pool2d: needs 2 pool sizes, but has 3
R.nn.adaptive_avg_pool2d: needs 2 output sizes, but has 3
R.vision.roi_align: needs two pooled sizes, but has 3
R.vision.multibox_transform_loc: needs four variances
R.concat: operand 0 ('tensors') must be a tuple of tensors, but is of type R.Tensor((2, 3), dtype="float32")
R.call_tir: needs exactly one output type
R.nn.attention: operand 0 ('query') must have rank 4, but is of type R.Tensor((2, 3), dtype="float32")
R.sum: operand 0 ('x') must be a tensor, but is of type R.Object
)");
}

}  // namespace
}  // namespace iropt
