// Functions that no text has, since the reader refuses them: both ways of running them fail with a message.
#include "codegen_test_util.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/op.h"

namespace iropt::codegen {
namespace {

struct Errors {
  std::string interpreted, compiled;
};

// Runs a function without parameters whose body `make` makes.
template <class F>
Errors ErrorsOf(F&& make) {
  Module module = Parse(Func("", "T.evaluate(0)"));
  Workspace workspace(module);
  auto* func = workspace.New<PrimFunc>(*To<PrimFunc>(module.Find("main")->func));
  func->body = make(workspace, arith::PrimBuilder(workspace));
  module.SetAt(static_cast<size_t>(module.IndexOf(GlobalVar::Get("main"))), func, workspace.Finish());
  const Result<HostValue> interpreted = CallPrimFunc(*func, {}, {});
  Result<CompiledFunctionRef> function = SharedCompiler().Compile(module, *GlobalVar::Get("main"));
  const Status compiled = function.ok() ? (*function)->Call({}) : Status(function.TakeError());
  return {interpreted.ok() ? "" : interpreted.error().message, compiled.ok() ? "" : compiled.error().message};
}

template <class F>
Errors ErrorsOfValue(F&& make) {
  return ErrorsOf([&](Workspace& workspace, const arith::PrimBuilder& b) {
    return workspace.New<tir::Evaluate>(make(workspace, b));
  });
}

const DataType int32 = DataType::Int(32);

TEST_CASE("a constant without data cannot be run") {
  const Errors errors = ErrorsOf([](Workspace& workspace, const arith::PrimBuilder& b) {
    const tir::Var* data = workspace.NewPrimVar("data", DataType::Handle(), tir::PointerInfo::Get(int32, "global"));
    const std::vector<const PrimExpr*> extents = {b.Int(8, int32)};
    return workspace.New<tir::AllocateConst>(data, int32, workspace.Copy(extents), nullptr, 0, DictAttr::Empty(),
                                             workspace.New<tir::Evaluate>(b.Int(0, int32)));
  });
  CHECK(errors.interpreted == "main: a constant without data cannot be read");
  CHECK(errors.compiled == "main: AllocateConst without data is not supported");
}

TEST_CASE("a choice by a number, or between values of several dtypes, cannot be compiled") {
  CHECK(ErrorsOfValue([](Workspace& w, const arith::PrimBuilder& b) {
          return w.New<tir::Select>(b.Float(1, DataType::Float(32)), b.Int(2, int32), b.Int(3, int32));
        }).compiled == "main: expected a condition");
  CHECK(ErrorsOfValue([](Workspace& w, const arith::PrimBuilder& b) {
          return w.New<tir::Select>(b.Bool(true), b.Int(2, int32), b.Int(3, DataType::Int(64)));
        }).compiled == "main: the two values of a choice have different dtypes");
}

TEST_CASE("values are reinterpreted as dtypes of the same size") {
  const auto reinterpret = [](DataType dtype, int lanes) {
    return ErrorsOfValue([&](Workspace& w, const arith::PrimBuilder& b) {
      const PrimExpr* value = b.Int(1, int32);
      if (lanes != 1) value = w.New<tir::Broadcast>(int32.with_lanes(lanes), value, b.Int(lanes, int32));
      const std::vector<const PrimExpr*> args = {value};
      return w.New<tir::Call>(dtype, GetOp("tir.reinterpret"), w.Copy(args));
    });
  };
  CHECK(reinterpret(DataType::Int(64), 1).compiled == "main: cannot reinterpret a value as a dtype of another width");
  CHECK(reinterpret(int32.with_lanes(2), 4).interpreted ==
        "main: a vector is reinterpreted as one of a different size");
  CHECK(reinterpret(int32.with_lanes(2), 4).compiled ==
        "main: tir.reinterpret reinterprets a vector as one of another size");
}

TEST_CASE("a function of floats is not one of integers") {
  CHECK(ErrorsOfValue([](Workspace& w, const arith::PrimBuilder& b) {
          const std::vector<const PrimExpr*> args = {b.Int(1, int32)};
          return w.New<tir::Call>(int32, GetOp("tir.exp"), w.Copy(args));
        }).compiled == "main: an intrinsic does not support dtype int32");
}

TEST_CASE("a reduction has a range for each axis") {
  const Errors errors = ErrorsOfValue([](Workspace& w, const arith::PrimBuilder& b) {
    const tir::Var* x = w.NewPrimVar("x", int32);
    const tir::Var* y = w.NewPrimVar("y", int32);
    const std::vector<const tir::Var*> lhs = {x}, rhs = {y};
    const std::vector<const PrimExpr*> result = {b.Add(x, y)}, identity = {b.Int(0, int32)};
    const auto* combiner = w.New<tir::CommReducer>(w.Copy(lhs), w.Copy(rhs), w.Copy(result), w.Copy(identity));
    const std::vector<const tir::IterVar*> axes = {static_cast<const tir::IterVar*>(
        w.New<tir::IterVar>(nullptr, w.NewPrimVar("k", int32), tir::IterVarType::kCommReduce))};
    const std::vector<const PrimExpr*> source = {b.Int(1, int32)};
    return w.New<tir::Reduce>(int32, combiner, w.Copy(source), List<const PrimExpr*>(), w.Copy(axes), b.Bool(true), 0);
  });
  CHECK(errors.interpreted == "main: an axis of a reduction has no range");
  CHECK(errors.compiled == "main: a reduction axis has no range");
}

TEST_CASE("a shuffle has an index for each lane") {
  const Errors errors = ErrorsOfValue([](Workspace& w, const arith::PrimBuilder& b) {
    const std::vector<const PrimExpr*> vectors = {b.Int(1, int32)};
    return w.New<tir::Shuffle>(int32, w.Copy(vectors), List<const PrimExpr*>());
  });
  CHECK(errors.interpreted == "main: a shuffle has no such lane");
}

TEST_CASE("a block has a value for each axis") {
  const Errors errors = ErrorsOf([](Workspace& w, const arith::PrimBuilder& b) {
    const auto* block = w.New<tir::Block>(List<const tir::IterVar*>(), List<const tir::BufferRegion*>(),
                                          List<const tir::BufferRegion*>(), "b", List<const tir::Buffer*>(),
                                          List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr,
                                          w.New<tir::Evaluate>(b.Int(0, int32)));
    const std::vector<const PrimExpr*> values = {b.Int(0, int32)};
    return w.New<tir::BlockRealize>(w.Copy(values), b.Bool(true), block);
  });
  CHECK(errors.interpreted == "main: a block has a different number of axes and values");
  CHECK(errors.compiled == "main: the number of values of a BlockRealize differs from the number of axes of its block");
}

}  // namespace
}  // namespace iropt::codegen
