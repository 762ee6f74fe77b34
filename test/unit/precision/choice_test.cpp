#include "iropt/precision/choice.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/execution/call_entry.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/exponential.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/ops/softmax.h"
#include "iropt/infer/ops/unary.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/precision/emulation.h"
#include "iropt/runtime/random.h"
#include "precision/operator_gradient.h"

namespace iropt::precision {

namespace {

const NumberFormat& Half() { return *FormatNamed("fp16"); }

Tensor RandomTensor(std::vector<int64_t> shape, uint64_t seed, double scale = 1) {
  const auto tensor = NDArray::Make(DataType::Float(32), shape);
  RandomSource random(seed);
  for (float& x : tensor->MutableAs<float>()) x = static_cast<float>((random.Uniform() * 2 - 1) * scale);
  return tensor;
}

template <class T>
T ValueOf(Result<T> result) {
  REQUIRE(result.ok());
  return *std::move(result);
}

// A function of one input that `build` makes, with samples of it.
struct Fixture {
  template <class F>
  explicit Fixture(std::vector<int64_t> shape, F build) {
    Workspace workspace;
    OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
    BlockBuilder builder(workspace, &inferrer);
    const Var* x = workspace.NewVar("x", TypeOfTensor(*RandomTensor(shape, 1)));
    builder.BeginDataflowBlock();
    const Expr* result = build(builder, x);
    const Var* out = builder.EmitOutput(result, "out");
    const auto* attrs = DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("main"));
    const Function* made = builder.MakeFunction({x}, builder.Seq({builder.EndBlock()}, out), attrs);
    REQUIRE_FALSE(builder.failed());
    module.Set(GlobalVar::Get("main"), made, workspace.Finish());
    function = To<Function>(module.Find("main")->func);
    for (uint64_t seed = 1; seed <= 3; ++seed) samples.push_back({RandomTensor(shape, seed)});
    operators = FindOperators(
        module, *function, Half(), [](const Var& var, const Call&) { return std::string(var.name()); }, nullptr);
    inputs = std::make_unique<ModelInputs>(
        ModelInputs{.module = module, .function = *function, .samples = samples, .diagnostics = diagnostics});
  }

  std::vector<std::string> Lowered(double tolerance, Objective objective = Objective::kOperators) {
    Recording recording;
    ChoiceOptions options{.format = &Half(), .tolerance = tolerance, .objective = objective, .wants_shares = true};
    choice = ValueOf(ChooseOperators(*inputs, operators, options, recording));
    std::vector<std::string> names;
    for (const ChosenOperator& chosen : choice.operators) {
      if (chosen.lowered) names.push_back(chosen.op.name);
    }
    return names;
  }

  Module module;
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics{&buffer};
  const Function* function = nullptr;
  std::vector<std::vector<HostValue>> samples;
  std::vector<Operator> operators;
  std::unique_ptr<ModelInputs> inputs;
  Choice choice;
};

}  // namespace

TEST_CASE("an operator whose digits cancel later stays, and so does the one that cancels") {
  Fixture f({8, 32}, [](BlockBuilder& builder, const Var* x) {
    OpBuilder ops(builder);
    const Expr* fine = builder.Emit(op::Abs(ops, x), "fine");
    const Expr* shifted = builder.Emit(op::Add(ops, x, ops.MakeScalar(1000, DataType::Float(32))), "shifted");
    const Expr* centered =
        builder.Emit(op::Subtract(ops, shifted, ops.MakeScalar(1000, DataType::Float(32))), "centered");
    return op::Add(ops, fine, centered);
  });
  CHECK(f.Lowered(1e-2) == std::vector<std::string>{"fine", "out"});
  CHECK(f.choice.measured <= 1e-2);
  CHECK(f.choice.measured > 0);
  CHECK(f.choice.predicted < f.choice.measured * 2);
  CHECK(f.choice.predicted > f.choice.measured / 2);
  CHECK(f.choice.operators[1].op.reason.find("its error alone is") == 0);
}

TEST_CASE("an operator that overflows stays, and the reason says at which number") {
  Fixture f({8, 32}, [](BlockBuilder& builder, const Var* x) {
    OpBuilder ops(builder);
    const Expr* large = builder.Emit(op::Multiply(ops, x, ops.MakeScalar(60000, DataType::Float(32))), "large");
    const Expr* square = builder.Emit(op::Multiply(ops, large, large), "square");
    return op::Multiply(ops, square, ops.MakeScalar(1e-9, DataType::Float(32)));
  });
  CHECK(f.Lowered(1e-1) == std::vector<std::string>{"large"});
  CHECK(f.choice.operators[1].op.reason == "overflows float16 at 3.6e+09");
}

TEST_CASE("everything is lowered where the tolerance allows it, with few runs") {
  Fixture f({8, 32}, [](BlockBuilder& builder, const Var* x) {
    OpBuilder ops(builder);
    const Expr* value = x;
    for (int i = 0; i < 40; ++i) value = builder.Emit(op::Abs(ops, value));
    return op::NnSoftmax(ops, value);
  });
  CHECK(f.Lowered(1e-2).size() == 41);
  CHECK(f.choice.num_runs <= 8);
}

TEST_CASE("the prediction agrees with the error of a chain of matrix products") {
  Fixture f({32, 32}, [](BlockBuilder& builder, const Var* x) {
    OpBuilder ops(builder);
    const Expr* value = x;
    for (uint64_t i = 0; i < 6; ++i) {
      const Constant* weight = MakeConstant(RandomTensor({32, 32}, 100 + i, 0.3), builder.workspace());
      value = builder.Emit(op::Tanh(ops, builder.Emit(op::Matmul(ops, value, weight))));
    }
    return op::Sum(ops, value, {.axis = std::vector<int64_t>{1}});
  });
  f.Lowered(1);
  CHECK(f.choice.NumLowered() == 13);
  CHECK(f.choice.predicted < f.choice.measured * 2);
  CHECK(f.choice.predicted > f.choice.measured / 2);
}

TEST_CASE("the adjoint of an operator is that of finite differences") {
  // v^T (f(x + h d) - f(x)) / h against (J^T v)^T d.
  const auto check = [](Fixture& f, size_t which) {
    const auto& binding = *f.operators[which].call;
    const Tensor x = RandomTensor({6, 10}, 5);
    const auto run = [&](const Tensor& at) {
      return ValueOf(EvalOp(*To<Op>(binding.op)->info, binding.attrs, std::vector<HostValue>{at}));
    };
    const HostValue y = run(x);
    const Tensor v = RandomTensor({y.tensor()->shape().begin(), y.tensor()->shape().end()}, 6);
    const Tensor d = RandomTensor({6, 10}, 7);
    const auto moved = NDArray::Make(DataType::Float(32), x->shape());
    constexpr float kStep = 1e-3F;
    for (size_t i = 0; i < 60; ++i) moved->MutableAs<float>()[i] = x->As<float>()[i] + kStep * d->As<float>()[i];
    const HostValue z = run(moved);
    double expected = 0, got = 0;
    for (size_t i = 0; i < static_cast<size_t>(v->num_elements()); ++i)
      expected += static_cast<double>(v->As<float>()[i]) *
                  (static_cast<double>(z.tensor()->As<float>()[i]) - static_cast<double>(y.tensor()->As<float>()[i])) /
                  1e-3;
    OperatorGradients gradients;
    const CallRecord record{.call = &binding, .op = To<Op>(binding.op)->info, .args = {HostValue(x)}, .result = y};
    const auto pulled = gradients.Pull(record, {{v}}, {true});
    for (size_t i = 0; i < 60; ++i)
      got += static_cast<double>(pulled[0][0]->As<float>()[i]) * static_cast<double>(d->As<float>()[i]);
    CHECK(got == Approx(expected).epsilon(0.02).margin(0.02));
  };
  Fixture softmax({6, 10}, [](BlockBuilder& builder, const Var* x) { return op::NnSoftmax(OpBuilder(builder), x); });
  check(softmax, 0);  // a rule of Gradient
  Fixture exp({6, 10}, [](BlockBuilder& builder, const Var* x) { return op::Exp(OpBuilder(builder), x); });
  check(exp, 0);  // by element
  Fixture flat({6, 10}, [](BlockBuilder& builder, const Var* x) { return op::Flatten(OpBuilder(builder), x); });
  check(flat, 0);  // by position
  Fixture most({6, 10}, [](BlockBuilder& builder, const Var* x) {
    return op::Max(OpBuilder(builder), x, {.axis = std::vector<int64_t>{1}});
  });
  check(most, 0);  // by order
}

TEST_CASE("an operator between others in float32 stays if speed counts, and not if the number of operators does") {
  Fixture f({8, 32}, [](BlockBuilder& builder, const Var* x) {
    OpBuilder ops(builder);
    const Expr* shifted = builder.Emit(op::Add(ops, x, ops.MakeScalar(1000, DataType::Float(32))), "shifted");
    const Expr* centered =
        builder.Emit(op::Subtract(ops, shifted, ops.MakeScalar(1000, DataType::Float(32))), "centered");
    const Expr* island = builder.Emit(op::Abs(ops, centered), "island");
    const Expr* raised = builder.Emit(op::Add(ops, island, ops.MakeScalar(1000, DataType::Float(32))), "raised");
    return op::Subtract(ops, raised, ops.MakeScalar(1000, DataType::Float(32)));
  });
  CHECK(f.Lowered(1e-2) == std::vector<std::string>{"island"});
  CHECK(f.Lowered(1e-2, Objective::kSpeed).empty());
  CHECK(f.choice.operators[2].op.reason == "casts around it would cost more than it saves");
}

TEST_CASE("the least set of operators that breaks a tolerance is found") {
  Fixture f({8, 32}, [](BlockBuilder& builder, const Var* x) {
    OpBuilder ops(builder);
    const Expr* fine = builder.Emit(op::Abs(ops, x), "fine");
    const Expr* shifted = builder.Emit(op::Add(ops, x, ops.MakeScalar(1000, DataType::Float(32))), "shifted");
    const Expr* centered =
        builder.Emit(op::Subtract(ops, shifted, ops.MakeScalar(1000, DataType::Float(32))), "centered");
    return op::Add(ops, fine, centered);
  });
  Recording recording;
  size_t num_runs = 0;
  double error = 0;
  const ChoiceOptions options{.format = &Half(), .tolerance = 1e-2};
  const std::vector<size_t> found =
      ValueOf(FindBreakingOperators(*f.inputs, f.operators, options, recording, num_runs, error));
  REQUIRE(found.size() == 1);
  CHECK((f.operators[found[0]].name == "shifted" || f.operators[found[0]].name == "centered"));
  CHECK(error > 1e-2);
}

}  // namespace iropt::precision
