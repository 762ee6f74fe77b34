#include "iropt/eval/tir/thread_plan.h"

#include <string_view>
#include <vector>

#include "catch.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {
namespace {

struct Position {
  std::string_view tag;
  int index;
};

class ThreadPlanFixture {
 protected:
  const PrimExpr* Int(int64_t value) const { return make.Int(value, DataType::Int(32)); }
  const tir::Call* Call(OpId id, const std::vector<const PrimExpr*>& args) {
    return workspace.New<tir::Call>(DataType::Void(), GetOp(id), workspace.Copy(args));
  }
  const PrimExpr* Text(std::string_view text) { return workspace.New<tir::StringImm>(text); }

  Workspace workspace;
  arith::PrimBuilder make{workspace};
};

TEST_CASE("inner loops over an axis of threads hide outer ones", "[eval]") {
  const ThreadMemory layout{
      .axes = {{"threadIdx.x", {}}, {"threadIdx.y", {}}}, .places = {}, .pointers = {}, .shared = {}};
  const std::vector<Position> positions = {
      {"threadIdx.y", 7}, {"blockIdx.x", 1}, {"threadIdx.x", 2}, {"threadIdx.x", 3}};
  std::vector<int> bound(2, -1);
  const auto bind = [&](size_t axis, const Position& position) { bound[axis] = position.index; };
  CHECK(BoundAxes(layout, positions, /*depth=*/1, bind) == 0b01);
  CHECK(bound == std::vector{3, -1});
  CHECK(BoundAxes(layout, positions, /*depth=*/0, bind) == 0b11);
  CHECK(bound == std::vector{3, 7});
}

TEST_CASE_METHOD(ThreadPlanFixture, "calls that threads in lockstep execute together", "[eval]") {
  CHECK(LockstepCallOf(Int(0)) == LockstepCall::kOther);
  CHECK(LockstepCallOf(Call(op::kTirTvmStorageSync, {Text("shared")})) == LockstepCall::kBarrier);
  CHECK(LockstepCallOf(Call(op::kTirTvmStorageSync, {Text("global")})) == LockstepCall::kGridBarrier);
  CHECK(LockstepCallOf(Call(op::kTirTvmThreadAllreduce, {})) == LockstepCall::kReduction);
}

TEST_CASE_METHOD(ThreadPlanFixture, "the parts of a reduction over threads", "[eval]") {
  const tir::Var* lhs = workspace.NewPrimVar("x", DataType::Int(32));
  const tir::Var* rhs = workspace.NewPrimVar("y", DataType::Int(32));
  const tir::Var* axis = workspace.NewPrimVar("tx", DataType::Int(32));
  const std::vector<const tir::Var*> left = {lhs}, right = {rhs};
  const std::vector<const PrimExpr*> result = {make.Add(lhs, rhs)}, identity = {Int(0)};
  const auto* sum = workspace.New<tir::CommReducer>(workspace.Copy(left), workspace.Copy(right), workspace.Copy(result),
                                                    workspace.Copy(identity));
  const tir::Call* call = Call(op::kTirTvmThreadAllreduce, {Int(1), Int(5), make.Bool(true), Int(6), axis});
  const auto reduction = ThreadReduction::Of(*call, sum);
  REQUIRE(reduction);
  CHECK(reduction->values[0] == call->args[1]);
  CHECK(reduction->condition == call->args[2]);
  CHECK(reduction->results[0] == call->args[3]);
  CHECK(reduction->IsOver(axis));
  CHECK(!reduction->IsOver(lhs));
  CHECK(!ThreadReduction::Of(*call, nullptr));
  CHECK(!ThreadReduction::Of(*Call(op::kTirTvmThreadAllreduce, {Int(2), Int(5), make.Bool(true)}), sum));
}

}  // namespace
}  // namespace iropt
