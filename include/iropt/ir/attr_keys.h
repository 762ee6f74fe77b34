// Keys of attributes, and of annotations, that passes know.
#pragma once

#include <string_view>

namespace iropt::attr {

// Functions.
inline constexpr std::string_view kGlobalSymbol = "global_symbol";
inline constexpr std::string_view kTarget = "target";
inline constexpr std::string_view kSkipOptimization = "SkipOptimization";
inline constexpr std::string_view kPrimitive = "Primitive";
inline constexpr std::string_view kComposite = "Composite";
inline constexpr std::string_view kCodegen = "Codegen";
inline constexpr std::string_view kCompiler = "Compiler";
inline constexpr std::string_view kInline = "Inline";
inline constexpr std::string_view kNumInput = "num_input";
inline constexpr std::string_view kForcePure = "relax.force_pure";
inline constexpr std::string_view kTirVarUpperBound = "tir_var_upper_bound";
inline constexpr std::string_view kCaptureSymbolicVars = "relax.rewrite_cuda_graph.capture_symbolic_vars";
inline constexpr std::string_view kMemoryPlanDynamicFuncOutput = "relax.memory_plan_dynamic_func_output";
inline constexpr std::string_view kOpPattern = "op_pattern";
inline constexpr std::string_view kOperatorName = "operator_name";
inline constexpr std::string_view kLayoutFreeBuffers = "layout_free_buffers";
inline constexpr std::string_view kLayoutFreePlaceholders = "layout_free_placeholders";
inline constexpr std::string_view kCallingConv = "calling_conv";
inline constexpr std::string_view kIsGlobalFunc = "tir.is_global_func";
inline constexpr std::string_view kIsHostFunc = "tir.is_host_func";
inline constexpr std::string_view kIsHost = "tir.is_host";
inline constexpr std::string_view kIsEntryFunc = "tir.is_entry_func";
inline constexpr std::string_view kIsScheduled = "tir.is_scheduled";
inline constexpr std::string_view kNoAlias = "tir.noalias";
// Of a function for a device: what its launch states.
inline constexpr std::string_view kKernelLaunchParams = "tir.kernel_launch_params";
inline constexpr std::string_view kPersistentKernel = "tir.persistent_kernel";
inline constexpr std::string_view kHoistIfThenElseExprWithBlock = "tir.HoistIfThenElseExprWithBlock";
// True for functions that schedules of TE made.
inline constexpr std::string_view kFromLegacyTESchedule = "from_legacy_te_schedule";
inline constexpr std::string_view kScoped = "scoped";
inline constexpr std::string_view kOpAttrs = "op_attrs";
inline constexpr std::string_view kDoNotTensorize = "dlight.do_not_tensorize";
// False for a PrimFunc of tirx, whose buffers have layouts; others lack it.
inline constexpr std::string_view kSTir = "s_tir";

// Modules.
inline constexpr std::string_view kExternalMods = "external_mods";
inline constexpr std::string_view kConstants = "constants";
inline constexpr std::string_view kExecutor = "executor";
inline constexpr std::string_view kSystemLibPrefix = "system_lib_prefix";
// The facts about the model.
inline constexpr std::string_view kOnnxModel = "onnx.model";
// Of `main`: the names that are not identifiers, and what else the graph says.
inline constexpr std::string_view kOnnxGraph = "onnx.graph";

// Statements, tir::AttrStmt.
inline constexpr std::string_view kThreadExtent = "thread_extent";
inline constexpr std::string_view kVirtualThread = "virtual_thread";
inline constexpr std::string_view kScopeId = "tirx.scope_id";
inline constexpr std::string_view kDeviceEntry = "tirx.device_entry";
inline constexpr std::string_view kHint = "tirx_hint";
inline constexpr std::string_view kComposeOp = "tirx.compose_op";
inline constexpr std::string_view kDeviceScope = "device_scope";
inline constexpr std::string_view kDeviceId = "device_id";
inline constexpr std::string_view kDeviceType = "device_type";
inline constexpr std::string_view kComputeScope = "compute_scope";
inline constexpr std::string_view kCoprocScope = "coproc_scope";
inline constexpr std::string_view kCoprocUopScope = "coproc_uop_scope";
inline constexpr std::string_view kPipelineExecScope = "pipeline_exec_scope";
inline constexpr std::string_view kExternScope = "extern_scope";
inline constexpr std::string_view kHandThreaded = "hand_threaded";
inline constexpr std::string_view kRealizeScope = "realize_scope";
inline constexpr std::string_view kVolatileScope = "volatile_scope";
inline constexpr std::string_view kReduceScope = "reduce_scope";
inline constexpr std::string_view kPrefetchScope = "prefetch_scope";
inline constexpr std::string_view kStorageAlignment = "storage_alignment";
inline constexpr std::string_view kBufferBindScope = "buffer_bind_scope";
inline constexpr std::string_view kBufferBound = "buffer_bound";
inline constexpr std::string_view kBufferDimAlign = "buffer_dim_align";
inline constexpr std::string_view kDynSmemBytes = "tirx.dyn_smem_bytes";
inline constexpr std::string_view kTensorizedNkiInstruction = "tensorized_nki_instruction";
inline constexpr std::string_view kDoubleBufferScope = "double_buffer_scope";
inline constexpr std::string_view kDoubleBufferWrite = "double_buffer_write";
inline constexpr std::string_view kRollingBufferScope = "rolling_buffer_scope";
inline constexpr std::string_view kAsyncScope = "async_scope";
inline constexpr std::string_view kAsyncCommitQueueScope = "async_commit_queue_scope";
inline constexpr std::string_view kAsyncWaitQueueScope = "async_wait_queue_scope";
inline constexpr std::string_view kAsyncWaitInflightCount = "async_wait_inflight_count";
// Of the keys of all pragmas: annotations of loops and blocks, which lowering turns into such statements.
inline constexpr std::string_view kPragmaPrefix = "pragma_";
inline constexpr std::string_view kPragmaScope = "pragma_scope";
inline constexpr std::string_view kPragmaDebugSkipRegion = "pragma_debug_skip_region";
inline constexpr std::string_view kPragmaAutoUnrollMaxStep = "pragma_auto_unroll_max_step";
inline constexpr std::string_view kPragmaUnroll = "pragma_unroll";
inline constexpr std::string_view kPragmaUnrollExplicit = "pragma_unroll_explicit";
inline constexpr std::string_view kPragmaVectorize = "pragma_vectorize";
// Lowering runs the last iterations apart.
inline constexpr std::string_view kLoopPartitionHint = "pragma_loop_partition_hint";

// Annotations of loops, blocks and allocations.
inline constexpr std::string_view kVolatile = "tirx.volatile";
inline constexpr std::string_view kBufferDataAlignment = "buffer_data_alignment";
inline constexpr std::string_view kBufferAllocatedAddr = "buffer_allocated_addr";
inline constexpr std::string_view kDisableUnroll = "disable_unroll";
inline constexpr std::string_view kDisableLowerBuiltin = "disable_lower_builtin";
inline constexpr std::string_view kAutoCopy = "auto_copy";
inline constexpr std::string_view kManifestSharedMemoryLocalStage = "tir.manifest_shared_memory_local_stage";
inline constexpr std::string_view kSoftwarePipelineStage = "software_pipeline_stage";
inline constexpr std::string_view kSoftwarePipelineOrder = "software_pipeline_order";
inline constexpr std::string_view kSoftwarePipelineAsyncStages = "software_pipeline_async_stages";
// Of a block that only brings a weight into another layout.
inline constexpr std::string_view kLayoutRewritePreproc = "meta_schedule.layout_rewrite_preproc";
inline constexpr std::string_view kNkiDim = "nki_dim";
inline constexpr std::string_view kIrregularLoopMark = "irregular_loop_mark";

}  // namespace iropt::attr
