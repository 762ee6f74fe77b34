// distributed.LegalizeRedistribute: replaces redistributions by what the devices have to do for them.
//
//   y: R.DTensor(..., "S[1]") = R.dist.redistribute(x, "mesh[0]", "S[1]")  # x: R.DTensor(..., "R")
//     -->    y: R.DTensor(..., "S[1]") = R.dist.redistribute_replica_to_shard(x, num_workers=2, axis=1)
//
// A tensor that is placed like that already becomes the result. Other redistributions, which need communication that
// R.ccl has no operators for, and those between meshes or on meshes of several dimensions are errors, as in TVM.
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include "iropt/infer/sharding.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/distributed.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class RedistributeLegalizer : public ExprMutator {
 public:
  RedistributeLegalizer(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics) {}

  bool ok() const { return ok_ && !failed(); }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (!IsOp(call->op, op::kDistRedistribute)) return call;
    const auto* type = As<DTensorType>(call->args[0]->type);
    if (!type) return Fail(*call, "the operand is not a distributed tensor");
    const DistributionAttrs attrs(*call);
    const DeviceMeshAttr* mesh = attrs.device_mesh() ? attrs.device_mesh() : type->device_mesh;
    const Placement from = PlacementOf(*type);
    const Placement to = ParsePlacement(attrs.placement());
    if (mesh != type->device_mesh) return Fail(*call, "a tensor cannot be moved to another mesh");
    if (from == to) return call->args[0];
    if (mesh->shape.size() != 1 || from.size() != 1 || to.size() != 1)
      return Fail(*call, "the mesh must have one dimension");
    if (from[0] >= 0) return Fail(*call, fmt::format("a tensor that is split over axis {} must stay so", from[0]));
    const ObjectAttr* split = MakeOpAttrs(op::kDistRedistributeReplicaToShard,
                                          ScatterCollectiveAttrs::Values{.num_workers = mesh->shape[0], .axis = to[0]});
    return builder().MakeCall(GetOp(op::kDistRedistributeReplicaToShard), {call->args[0]}, split);
  }

 private:
  const Expr* Fail(const Call& call, std::string_view reason) {
    diagnostics_.Error(Location(call), "pass-failed", fmt::format("cannot legalize the redistribution: {}", reason));
    ok_ = false;
    return &call;
  }

  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
};

}  // namespace

Pass CreateLegalizeRedistribute(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        RedistributeLegalizer legalizer(context.workspace(), inferrer, context.diagnostics());
        const auto* result = To<Function>(legalizer.VisitExpr(function));
        if (!legalizer.ok()) return Failure{ErrorCode::PassFailed};
        return result;
      });
}

}  // namespace iropt
