// Primitives by the types of their arguments: they are what a trace says, and refused where it would be.
#include "catch.h"
#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/schedule/args.h"
#include "iropt/schedule/schedule.h"

namespace iropt::schedule {
namespace {

// B[i] = A[i] + A[i], of a function `main`.
Module MakeDouble() {
  Module module;
  Workspace workspace(module);
  const arith::PrimBuilder make(workspace);
  const DataType float32 = DataType::Float(32);
  const PrimExpr* n = make.Int(64, DataType::Int(32));
  tir::FuncBuilder b(workspace);
  const tir::Buffer* A = b.BufferParam("A", {n}, float32);
  const tir::Buffer* B = b.BufferParam("B", {n}, float32);
  {
    const tir::LoopFrame loops = b.Grid({"i"}, {n});
    const tir::Frame frame = b.Block("B");
    const tir::Var* i = b.Axis(tir::IterVarType::kDataPar, "vi", n, loops.vars[0]);
    b.Store(B, {i}, make.Add(b.Load(A, {i}), b.Load(A, {i})));
  }
  const PrimFunc* func = CompletePrimFunc(b);
  module.Set(GlobalVar::Get("main"), func, workspace.Finish());
  return module;
}

TEST_CASE("arguments by type are those of a trace", "[schedule]") {
  Schedule schedule(MakeDouble());
  const auto block = schedule.Apply(args::GetBlock<Named>{.name = "B"});
  REQUIRE(block.ok());
  const auto loops = schedule.Apply(args::GetLoops<Named>{(*block)[0]});
  REQUIRE(loops.ok());
  const auto parts = schedule.Apply(args::Split<Named>{.loop = (*loops)[0], .factors = {std::nullopt, 16}});
  REQUIRE(parts.ok());
  CHECK(parts->size() == 2);
  REQUIRE(schedule.Apply(args::Annotate<Named>{(*parts)[0], "sizes", std::vector<int64_t>{1, 2}}).ok());
  CHECK(schedule.Apply(args::Blockize<Named>{(*parts)[1]}).ok());
  CHECK(ToPython(schedule.trace()) ==
        "b0 = sch.get_block(name=\"B\", func_name=\"main\")\n"
        "l1, = sch.get_loops(block=b0)\n"
        "l2, l3 = sch.split(loop=l1, factors=[None, 16], preserve_unit_iters=True, disable_predication=False)\n"
        "sch.annotate(block_or_loop=l2, ann_key=\"sizes\", ann_val=[1, 2])\n"
        "b4 = sch.blockize(target=l3, preserve_unit_iters=True)\n");
}

TEST_CASE("wrong arguments are refused by their kinds", "[schedule]") {
  Schedule schedule(MakeDouble());
  const auto block = schedule.Apply(args::GetBlock<Named>{.name = "B"});
  REQUIRE(block.ok());
  CHECK_FALSE(schedule.Apply(args::Unroll<Named>{(*block)[0]}).ok());
  CHECK(schedule.refusal().message == "the argument 'loop' of unroll must be a loop");
  CHECK_FALSE(schedule.Apply(args::Unroll<Named>{"l7"}).ok());
  CHECK(schedule.refusal().message == "the random variable 'l7' is not defined");
  const auto refused = [&](const char* primitive, std::vector<Value> values) {
    CHECK_FALSE(schedule.Apply(*FindPrimitive(primitive), std::move(values)).ok());
    return schedule.refusal().message;
  };
  const Value name = ToValue((*block)[0]);
  CHECK(
      refused("SampleCategorical", {ToValue(std::vector<int64_t>{1, 2}), Value{Value::List{Value{"x"}, Value{0.5}}}}) ==
      "the argument 'probs' of sample_categorical must be a list of numbers");
  CHECK(
      refused("ReIndex", {name, Value{int64_t{0}}, Value{int64_t{2}}}) ==
      "the argument 'buffer_index_type' of reindex must be 0 for a buffer that is read, or 1 for one that is written");
  CHECK(refused("Fuse", {name, Value{true}}) == "the argument 'loops' of fuse must be loops");
  CHECK(refused("TransformBlockLayout", {name, Value{"i"}}) ==
        "the argument 'index_map' of transform_block_layout must be an index map");
}

}  // namespace
}  // namespace iropt::schedule
