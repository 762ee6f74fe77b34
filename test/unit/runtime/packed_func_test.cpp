// Packed functions by name, with their errors.
#include "iropt/runtime/packed_func.h"

#include "catch.h"

namespace iropt {

namespace {

class TestContext : public PackedContext {
 public:
  Result<HostValue> Invoke(const HostValue&, std::span<const HostValue> args) override {
    return HostValue(Scalar::Int(std::ssize(args)));
  }
  void Print(std::string_view line) override { printed += std::string(line) + "\n"; }
  Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) override {
    return Storage::Make(bytes, Storage::Tracking::kOn);
  }
  size_t max_bytes() const override { return SIZE_MAX; }
  std::string printed;
};

class Caller {
 public:
  HostValue operator()(std::string_view name, std::vector<HostValue> args) {
    Result<HostValue> result = registry.Call(name, args, context);
    INFO((result.ok() ? "" : result.error().message));
    REQUIRE(result.ok());
    return *std::move(result);
  }
  std::string Error(std::string_view name, std::vector<HostValue> args) {
    const Result<HostValue> result = registry.Call(name, args, context);
    return result.ok() ? "" : result.error().message;
  }

  PackedRegistry registry = MakeRuntimePackedFuncs();
  TestContext context;
};

HostValue Int(int64_t value) { return Scalar::Int(value); }
Tensor Floats(std::vector<int64_t> shape) { return NDArray::Make(DataType::Float(32), std::move(shape)); }

}  // namespace

TEST_CASE("packed functions: a shape heap keeps, compares and gives dimensions", "[runtime]") {
  Caller call;
  const HostValue heap = call("vm.builtin.alloc_shape_heap", {Int(3)});
  const HostValue x(Floats({2, 5}));
  call("vm.builtin.match_shape", {x, heap, Int(2), Int(1), Int(0), Int(0), Int(5), HostValue()});
  CHECK(*call("vm.builtin.make_shape", {heap, Int(3), Int(1), Int(0), Int(0), Int(7), Int(1), Int(0)}).shape() ==
        ShapeValue{2, 7, 2});
  CHECK(call("vm.builtin.make_prim_value", {heap, Int(1), Int(0)}).scalar()->integer == 2);
  // Stored as 2, and 3 is nowhere.
  CHECK(call.Error("vm.builtin.match_prim_value", {Int(3), heap, Int(3), Int(0), "here "}) ==
        "vm.builtin.match_prim_value: the value is 3, expected 2 [here]");
  CHECK(call.Error("vm.builtin.match_shape", {x, heap, Int(2), Int(0), Int(3), Int(2), Int(0), "x"}) ==
        "vm.builtin.match_shape: dimension 0 is 2, expected 3 [x]");
  CHECK(call.Error("vm.builtin.match_shape", {x, heap, Int(3), Int(2), Int(0), Int(2), Int(0), "x"}) ==
        "vm.builtin.match_shape: the rank is 2, expected 3 [x]");
  CHECK_THAT(call.Error("vm.builtin.make_shape", {heap, Int(1), Int(1), Int(2)}),
             Catch::Contains("before it is initialized"));
  CHECK_THAT(call.Error("vm.builtin.make_shape", {heap, Int(1), Int(1), Int(3)}), Catch::Contains("slot 3"));
  CHECK_THAT(call.Error("vm.builtin.make_shape", {HostValue(), Int(1), Int(1), Int(0)}), Catch::Contains("slot 0"));
  CHECK_THAT(call.Error("vm.builtin.alloc_shape_heap", {Int(-1)}), Catch::Contains("invalid size"));
}

TEST_CASE("packed functions: checks of arguments name what they got", "[runtime]") {
  Caller call;
  const HostValue x(Floats({2}));
  call("vm.builtin.check_tensor_info", {x, Int(1), DataType::Float(32), "c"});
  call("vm.builtin.check_tensor_info", {x, Int(-1), "c"});
  CHECK(call.Error("vm.builtin.check_tensor_info", {Int(1), Int(1), "c"}) ==
        "vm.builtin.check_tensor_info: the argument is a scalar, expected a tensor [c]");
  CHECK(call.Error("vm.builtin.check_tensor_info", {x, Int(2), DataType::Float(32), "c"}) ==
        "vm.builtin.check_tensor_info: the rank is 1, expected 2 [c]");
  CHECK(call.Error("vm.builtin.check_tensor_info", {x, Int(1), DataType::Int(32), "c"}) ==
        "vm.builtin.check_tensor_info: the dtype is float32, expected int32 [c]");
  CHECK_THAT(call.Error("vm.builtin.check_shape_info", {x, Int(1), "c"}), Catch::Contains("expected a shape"));
  CHECK_THAT(call.Error("vm.builtin.check_shape_info", {ShapeValue{1}, Int(2), "c"}), Catch::Contains("expected 2"));
  CHECK_THAT(call.Error("vm.builtin.check_tuple_info", {HostValue(TupleValue{}), Int(2), "c"}),
             Catch::Contains("the tuple has 0 fields, expected 2"));
  CHECK_THAT(call.Error("vm.builtin.check_prim_value_info", {Int(1), DataType::Float(32), "c"}),
             Catch::Contains("expected float32"));
  CHECK_THAT(call.Error("vm.builtin.check_func_info", {x, "c"}), Catch::Contains("expected a function"));
}

TEST_CASE("packed functions: memory", "[runtime]") {
  Caller call;
  const HostValue storage = call("vm.builtin.alloc_storage", {ShapeValue{32}, Int(0), DataType::UInt(8), "global"});
  const HostValue a = call("vm.builtin.alloc_tensor", {storage, Int(16), ShapeValue{2, 2}, DataType::Float(32)});
  CHECK(a.tensor()->storage_offset() == 16);
  const HostValue flat = call("vm.builtin.reshape", {a, ShapeValue{4}});
  CHECK(flat.tensor()->data() == a.tensor()->data());
  const HostValue tail = call("runtime.TVMArrayCreateView", {a, ShapeValue{4}, DataType::Int(16), Int(8)});
  CHECK(tail.tensor()->data() == a.tensor()->data() + 8);
  // A new tensor in memory that was used has no values.
  a.tensor()->storage()->SetWritten(16, 16, true);
  CHECK(IsWritten(a));
  call("vm.builtin.alloc_tensor", {storage, Int(16), ShapeValue{1}, DataType::Float(32)});
  CHECK_FALSE(IsWritten(a));
  CHECK_THAT(call.Error("vm.builtin.alloc_tensor", {storage, Int(20), ShapeValue{4}, DataType::Float(32)}),
             Catch::Contains("does not fit into storage of 32 bytes"));
  CHECK_THAT(call.Error("vm.builtin.reshape", {a, ShapeValue{5}}), Catch::Contains("the numbers of elements differ"));
  CHECK_THAT(call.Error("vm.builtin.alloc_tensor", {a, Int(0), ShapeValue{4}, DataType::Float(32)}),
             Catch::Contains("not storage"));
}

TEST_CASE("packed functions: tuples, conditions, closures", "[runtime]") {
  Caller call;
  const HostValue pair = call("vm.builtin.make_tuple", {Int(4), Int(5)});
  CHECK(call("vm.builtin.tuple_getitem", {pair, Int(1)}).scalar()->integer == 5);
  CHECK_THAT(call.Error("vm.builtin.tuple_getitem", {pair, Int(2)}), Catch::Contains("a tuple with 2 fields"));
  CHECK(call("vm.builtin.tuple_reset_item", {pair, Int(1)}).tuple()->fields.empty());
  CHECK_THAT(call.Error("vm.builtin.tuple_reset_item", {pair, Int(2)}), Catch::Contains("a tuple with 2 fields"));
  CHECK(call("vm.builtin.read_if_cond", {MakeScalarTensor(Scalar::Int(7, DataType::Int(32)))}).scalar()->integer == 1);
  CHECK_THAT(call.Error("vm.builtin.read_if_cond", {Floats({1})}), Catch::Contains("integer or boolean"));
  auto function = std::make_shared<FunctionValue>();
  function->name = "f";
  const HostValue closure =
      call("vm.builtin.make_closure", {HostValue(HostValue::CalleeRef(function)), Int(1), Int(2)});
  CHECK(closure.function()->bound.size() == 2);
  CHECK(call("vm.builtin.invoke_closure", {closure, Int(3)}).scalar()->integer == 1);
  CHECK(call("vm.builtin.call_tir_dyn", {closure, Floats({1}), ShapeValue{5, 6}}).scalar()->integer == 3);
  CHECK_THAT(call.Error("vm.builtin.tensor_to_shape", {Floats({2})}), Catch::Contains("does not hold integers"));
}

TEST_CASE("packed functions: printing and asserting", "[runtime]") {
  Caller call;
  call("relax.run.print", {"", Int(1), HostValue(TupleValue{{Int(2), Floats({2})}})});
  call("relax.run.print", {"{1} {{}} {0} {}", Int(1), ShapeValue{2, 3}});
  CHECK(call.context.printed == "1 (2, [0, 0])\n(2, 3) {} 1 1\n");
  CHECK(call.Error("relax.run.print", {"{", Int(1)}) == "invalid format '{': a '{' without a '}'");
  CHECK_THAT(call.Error("relax.run.print", {"}", Int(1)}), Catch::Contains("without a '{'"));
  CHECK_THAT(call.Error("relax.run.print", {"{x}", Int(1)}), Catch::Contains("empty or a number"));
  CHECK_THAT(call.Error("relax.run.print", {"{2}", Int(1)}), Catch::Contains("there are 1 values"));
  call("relax.run.assert_op", {Scalar::Int(1, DataType::Bool()), ""});
  CHECK(call.Error("relax.run.assert_op", {Scalar::Int(0, DataType::Bool()), ""}) == "assertion failed");
  CHECK(call.Error("relax.run.assert_op", {Scalar::Int(0, DataType::Bool()), "n is {}", Int(3)}) ==
        "assertion failed: n is 3");
}

TEST_CASE("packed functions: an unknown name, and functions of one's own", "[runtime]") {
  Caller call;
  CHECK(call.Error("vm.builtin.shape_off", {}) ==
        "unknown packed function 'vm.builtin.shape_off'; did you mean 'vm.builtin.shape_of'?");
  CHECK(call.Error("mine", {}) == "unknown packed function 'mine'");
  call.registry.Set("mine", [](PackedCall& mine) -> Result<HostValue> {
    IROPT_ASSIGN_OR_RETURN(const int64_t x, mine.IntArg(0));
    return HostValue(Scalar::Int(x + 1));
  });
  CHECK(call("mine", {Int(41)}).scalar()->integer == 42);
  CHECK(call.Error("mine", {Floats({1})}) == "mine: operand 0 is not an integer");
}

}  // namespace iropt
