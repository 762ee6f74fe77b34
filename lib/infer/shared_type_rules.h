// The type rules by which calls are told apart, whichever operator they call.
#pragma once

#include "iropt/infer/type_rules.h"

namespace iropt {

const Type* InferBroadcastArith(const Call& call, InferContext& ctx);
const Type* InferBroadcastCmp(const Call& call, InferContext& ctx);
const Type* InferBuiltinStopLiftParams(const Call& call, InferContext& ctx);
const Type* InferCallDpsPacked(const Call& call, InferContext& ctx);
const Type* InferCallTir(const Call& call, InferContext& ctx);
const Type* InferCclAllgather(const Call& call, InferContext& ctx);
const Type* InferCclAllreduce(const Call& call, InferContext& ctx);
const Type* InferCclBroadcastFromWorker0(const Call& call, InferContext& ctx);
const Type* InferCclScatterFromWorker0(const Call& call, InferContext& ctx);
const Type* InferDistAnnotateSharding(const Call& call, InferContext& ctx);
const Type* InferDistCallTirLocalView(const Call& call, InferContext& ctx);
const Type* InferDistRedistribute(const Call& call, InferContext& ctx);
const Type* InferDistRedistributeReplicaToShard(const Call& call, InferContext& ctx);
const Type* InferMatmul(const Call& call, InferContext& ctx);
const Type* InferNnSoftmax(const Call& call, InferContext& ctx);
const Type* InferPermuteDims(const Call& call, InferContext& ctx);
const Type* InferReshape(const Call& call, InferContext& ctx);
const Type* InferStatistical(const Call& call, InferContext& ctx);
const Type* InferUnaryArith(const Call& call, InferContext& ctx);
const Type* InferUnaryArithFloat(const Call& call, InferContext& ctx);
const Type* InferUnaryCheck(const Call& call, InferContext& ctx);

}  // namespace iropt
