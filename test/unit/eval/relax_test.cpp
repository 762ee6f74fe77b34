// The interpreter of Relax functions as a library: what is kept, what is copied, what observers see.
#include <memory>

#include "eval_test_util.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/text/script/parser.h"

namespace iropt {

namespace {

Module Parse(const std::string& text) {
  DiagnosticBuffer messages;
  DiagnosticEngine engine(&messages);
  std::optional<Module> module = ParseModule(text, 1, {}, engine);
  INFO((messages.diagnostics().empty() ? "" : messages.diagnostics()[0].message));
  REQUIRE(module.has_value());
  return *std::move(module);
}

// Runs `main`; the first message where it fails.
class Program {
 public:
  explicit Program(const std::string& text) : module(Parse(text)) {}

  Result<HostValue> Try(std::vector<HostValue> args) {
    DiagnosticEngine engine(&messages);
    return RunFunction(module, *As<Function>(module.Find("main")->func), std::move(args), engine, options);
  }
  HostValue Run(std::vector<HostValue> args) {
    Result<HostValue> result = Try(std::move(args));
    INFO((messages.diagnostics().empty() ? "" : messages.diagnostics()[0].message));
    REQUIRE(result.ok());
    return *std::move(result);
  }

  Module module;
  RunOptions options;
  DiagnosticBuffer messages;
};

// Remembers the tensors of all bindings without keeping them alive, and how many of them live at each binding.
class LifeObserver : public RunObserver {
 public:
  void OnBinding(const Function&, const Var& var, const HostValue& value) override {
    size_t live = 0;
    for (const auto& tensor : tensors_) live += tensor.expired() ? 0 : 1;
    most = std::max(most, live);
    names += std::string(var.name()) + " ";
    if (const auto* tensor = std::get_if<Tensor>(&value.state)) tensors_.push_back(*tensor);
  }
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override {
    CHECK(seconds >= 0);
    calls += std::string(callee) + (kind == CalleeKind::kOperator ? " " : "? ");
  }

  size_t most = 0;  // tensors of earlier bindings that lived at one time
  std::string names;
  std::string calls;

 private:
  std::vector<std::weak_ptr<const NDArray>> tensors_;
};

}  // namespace

TEST_CASE("relax interpreter: values are dropped after their last use", "[eval]") {
  Program program(R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    a = R.add(x, x)
    b = R.add(a, a)
    c = R.add(b, b)
    d = R.add(c, c)
    e = R.add(d, b)
    unused = R.add(x, e)
    f = R.add(e, e)
    return f
)");
  LifeObserver observer;
  program.options.observer = &observer;
  const HostValue result = program.Run({F32({2}, {1, 2})});
  CHECK(Elements(*result.tensor()) == std::vector<double>{40, 80});
  CHECK(observer.names == "a b c d e unused f ");
  CHECK(observer.calls == "R.add R.add R.add R.add R.add R.add R.add ");
  // b and d, the operands of e.
  CHECK(observer.most == 2);
}

TEST_CASE("relax interpreter: variables of branches share slots, outer ones live on", "[eval]") {
  Program program(R"(
@R.function
def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
    a = R.add(x, x)
    if c:
        p = R.add(a, x)
        q = R.add(p, p)
        r = R.add(q, a)
    else:
        s = R.subtract(a, x)
        r = R.add(s, a)
    t = R.add(r, a)
    return t
)");
  CHECK(Elements(*program.Run({F32({2}, {1, 2}), B({}, {1})}).tensor()) == std::vector<double>{10, 20});
  CHECK(Elements(*program.Run({F32({2}, {1, 2}), B({}, {0})}).tensor()) == std::vector<double>{5, 10});
}

TEST_CASE("relax interpreter: arguments and views are not copied", "[eval]") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n", 2), "float32")):
    n = T.int64()
    flat = R.reshape(x, R.shape([n * 2]))
    return (x, flat)
)");
  const Tensor x = F32({2, 2}, {1, 2, 3, 4});
  const HostValue result = program.Run({x});
  CHECK(result.tuple()->fields[0].tensor() == x.get());
  CHECK(result.tuple()->fields[1].tensor()->data() == x->data());
}

TEST_CASE("relax interpreter: in-place calls leave arguments as they are", "[eval]") {
  Program program(R"(
@I.ir_module
class Module:
    @T.prim_func
    def twice(A: T.Buffer((2,), "float32")):
        for i in range(2):
            A[i] = A[i] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        _ = Module.twice(x)
        y = R.call_tir_inplace(Module.twice, (x,), inplace_indices=[0], out_sinfo=R.Tensor((2,), "float32"))
        return y
)");
  const Tensor x = F32({2}, {1, 2});
  CHECK(Elements(*program.Run({x}).tensor()) == std::vector<double>{4, 8});
  CHECK(Elements(*x) == std::vector<double>{1, 2});
}

TEST_CASE("relax interpreter: what an in-place call overwrites is seen", "[eval]") {
  Program program(R"(
@I.ir_module
class Module:
    @T.prim_func
    def twice(A: T.Buffer((2,), "float32")):
        for i in range(2):
            A[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a = R.add(x, x)
        b = a
        t = ((a, x), a)
        y = R.call_tir_inplace(Module.twice, (a,), inplace_indices=[0], out_sinfo=R.Tensor((2,), "float32"))
        f = t[0]
        g = f[0]
        h = f[1]
        return (a, b, g, h, y)
)");
  const HostValue result = program.Run({F32({2}, {1, 2})});
  for (const size_t overwritten : {0, 1, 2, 4})
    CHECK(Elements(*result.tuple()->fields[overwritten].tensor()) == std::vector<double>{4, 8});
  CHECK(Elements(*result.tuple()->fields[3].tensor()) == std::vector<double>{1, 2});
}

TEST_CASE("relax interpreter: random operators follow from the seed", "[eval]") {
  Program program(R"(
@R.function
def main(x: R.Tensor((100,), "float32")):
    y = R.nn.dropout(x, rate=0.25)
    z = y[0]
    return z
)");
  const Tensor ones = F32({100}, std::vector<double>(100, 1.0));
  const std::vector<double> first = Elements(*program.Run({ones}).tensor());
  CHECK(Elements(*program.Run({ones}).tensor()) == first);
  program.options.seed = 1;
  CHECK(Elements(*program.Run({ones}).tensor()) != first);
  const auto kept = std::count(first.begin(), first.end(), 0.0);
  CHECK((kept > 10 && kept < 40));
  CHECK(std::all_of(first.begin(), first.end(), [](double v) { return v == 0 || std::abs(v - 1 / 0.75) < 1e-6; }));
}

TEST_CASE("relax interpreter: limits end what would not end", "[eval]") {
  Program program(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        y: R.Tensor((), "int64") = Module.main(x)
        return y
)");
  program.options.max_depth = 50;
  const Result<HostValue> result = program.Try({I64({}, {1})});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::Budget);
  REQUIRE_FALSE(program.messages.diagnostics().empty());
  CHECK(program.messages.diagnostics()[0].message == "calls are nested deeper than 50");
  CHECK(program.messages.diagnostics()[0].notes.size() == 8);
}

TEST_CASE("relax interpreter: programs nest as deep as memory allows", "[eval]") {
  std::string text = "@R.function\ndef main(x: R.Tensor((), \"float32\")):\n    t0 = (x,)\n";
  for (int i = 1; i < 5000; ++i) text += "    t" + std::to_string(i) + " = (t" + std::to_string(i - 1) + ",)\n";
  text += "    return t4999\n";
  Program program(text);
  int depth = 0;
  const HostValue result = program.Run({F32({}, {3})});
  for (const HostValue* value = &result; value->tuple(); value = &value->tuple()->fields[0]) ++depth;
  CHECK(depth == 5000);
}

TEST_CASE("value types: bind variables first, then compare", "[eval]") {
  Program program(R"(
@R.function
def main(x: R.Tensor(("n * 2",), "float32"), y: R.Tensor(("n",), "float32"), s: R.Shape(["n", 3])):
    n = T.int64()
    return R.shape([n])
)");
  CHECK(*program.Run({F32({4}, {1, 2, 3, 4}), F32({2}, {1, 2}), ShapeValue{2, 3}}).shape() == ShapeValue{2});
  const auto error = [&](std::vector<HostValue> args) {
    program.messages = {};
    const bool succeeds = program.Try(std::move(args)).ok();
    REQUIRE_FALSE(succeeds);
    return program.messages.diagnostics()[0].message;
  };
  CHECK(error({F32({3}, {1, 2, 3}), F32({2}, {1, 2}), ShapeValue{2, 3}}) ==
        "argument 'x' of 'main': expected R.Tensor((n * 2,), dtype=\"float32\") with n = 2, got R.Tensor((3,), "
        "dtype=\"float32\")");
  CHECK_THAT(error({F32({4}, {1, 2, 3, 4}), F32({2}, {1, 2}), ShapeValue{2, 4}}), Catch::Contains("argument 's'"));
  CHECK_THAT(error({F32({4}, {1, 2, 3, 4}), Scalar::Int(2), ShapeValue{2, 3}}), Catch::Contains("got R.Prim("));
  CHECK_THAT(error({F32({4}, {1, 2, 3, 4})}), Catch::Contains("expects 3 arguments, got 1"));
}

}  // namespace iropt
