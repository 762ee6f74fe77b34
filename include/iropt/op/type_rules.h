// The type rules of the operator table: for a call whose operands have types, the type of the result. A rule whose
// operands do not fit reports a located error through the context and returns null. One function serves every operator
// that the comment beside it names; a family without a comment serves the operator of its own name.
#pragma once

#include "iropt/ir/expr.h"

namespace iropt {

class InferContext;

#define IROPT_TYPE_RULE(Name) const Type* Name(const Call& call, InferContext& ctx)

// ---- Elementwise
IROPT_TYPE_RULE(
    InferUnaryArith);  // any dtype: abs bitwise_not ceil floor logical_not negative round sign square nn.relu
IROPT_TYPE_RULE(
    InferUnaryArithFloat);         // float dtypes only: acos acosh asin asinh atan atanh cos cosh erf exp log rsqrt
                                   // sigmoid sin sinh sqrt tan tanh nn.gelu nn.gelu_tanh nn.silu nn.leakyrelu
IROPT_TYPE_RULE(InferUnaryCheck);  // the same shape as bool: isfinite isinf isnan
IROPT_TYPE_RULE(InferClip);
IROPT_TYPE_RULE(
    InferBroadcastArith);            // add subtract multiply divide floor_divide power maximum minimum logical_and
                                     // logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift
IROPT_TYPE_RULE(InferBroadcastCmp);  // equal not_equal greater greater_equal less less_equal
IROPT_TYPE_RULE(InferEwiseFma);
IROPT_TYPE_RULE(InferWhere);
IROPT_TYPE_RULE(InferAstype);
IROPT_TYPE_RULE(InferWrapParam);
IROPT_TYPE_RULE(InferQuantize);
IROPT_TYPE_RULE(InferDequantize);

// ---- Creation
IROPT_TYPE_RULE(InferFull);
IROPT_TYPE_RULE(InferFullLike);
IROPT_TYPE_RULE(InferOnesZeros);      // ones zeros
IROPT_TYPE_RULE(InferOnesZerosLike);  // ones_like zeros_like
IROPT_TYPE_RULE(InferArange);
IROPT_TYPE_RULE(InferTrilTriu);  // tril triu

// ---- Shape manipulation
IROPT_TYPE_RULE(InferBroadcastTo);
IROPT_TYPE_RULE(InferConcat);
IROPT_TYPE_RULE(InferExpandDims);
IROPT_TYPE_RULE(InferFlatten);
IROPT_TYPE_RULE(InferLayoutTransform);
IROPT_TYPE_RULE(InferPermuteDims);
IROPT_TYPE_RULE(InferReshape);
IROPT_TYPE_RULE(InferSplit);
IROPT_TYPE_RULE(InferSqueeze);
IROPT_TYPE_RULE(InferCollapseSumLike);
IROPT_TYPE_RULE(InferCollapseSumTo);
IROPT_TYPE_RULE(InferRepeat);
IROPT_TYPE_RULE(InferTile);
IROPT_TYPE_RULE(InferFlip);
IROPT_TYPE_RULE(InferScatterElements);
IROPT_TYPE_RULE(InferScatterNd);

// ---- Indexing, search, sets, sorting, sampling
IROPT_TYPE_RULE(InferTake);
IROPT_TYPE_RULE(InferStridedSlice);
IROPT_TYPE_RULE(InferDynamicStridedSlice);
IROPT_TYPE_RULE(InferArgReduce);  // argmax argmin
IROPT_TYPE_RULE(InferUnique);
IROPT_TYPE_RULE(InferNonzero);
IROPT_TYPE_RULE(InferSort);
IROPT_TYPE_RULE(InferArgsort);
IROPT_TYPE_RULE(InferTopk);
IROPT_TYPE_RULE(InferMultinomialFromUniform);

// ---- Linear algebra, reductions
IROPT_TYPE_RULE(InferMatmul);
IROPT_TYPE_RULE(InferEinsum);
IROPT_TYPE_RULE(InferStatistical);  // sum mean prod max min std variance
IROPT_TYPE_RULE(InferScan);         // cumsum cumprod

// ---- Neural networks
IROPT_TYPE_RULE(InferNnConv1d);
IROPT_TYPE_RULE(InferNnConv2d);
IROPT_TYPE_RULE(InferNnConv3d);
IROPT_TYPE_RULE(InferNnConv1dTranspose);
IROPT_TYPE_RULE(InferNnConv2dTranspose);
IROPT_TYPE_RULE(InferNnPool1d);  // nn.max_pool1d nn.avg_pool1d
IROPT_TYPE_RULE(InferNnPool2d);  // nn.max_pool2d nn.avg_pool2d
IROPT_TYPE_RULE(InferNnPool3d);  // nn.max_pool3d nn.avg_pool3d
IROPT_TYPE_RULE(InferNnAdaptiveAvgPool1d);
IROPT_TYPE_RULE(InferNnAdaptiveAvgPool2d);
IROPT_TYPE_RULE(InferNnAdaptiveAvgPool3d);
IROPT_TYPE_RULE(InferNnSoftmax);  // nn.softmax nn.log_softmax
IROPT_TYPE_RULE(InferNnPad);
IROPT_TYPE_RULE(InferNnBatchNorm);
IROPT_TYPE_RULE(InferNnLayerNorm);
IROPT_TYPE_RULE(InferNnGroupNorm);
IROPT_TYPE_RULE(InferNnRmsNorm);
IROPT_TYPE_RULE(InferNnDropout);
IROPT_TYPE_RULE(InferNnCrossEntropyWithLogits);
IROPT_TYPE_RULE(InferNnNllLoss);
IROPT_TYPE_RULE(InferNnAttention);  // nn.attention nn.attention_bias nn.attention_var_len
IROPT_TYPE_RULE(InferImageResize2d);

// ---- Gradients
IROPT_TYPE_RULE(InferGradIdentity);    // grad.no_grad
IROPT_TYPE_RULE(InferGradCheckpoint);  // grad.start_checkpoint grad.end_checkpoint
IROPT_TYPE_RULE(InferGradNllLossBackward);
IROPT_TYPE_RULE(InferGradPool2dBackward);  // grad.max_pool2d_backward grad.avg_pool2d_backward
IROPT_TYPE_RULE(InferGradTakeBackward);

// ---- Calls of functions and packed functions
IROPT_TYPE_RULE(InferCallTir);  // call_tir call_tir_with_grad call_tir_inplace
IROPT_TYPE_RULE(InferCallDpsPacked);
IROPT_TYPE_RULE(InferCallPurePacked);
IROPT_TYPE_RULE(InferCallInplacePacked);
IROPT_TYPE_RULE(InferCallBuiltinWithCtx);
IROPT_TYPE_RULE(InferInvokeClosure);  // invoke_closure invoke_pure_closure

// ---- Results that do not depend on the operands' shapes
IROPT_TYPE_RULE(InferObject);  // make_closure null_value memory.alloc_storage vm.alloc_storage
IROPT_TYPE_RULE(InferVoid);    // print memory.kill_storage memory.kill_tensor vm.kill_object vm.call_tir_dyn
IROPT_TYPE_RULE(InferAssertOp);

// ---- Shapes, memory, devices
IROPT_TYPE_RULE(InferShapeOf);
IROPT_TYPE_RULE(InferTensorToShape);
IROPT_TYPE_RULE(InferShapeToTensor);
IROPT_TYPE_RULE(InferBuiltinAllocTensor);
IROPT_TYPE_RULE(InferBuiltinStopLiftParams);
IROPT_TYPE_RULE(InferMemoryAllocTensor);
IROPT_TYPE_RULE(InferMemoryView);
IROPT_TYPE_RULE(InferMemoryEnsureZeroOffset);
IROPT_TYPE_RULE(InferVmAllocTensor);
IROPT_TYPE_RULE(InferToVdevice);
IROPT_TYPE_RULE(InferHintOnDevice);

// ---- Inspection of tensors
IROPT_TYPE_RULE(InferInspectDtypeCode);   // inspect.tensor_dtype_code
IROPT_TYPE_RULE(InferInspectDtypeBits);   // inspect.tensor_dtype_bits
IROPT_TYPE_RULE(InferInspectDtypeLanes);  // inspect.tensor_dtype_lanes
IROPT_TYPE_RULE(InferInspectNdim);        // inspect.tensor_ndim
IROPT_TYPE_RULE(InferInspectShapeI);      // inspect.tensor_shape_i
IROPT_TYPE_RULE(InferInspectStrideI);     // inspect.tensor_stride_i
IROPT_TYPE_RULE(InferInspectByteOffset);  // inspect.tensor_byte_offset
IROPT_TYPE_RULE(InferInspectElemOffset);  // inspect.tensor_elem_offset

// ---- Collective communication and distribution
IROPT_TYPE_RULE(InferCclAllreduce);
IROPT_TYPE_RULE(InferCclAllgather);
IROPT_TYPE_RULE(InferCclBroadcastFromWorker0);
IROPT_TYPE_RULE(InferCclScatterFromWorker0);
IROPT_TYPE_RULE(InferDistAnnotateSharding);
IROPT_TYPE_RULE(InferDistRedistribute);
IROPT_TYPE_RULE(InferDistRedistributeReplicaToShard);
IROPT_TYPE_RULE(InferDistCallTirLocalView);

#undef IROPT_TYPE_RULE

}  // namespace iropt
