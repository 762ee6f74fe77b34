"""The public names of TVM's Python package by module, made by scripts/tvm_names.py.

A row is a module and its names, the root first; further lines of it are indented. `+0.22` after a name: it is there since
that version; `-0.24`: it is there until the version before. `*` stands for any names, and any modules below.
"""
VERSIONS = ('0.18', '0.19', '0.20', '0.21', '0.22', '0.23', '0.24', '0.25', '0.26', '0.27')
TABLE = """\
. ConstantMemoryPools-0.20 ConstantPoolInfo-0.20 DataType DataTypeCode IRModule Object PoolInfo-0.20
 PoolInfoProperties-0.20 TVMError-0.25 WorkspaceMemoryPools-0.20 WorkspacePoolInfo-0.20 arith auto_scheduler-0.20
 autotvm-0.20 backend+0.25 base+0.21 build cl-0.21 compile+0.20 container-0.24 contrib cpu cuda device
 device_from_target+0.26 dlight-0.24 driver error exec ext_dev ffi+0.21-0.25 generic-0.21 get_global_func gpu-0.21
 hexagon instrument ir libinfo+0.21 lower-0.20 meta_schedule-0.24 metal micro-0.19 mtl-0.21 multiprocessing nd-0.22
 opencl os parser-0.20 register_extension-0.21 register_func-0.22 register_global_func+0.22 register_object relax
 relay-0.20 rocm rpc runtime s_tir+0.24 script support sys target te testing tir-0.24 tirx+0.24 topi traceback-0.21
 transform tvm_wrap_excepthook utils-0.20 vpi vulkan
arith Analyzer CompareResult+0.25 ConstIntBound Extension IntSet IntervalSet IterMapExpr IterMark IterSplitExpr
 IterSumExpr ModularSet PresburgerSet ProofStrength Z3ContextScope+0.27 allow_uint_as_index+0.26 analyzer bound
 deduce_bound detect_clip_bound detect_common_subexpr-0.24 detect_iter_map detect_linear_equation
 estimate_region_lower_bound estimate_region_strict_bound estimate_region_upper_bound int_set int_solver
 inverse_affine_iter_map iter_affine_map iter_map_simplify normalize_iter_map_to_expr normalize_to_iter_sum pattern
 solve_linear_equations solve_linear_inequalities subspace_divide
arith.analyzer Analyzer CompareResult+0.25 ConstIntBound ConstraintScope Extension ModularSet ProofStrength
 Z3ContextScope+0.27 allow_uint_as_index+0.26
arith.bound deduce_bound
arith.int_set IntSet IntervalSet PresburgerSet estimate_region_lower_bound estimate_region_strict_bound
 estimate_region_upper_bound neg_inf pos_inf union_lower_bound
arith.int_solver IntConstraints IntConstraintsTransform IntGroupBounds solve_linear_equations solve_linear_inequalities
arith.iter_affine_map IterMapExpr IterMapLevel IterMapResult+0.22 IterMark IterSplitExpr IterSumExpr detect_iter_map
 inverse_affine_iter_map iter_map_simplify normalize_iter_map_to_expr normalize_to_iter_sum subspace_divide
arith.pattern detect_clip_bound detect_common_subexpr-0.24 detect_linear_equation
auto_scheduler-0.20 *
autotvm-0.20 *
backend+0.25 *
base+0.21 PY3STATEMENT-0.25 TVMError-0.25 py_str-0.25 readline-0.25
contrib *
dlight-0.24 ApplyDefaultSchedule BlockInfo IterInfo ScheduleRule adreno+0.23 analysis+0.20 base benchmark cpu+0.20 gpu
 normalize_prim_func try_inline try_inline_contiguous_spatial
dlight.adreno+0.23-0.24 Conv2d Fallback LayoutTransform Pool2D base convolution fallback layout_transform pool utils
dlight.adreno.base+0.23-0.24 AdrenoScheduleRule
dlight.adreno.convolution+0.23-0.24 Conv2d
dlight.adreno.fallback+0.23-0.24 Fallback get_max_threads_per_block
dlight.adreno.layout_transform+0.23-0.24 LayoutTransform
dlight.adreno.pool+0.23-0.24 Pool2D
dlight.adreno.utils+0.23-0.24 get_texture_storage schedule_default schedule_fallback schedule_inline_blocks
dlight.analysis+0.20-0.24 *
dlight.base-0.24 *
dlight.benchmark-0.24 bench benchmark benchmark_prim_func benchmark_relax_func extract extract_all_func_info_from_relax
 extract_from_relax extract_func_info_from_prim_func extract_prim_func utils
dlight.benchmark.bench-0.24 RPCConfig benchmark benchmark_prim_func benchmark_relax_func
dlight.benchmark.extract-0.24 SKETCH extract_all_func_info_from_relax extract_dynamic_var extract_from_relax
 extract_func_info_from_prim_func extract_prim_func extract_shape update_records
dlight.benchmark.utils-0.24 INPUT_SHAPE_TYPE default_dym_var_sample_func dym_var_sample_str get_func_name_from_gv
 populuate_input_shape print_results
dlight.cpu+0.20-0.24 *
dlight.gpu-0.24 *
driver *
error DiagnosticError InternalError OpAttributeInvalid OpAttributeRequired OpAttributeUnImplemented OpError
 OpNotImplemented RPCError RPCSessionTimeoutError TVMError+0.21-0.25
exec *
ffi+0.21-0.25 Array-0.22 Bytes-0.22 DataTypeCode-0.22 Device-0.22 Function-0.22 Map-0.22 NDArray-0.22 Object-0.22
 ObjectGeneric-0.22 Shape-0.22 String-0.22 container-0.22 convert-0.22 cpu-0.22 cuda-0.22 device-0.22 dtype-0.22
 error-0.22 ext_dev-0.22 from_dlpack-0.22 get_global_func-0.22 hexagon-0.22 metal-0.22 ndarray-0.22 opencl-0.22
 register_error-0.22 register_func-0.22 register_object-0.22 registry-0.22 rocm-0.22 testing-0.22 vpi-0.22 vulkan-0.22
 webgpu-0.22
ffi.container+0.21-0.22 Array ItemsView KeysView Map ValuesView getitem_helper
ffi.convert+0.21-0.22 convert
ffi.dtype+0.21-0.22 DataTypeCode dtype ml_dtypes np
ffi.error+0.21-0.22 core register_error
ffi.ndarray+0.21-0.22 Shape cpu cuda device ext_dev hexagon metal opencl rocm vpi vulkan webgpu
ffi.registry+0.21-0.22 get_global_func list_global_func_names register_func register_object remove_global_func
ffi.testing+0.21-0.22 TestObjectBase TestObjectDerived create_object
generic-0.21
ir Array Attrs BaseExpr-0.26 BaseFunc Call+0.26 CallingConv ConstantMemoryPools-0.20 ConstantPoolInfo-0.20
 Constructor-0.20 DictAttrs DummyGlobalInfo EnvFunc Expr+0.26 FuncType GlobalInfo GlobalTypeVar-0.20 GlobalVar IRModule
 IncompleteType-0.20 Map Node Op PointerType PoolInfo-0.20 PoolInfoProperties-0.20 PrimExpr-0.26 PrimType Range
 RelaxExpr+0.20-0.26 RelayExpr-0.20 RelayRefType-0.20 SequentialSpan SourceName Span TensorAffineType-0.20
 TensorType-0.20 TupleAffineType-0.20 TupleType Type TypeCall-0.20 TypeConstraint-0.20 TypeData-0.20 TypeKind-0.20
 TypeRelation-0.20 TypeVar-0.20 VDevice Var+0.26 WorkspaceMemoryPools-0.20 WorkspacePoolInfo-0.20 adt-0.20
 affine_type-0.20 analysis-0.25 assert_structural_equal attrs base container-0.24 diagnostics-0.25 expr function
 global_info instrument is_prim_expr+0.26 is_prim_var+0.26 json_compact load_json make_node memory_pools-0.20 module op
 register_intrin_lowering register_op_attr save_json structural_equal-0.25 structural_hash-0.25 supply tensor_type-0.20
 transform type type_relation utils+0.25
ir.adt-0.20 Constructor TypeData
ir.affine_type-0.20 AffineType TensorAffineType TupleAffineType
ir.analysis-0.25 collect_call_map
ir.attrs Attrs DictAttrs make_node
ir.base EnvFunc Node SequentialSpan SourceMap SourceName Span assert_structural_equal deprecated
 get_first_structural_mismatch-0.25 load_json save_json structural_equal-0.25 structural_hash-0.25
ir.container-0.24 Array-0.21 Map-0.21
ir.diagnostics-0.25 Diagnostic DiagnosticContext DiagnosticLevel DiagnosticRenderer Object enum get_global_func
 get_renderer override_renderer register_func-0.22 register_global_func+0.22 tvm-0.22 tvm_ffi+0.22
ir.expr BaseExpr-0.26 Call+0.26 Expr+0.26 GlobalVar PrimExpr-0.26 Range RelaxExpr+0.20-0.26 RelayExpr-0.20 Var+0.26
 is_prim_expr+0.26 is_prim_var+0.26 is_relax_expr-0.21
ir.function BaseFunc CallingConv
ir.global_info DummyGlobalInfo GlobalInfo VDevice
ir.instrument DumpIR+0.23 PassInstrument PassPrintingInstrument PassTimingInstrument PrintAfterAll PrintBeforeAll
 pass_instrument
ir.json_compact create_updater create_updater_06_to_07-0.20 create_updater_07_to_08-0.22 create_updater_08_to_09-0.22
 create_updater_13_to_14-0.22 create_updater_15_to_16-0.22 create_updater_16_to_17-0.22 get_version+0.22 upgrade_json
ir.memory_pools-0.20 AllocatedPoolInfo ConstantInfo ConstantMemoryPools ConstantPoolInfo PoolInfo PoolInfoProperties
 WorkspaceMemoryPools WorkspacePoolInfo
ir.module IRModule
ir.op Op register_intrin_lowering register_op_attr
ir.supply GlobalVarSupply-0.25 NameSupply-0.25 UniqueNameSupply+0.25
ir.tensor_type-0.20 TensorType
ir.transform ApplyPassToFunction-0.25 ModulePass Pass PassContext PassInfo PrintIR Sequential module_pass
ir.type FuncType GlobalTypeVar-0.20 IncompleteType-0.20 PointerType PrimType RelayRefType-0.20 TensorMapType+0.21
 TupleType Type TypeConstraint-0.20 TypeKind-0.20 TypeVar-0.20
ir.type_relation TypeCall TypeRelation
ir.utils+0.25 T derived_object
libinfo+0.21 find_include_path find_lib_path-0.25 find_libtvm_runtime+0.25 get_dll_directories-0.25
 load_lib_ctypes+0.24-0.25 package_lib_paths+0.24 split_env_var-0.25 use_runtime_lib+0.24-0.25
meta_schedule-0.24 *
micro-0.19 *
parser-0.20 SpanCheck fromtext parse parse_expr
relax AnyType+0.26 BasePyModule+0.22 Binding BindingBlock BlockBuilder Call Constant DataTypeImm DataflowBlock
 DataflowBlockRewrite DataflowVar DynTensorType-0.20 ExecBuilder Executable-0.20 Expr ExprFunctor ExternFunc
 FuncStructInfo-0.26 FuncType Function GlobalVar Id-0.26 If MatchCast ObjectStructInfo-0.26 ObjectType PackedFuncType
 PrimStructInfo-0.26 PrimValue-0.26 PyExprMutator PyExprVisitor SeqExpr ShapeExpr ShapeStructInfo-0.26 ShapeType Span
 StringImm StructInfo-0.26 TensorStructInfo-0.26 TensorType+0.20 Tuple TupleGetItem TupleStructInfo-0.26 TupleType Type
 VMExecutable+0.20 VMInstrumentReturnKind Var VarBinding VirtualMachine analysis args_converter-0.24 backend
 backend_tir-0.20 base_py_module+0.22 binding_rewrite block_builder build call_dps_packed call_pure_packed call_tir
 call_tir_inplace call_tir_with_grad const convert_to_expr distributed dpl exec_builder expr expr_functor extern
 frontend get_default_pipeline+0.20 get_pipeline get_shape_of op pipeline prim_value+0.26 register_pipeline
 relax_to_pyfunc_converter+0.22 script+0.24 struct_info-0.26 testing training transform tvm+0.24 ty type+0.26
 type_converter-0.24 utils vm vm_build
relax.analysis BaseCheckResult all_global_vars all_vars analysis bound_vars check_well_formed+0.25
 collect_non_negative_expressions computable_at_compile_time contains_impure_call definable_tir_vars_in_struct_info-0.26
 definable_tir_vars_in_type+0.26 defined_symbolic_vars derive_call_ret_struct_info-0.26 derive_call_ret_type+0.26
 detect_recursion erase_to_well_defined estimate_memory_usage free_symbolic_vars free_vars get_static_type get_var2val
 has_reshape_pattern name_to_binding post_order_visit remove_all_unused struct_info_base_check-0.26 struct_info_lca-0.26
 suggest_layout_transforms tir_vars_in_struct_info-0.26 tir_vars_in_type+0.26 type_base_check+0.26 type_lca+0.26 udchain
 used_vars+0.23 well_formed
relax.analysis.analysis BaseCheckResult all_global_vars all_vars bound_vars check_well_formed+0.25
 collect_non_negative_expressions computable_at_compile_time contains_impure_call definable_tir_vars_in_struct_info-0.26
 definable_tir_vars_in_type+0.26 defined_symbolic_vars derive_call_ret_struct_info-0.26 derive_call_ret_type+0.26
 detect_recursion erase_to_well_defined free_symbolic_vars free_vars get_static_type get_var2val has_reshape_pattern
 name_to_binding post_order_visit remove_all_unused struct_info_base_check-0.26 struct_info_lca-0.26
 suggest_layout_transforms tir_vars_in_struct_info-0.26 tir_vars_in_type+0.26 type_base_check+0.26 type_lca+0.26 udchain
 used_vars+0.23 well_formed
relax.analysis.estimate_memory_usage estimate_memory_usage
relax.backend DispatchSampling DispatchSortScan adreno+0.20 contrib cpu_generic+0.20 cuda+0.20 dispatch_sampling
 dispatch_sort_scan get_pattern get_patterns_with_prefix gpu_generic+0.20 metal+0.20 pattern_registry patterns rocm+0.20
 utils
relax.backend.adreno+0.20 *
relax.backend.contrib *
relax.backend.cpu_generic+0.20 *
relax.backend.cuda+0.20 *
relax.backend.dispatch_sampling DispatchSampling SamplingDispatcher
relax.backend.dispatch_sort_scan DispatchSortScan SortScanDispatcher
relax.backend.gpu_generic+0.20 *
relax.backend.metal+0.20 *
relax.backend.pattern_registry CheckFunc Pattern get_pattern get_patterns_with_prefix register_patterns
relax.backend.patterns make_attention_pattern make_attention_rewrite_pattern make_conv2d_pattern
 make_fused_bias_activation_pattern make_layer_norm_pattern make_matmul_dequantize_pattern make_matmul_multiply_pattern
 make_matmul_pattern make_residual_block_pattern make_rms_norm_pattern make_stacked_attention_pattern
relax.backend.rocm+0.20 *
relax.backend.utils BackendDispatcher has_leaking_intermediate_variables
relax.backend_tir-0.20 contrib cumsum generic_get_sample_index get_tir_pattern gpu_2d_continuous_cumsum
 gpu_multinomial_from_uniform pattern sampling
relax.backend_tir.contrib-0.20 cutlass cutlass_fcodegen
relax.backend_tir.contrib.cutlass-0.20 BATCH_MATMUL_BIAS_LIST BATCH_MATMUL_LIST CONV2D_LIST MATMUL_BIAS_LIST MATMUL_LIST
 OP_PATTERN_ATTR_LIST batch_matmul batch_matmul_bias batch_matmul_bias_gelu batch_matmul_bias_residual_mul
 compile_options conv2d conv2d_bias conv2d_bias_residual_add cutlass_codegen_conv2d cutlass_codegen_gemm
 cutlass_fcodegen matmul matmul_bias matmul_bias_relu
relax.backend_tir.cumsum-0.20 gpu_2d_continuous_cumsum
relax.backend_tir.pattern-0.20 MatchResult batch_bias_row_1d_fp16 batch_bias_row_2d_fp16 batch_matmul_rrr_2d_fp16
 batch_matmul_rrr_3d_fp16 bias_add_nhwc_1d_fp16 bias_add_nhwc_2d_fp16 bias_row_1d_fp16 bias_row_2d_fp16 cast_3d_fp16
 cast_3d_fp32 conv2d_nhwc_fp16 copy_4d_fp16 elem_add_2d_fp16 elem_add_3d_fp16 elem_add_4d_fp16 elem_mul_3d_fp16
 erf_3d_fp32 get_tir_pattern matmul_rrr_fp16 padding_2d_nhwc_fp16 relu_fp16 scalar_add_3d_fp16 scalar_mul_3d_fp16
relax.backend_tir.sampling-0.20 generic_get_sample_index gpu_multinomial_from_uniform
relax.base_py_module+0.22 BasePyModule load_torch_c_dlpack_extension to_dlpack_legacy
relax.binding_rewrite DataflowBlockRewrite
relax.block_builder BlockBuilder DataflowScope FunctionScope TestingScope
relax.distributed DTensorStructInfo-0.26 DTensorType+0.26 DeviceMesh Placement PlacementSpec device_mesh global_info
 struct_info-0.26 transform type+0.26
relax.distributed.global_info DeviceMesh device_mesh
relax.distributed.struct_info-0.26 DTensorStructInfo Placement PlacementSpec PlacementSpecKind
relax.distributed.transform LegalizeRedistribute LowerDistIR LowerGlobalViewToLocalView PropagateSharding transform
relax.distributed.transform.transform LegalizeRedistribute LowerDistIR LowerGlobalViewToLocalView PropagateSharding
relax.distributed.type+0.26 DTensorType Placement PlacementSpec PlacementSpecKind
relax.dpl AndPattern Array AttrPattern CallPattern ConstantPattern DFConstraint DFPattern DataTypePattern DataflowBlock
 DataflowVarPattern Dict-0.24 Expr ExprPattern ExprPatternRewriter ExternFuncPattern FunctionPattern GlobalVarPattern
 List-0.24 Node NotPattern Object Op Optional-0.24 OrPattern OrRewriter PatternContext PatternMatchingRewriter
 PatternSeq PrimArrPattern PrimExpr-0.26 SameShapeConstraint ShapePattern StructInfoPattern-0.26 Tuple-0.24
 TupleGetItemPattern TuplePattern TypePattern Union UnorderedTuplePattern Var VarPattern WildcardPattern context ffi
 has_attr has_dtype is_call_dps_packed is_call_packed is_call_tir is_const is_dfv is_expr is_gv is_op is_shape is_tuple
 is_tuple_get_item is_var make_fused_bias_activation_pattern make_node pattern register_df_node reject rewrite
 rewrite_bindings rewrite_call tvm tvm_ffi typing-0.24 wildcard
relax.dpl.context PatternContext
relax.dpl.pattern AndPattern AttrPattern CallPattern ConstantPattern DFConstraint DFPattern DataTypePattern
 DataflowVarPattern ExprPattern ExternFuncPattern FunctionPattern GlobalVarPattern NotPattern OrPattern PatternSeq
 PrimArrPattern SameShapeConstraint ShapePattern StructInfoPattern-0.26 TupleGetItemPattern TuplePattern TypePattern
 UnorderedTuplePattern VarPattern WildcardPattern has_attr has_dtype is_call_dps_packed is_call_packed is_call_tir
 is_const is_dfv is_expr is_gv is_op is_shape is_tuple is_tuple_get_item is_var make_fused_bias_activation_pattern
 register_df_node reject wildcard
relax.dpl.rewrite ExprPatternRewriter OrRewriter PatternMatchingRewriter TupleRewriter rewrite_bindings rewrite_call
relax.exec_builder ExecBuilder SpecialReg VMFuncKind VMFuncScope
relax.expr Binding BindingBlock Call-0.26 Constant DataTypeImm DataflowBlock DataflowVar Expr ExprWithOp ExternFunc
 Function GlobalVar Id-0.26 If MatchCast PrimValue-0.26 SeqExpr ShapeExpr StringImm StructInfo-0.26 TEPlaceholderOp+0.22
 Tuple TupleGetItem Type Var VarBinding const extern get_shape_of make_shape prim_value+0.26 te_tensor
relax.expr_functor ExprFunctor PyExprMutator PyExprVisitor mutator visitor
relax.frontend common detach_params nn onnx stablehlo tflite+0.24 torch
relax.frontend.common autopad+0.19 detach_params
relax.frontend.nn Any BlockBuilder Callable Conv1D Conv2D+0.19 Conv3D+0.19 ConvTranspose1D Dict-0.24 Effect Embedding
 ExternModule GELU GroupNorm IOEffect IntExpr KVCache LayerNorm Linear List-0.24 Module ModuleDict+0.23 ModuleList
 Mutator Object ObjectModule Optional-0.24 OutType Parameter ParameterDict+0.25 ParameterList+0.25 RMSNorm ReLU Sequence
 SiLU SourceModule SubroutineMixin T Tensor Tuple-0.24 TypeVar Union-0.24 add add_extern arange+0.22 argsort astype
 broadcast_to ccl_allgather ccl_allreduce ccl_broadcast_from_worker0 chunk concat conv1d conv1d_transpose conv2d conv3d
 core cumsum debug_func divide empty equal exp exporter extern floor+0.22 full gelu get_default_dtype
 get_timestep_embedding greater greater_equal group_norm inspect interpolate layer_norm less less_equal llm log+0.22
 math matmul max+0.20 maximum min+0.20 minimum modules multinomial_from_uniform multiply negative not_equal np ones op
 pad permute permute_dims prelu+0.21 print_ relu relu6+0.21 renormalize_top_p_top_k_prob repeat reshape rms_norm rx
 sample_top_p_top_k_from_sorted_prob scaled_dot_product_attention sigmoid silu softmax softplus+0.20 sort spec split
 sqrt square squeeze subroutine subtract sum take tanh te tensor_expr_op tensor_ir_inplace_op tensor_ir_op topk torch
 triu tvm+0.26 unsqueeze visitor where wrap_nested zeros
relax.frontend.nn.core Effect ExternModule Module ModuleDict+0.23 ModuleList Object Parameter ParameterDict+0.25
 ParameterList+0.25 Tensor get_default_dtype set_default_dtype torch wrap_nested
relax.frontend.nn.exporter Exporter add_extern
relax.frontend.nn.extern ExternModule ObjectModule SourceModule
relax.frontend.nn.llm PagedKVCache kv_cache llama_rope position_embedding tree_attn
relax.frontend.nn.llm.kv_cache AttnKind+0.20-0.24 FlashInferPagedKVCache PagedKVCache RopeMode-0.24 TIRPagedKVCache
 check_thread_limits-0.24 get_max_num_threads_per_block-0.24
relax.frontend.nn.llm.position_embedding llama4_rope_with_position_map+0.22 llama_rope llama_rope_with_position_map
 rope_freq_default rope_freq_gptj+0.19 rope_freq_llama3 rope_freq_llama4+0.22 rope_freq_longrope rope_freq_yarn+0.19
 switch_rope_freq_func yarn_find_correction_dim+0.19 yarn_find_correction_range+0.19
relax.frontend.nn.llm.tree_attn tree_attn tree_attn_cpu+0.20 tree_attn_with_paged_kv_cache
 tree_attn_with_paged_kv_cache_cpu+0.20
relax.frontend.nn.modules Attention Conv1D Conv2D Conv3D ConvTranspose1D Embedding GELU GroupNorm IOEffect Identity
 KVCache LayerNorm Linear RMSNorm ReLU SiLU TimestepEmbedding Timesteps
relax.frontend.nn.op IntExpr OutType add arange+0.22 argsort astype broadcast_to ccl_allgather ccl_allreduce
 ccl_broadcast_from_worker0 chunk concat conv1d conv1d_transpose conv2d conv3d cumsum debug_func divide empty equal exp
 extern floor+0.22 full gelu get_timestep_embedding greater greater_equal group_norm interpolate layer_norm less
 less_equal log+0.22 matmul max+0.20 maximum min+0.20 minimum multinomial_from_uniform multiply negative not_equal ones
 pad permute permute_dims prelu+0.21 print_ relu relu6+0.21 renormalize_top_p_top_k_prob repeat reshape rms_norm
 sample_top_p_top_k_from_sorted_prob scaled_dot_product_attention sigmoid silu softmax softplus+0.20 sort split sqrt
 square squeeze subtract sum take tanh tensor_expr_op tensor_ir_inplace_op tensor_ir_op topk triu unsqueeze where zeros
relax.frontend.nn.spec ArgSpecType Int MethodSpec MethodSpecType ModuleSpec ModuleSpecType Object SpecAny Tensor Tuple
 nn_module_class
relax.frontend.nn.subroutine SubroutineMixin
relax.frontend.nn.torch TorchModule
relax.frontend.nn.visitor Mutator
relax.frontend.onnx *
relax.frontend.stablehlo *
relax.frontend.tflite+0.24 *
relax.frontend.torch *
relax.ir.instrument WellFormedInstrument
relax.op *
relax.pipeline PIPELINE_MAP dataflow_lower_passes+0.20 default_build_pipeline finalize_passes+0.20
 get_default_pipeline+0.20 get_pipeline legalize_passes+0.20 library_dispatch_passes+0.20 register_pipeline
 static_shape_tuning_pipeline zero_pipeline
relax.relax_to_pyfunc_converter+0.22 RelaxExpressionConverter RelaxToPyFuncConverter convert_relax_to_pyfunc
relax.script+0.24 *
relax.struct_info-0.26 FuncStructInfo ObjectStructInfo PrimStructInfo ShapeStructInfo TensorStructInfo TupleStructInfo
relax.testing *
relax.training AppendLoss SetupTrainer Trainer loss optimizer setup_trainer trainer utils
relax.training.loss CategoricalCrossEntropyLoss CrossEntropyLoss L1Loss Loss MSELoss
relax.training.optimizer Adam MomentumSGD Optimizer SGD
relax.training.setup_trainer SetupTrainer
relax.training.trainer Trainer
relax.training.utils AppendLoss register_te_gradient
relax.transform AdjustMatmulOrder AllocateWorkspace AlterOpImpl AnnotateTIROpPattern AttachAttrLayoutFreeBuffers+0.19
 AttachExternModules AttachGlobalSymbol BindParams BindSymbolicVars BundleModelParams CallTIRRewrite
 CanonicalizeBindings CombineParallelMatmul ComputePrimValue ConvertLayout ConvertToDataflow DataflowBlockPass
 DataflowUseInplaceCalls DeadCodeElimination DecomposeOpsForInference DecomposeOpsForTraining EliminateCommonSubexpr
 ExpandMatmulOfSum ExpandTupleArguments FastMathTransform FewShotTuning-0.24 FoldBatchnormToConv2D+0.20 FoldConstant
 FunctionPass FuseOps FuseOpsByPattern FuseTIR FuseTransposeMatmul FusionPattern Gradient IPCAllReduceRewrite
 InlinePrivateFunctions KillAfterLastUse LambdaLift LazyGetInput LazySetOutput LazyTransformParams LegalizeOps
 LiftTransformParams LowerAllocTensor LowerGPUIPCAllocStorage LowerRuntimeBuiltin MergeCompositeFunctions
 MetaScheduleApplyDatabase MetaScheduleTuneIRMod MetaScheduleTuneTIR Normalize NormalizeGlobalVar
 OptimizeLayoutTransform PatternCheckContext RealizeVDevice RemovePurityChecking RemoveRedundantReshape
 RemoveUnusedOutputs RemoveUnusedParameters ReorderPermuteDimsAfterConcat ReorderTakeAfterMatmul RewriteCUDAGraph
 RewriteDataflowReshape RunCodegen SpecializePrimFuncBasedOnCallSite+0.23 SplitCallTIRByPattern
 SplitLayoutRewritePreproc+0.19 StaticPlanBlockMemory ToMixedPrecision ToNonDataflow TopologicalSort
 UpdateParamStructInfo-0.26 UpdateParamType+0.26 UpdateVDevice VMBuiltinLower VMShapeLower attach_external_modules
 dataflowblock_pass fast_math fold_batch_norm_to_conv2d_for_inference+0.20 function_pass fuse_transpose_matmul
 ipc_allreduce_rewrite lazy_transform_params legalize_ops lower_gpu_ipc_alloc_storage optimize_layout_transform
 remove_redundant_reshape transform tuning_api-0.21
relax.transform.attach_external_modules AttachExternModules ExternModule
relax.transform.fast_math FastMathCodeGenerator FastMathTransform
relax.transform.fold_batch_norm_to_conv2d_for_inference+0.20 FoldBatchnormToConv2D
relax.transform.fuse_transpose_matmul FuseTransposeMatmul
relax.transform.ipc_allreduce_rewrite IPCAllReduceRewrite
relax.transform.lazy_transform_params ForwardCollector LazyInputMutator LazyOutputMutator LazyTransformParams
 LazyTransformParamsFuncCreator LivenessAnalysis
relax.transform.legalize_ops *
relax.transform.lower_gpu_ipc_alloc_storage LowerGPUIPCAllocStorage
relax.transform.optimize_layout_transform OptimizeLayoutTransform
relax.transform.remove_redundant_reshape RemoveRedundantReshape
relax.transform.transform AdjustMatmulOrder AllocateWorkspace AlterOpImpl AnnotateTIROpPattern
 AttachAttrLayoutFreeBuffers+0.19 AttachGlobalSymbol BindParams BindSymbolicVars BundleModelParams CallTIRRewrite
 CanonicalizeBindings CombineParallelMatmul ComputePrimValue ConvertLayout ConvertToDataflow DataflowBlockPass
 DataflowUseInplaceCalls DeadCodeElimination DecomposeOpsForInference DecomposeOpsForTraining EliminateCommonSubexpr
 ExpandMatmulOfSum ExpandTupleArguments FewShotTuning-0.24 FoldConstant FunctionPass FuseOps FuseOpsByPattern FuseTIR
 FusionPattern Gradient InlinePrivateFunctions KillAfterLastUse LambdaLift LazyGetInput LazySetOutput LegalizeOps
 LiftTransformParams LowerAllocTensor LowerRuntimeBuiltin MergeCompositeFunctions MetaScheduleApplyDatabase
 MetaScheduleTuneIRMod MetaScheduleTuneTIR Normalize NormalizeGlobalVar PatternCheckContext RealizeVDevice
 RemovePurityChecking RemoveUnusedOutputs RemoveUnusedParameters ReorderPermuteDimsAfterConcat ReorderTakeAfterMatmul
 RewriteCUDAGraph RewriteDataflowReshape RunCodegen SpecializePrimFuncBasedOnCallSite+0.23 SplitCallTIRByPattern
 SplitLayoutRewritePreproc+0.19 StaticPlanBlockMemory ToMixedPrecision ToNonDataflow TopologicalSort
 UpdateParamStructInfo-0.26 UpdateParamType+0.26 UpdateVDevice VMBuiltinLower VMShapeLower dataflowblock_pass
 function_pass
relax.transform.tuning_api-0.21 *
relax.ty DynTensorType-0.20 ObjectType-0.26 PackedFuncType ShapeType-0.26 TensorType+0.20-0.26
relax.type+0.26 AnyType FuncType ObjectType ShapeType TensorType
relax.type_converter-0.24 FType args_converter
relax.utils convert_to_expr copy_with_new_vars gen_call_tir_inputs metadata_partitioner
relax.vm_build Executable-0.20 VMExecutable+0.20 build
relay-0.20 *
rpc *
runtime DataType DataTypeCode Device Executable+0.20 Module NDArray-0.22 Object ObjectConvertible+0.22
 ObjectGeneric-0.22 ObjectPath-0.22 ObjectPathPair-0.22 ObjectTypes-0.21 PackedFunc-0.24 Report-0.24 Scriptable
 ShapeTuple String-0.24 Tensor+0.22 cl-0.21 const container-0.24 convert convert_to_object-0.21 cpu cuda device
 device_from_target+0.26 disco empty+0.22 enabled executable+0.20 executor-0.20 ext_dev from_dlpack+0.22 gpu-0.21
 load_module load_param_dict load_param_dict_from_file load_static_library metal module mtl-0.21 name_transforms-0.20
 ndarray-0.22 num_threads object-0.24 object_generic object_path-0.22 opencl packed_func-0.24 params profiler_vm-0.20
 profiling-0.24 relax_vm-0.21 rocm save_param_dict save_param_dict_to_file script_printer support-0.25 system_lib
 tensor+0.22 vm vpi vulkan
runtime.container-0.24 ADT-0.20 ShapeTuple-0.21 String-0.21 getitem_helper-0.21 tuple_object-0.20
runtime.device+0.21 Device RPC_SESS_MASK
runtime.disco DModule DPackedFunc DRef ProcessSession Session SocketSession ThreadedSession process_pool session
runtime.disco.process_pool DiscoPopenWorker
runtime.disco.session DModule DPackedFunc DRef ProcessSession REDUCE_OPS Session SocketSession ThreadedSession
runtime.executable+0.20 Executable
runtime.executor-0.20 *
runtime.module BenchmarkResult Module ModulePropertyMask-0.22 enabled load_module load_static_library num_threads
 system_lib-0.22
runtime.name_transforms-0.20 sanitize_name
runtime.ndarray-0.22 NDArray NDArrayBase-0.20 array cl-0.21 cpu-0.21 cuda-0.21 device-0.21 empty ext_dev-0.21
 from_dlpack gpu-0.21 hexagon-0.21 metal-0.21 ml_dtypes mtl-0.21 numpyasarray-0.21 opencl-0.21 rocm-0.21 vpi-0.21
 vulkan-0.21 webgpu-0.21
runtime.object-0.24 Object-0.21 ObjectBase-0.20 PyNativeObject-0.20 tvm+0.21-0.22 tvm_ffi+0.22
runtime.object_generic ObjectGeneric-0.21 ObjectTypes-0.21 const convert-0.21 convert_to_object-0.21
runtime.object_path-0.22 ArrayIndexPath AttributeAccessPath MapValuePath MissingArrayElementPath MissingMapEntryPath
 ObjectPath ObjectPathPair RootPath UnknownAttributeAccessPath
runtime.packed_func-0.24 PackedFunc-0.21 PackedFuncBase-0.20 PackedFuncHandle-0.21 convert_to_tvm_func-0.20
runtime.params load_param_dict load_param_dict_from_file save_param_dict save_param_dict_to_file
runtime.profiler_vm-0.20 VirtualMachineProfiler enabled
runtime.profiling-0.24 *
runtime.relax_vm-0.21 VMInstrumentReturnKind VirtualMachine
runtime.script_printer PrinterConfig Scriptable
runtime.support-0.25 T+0.21 derived_object+0.21
runtime.vm Executable-0.21 VMInstrumentReturnKind+0.21 VirtualMachine convert-0.21
s_tir+0.24 BijectiveLayout-0.25 Layout-0.25 SBijectiveLayout+0.25 SBlockDependenceInfo SBlockScope SLayout+0.25 Schedule
 ScheduleError ScheduleState StmtSRef TensorIntrin Trace analysis backend bijective_layout-0.25 data_layout dlight
 layout-0.25 meta_schedule pipeline renew_defs sbijective_layout+0.25 sblock_dependence_info sblock_scope schedule
 slayout+0.25 tensor_intrin transform
s_tir.analysis+0.24 Buffer BufferRegion IRModule OOBChecker Optional PrimFunc SBlock Stmt Union Var assert_pure_function
 calculate_allocated_bytes detect_buffer_access_lca estimate_tir_flops find_anchor_sblock get_sblock_access_region
 get_sblock_read_write_region get_vtcm_compaction_passes is_pure_function tvm verify_gpu_code
s_tir.backend+0.24 adreno
s_tir.backend.adreno+0.24 pipeline transform
s_tir.backend.adreno.pipeline+0.24 default_tir_pipeline tir_pipeline
s_tir.backend.adreno.transform+0.24 InjectTextureAlloc TextureFlatten transform
s_tir.backend.adreno.transform.transform+0.24 InjectTextureAlloc TextureFlatten
s_tir.data_layout+0.24 BijectiveLayout-0.25 Layout-0.25 SBijectiveLayout+0.25 SLayout+0.25 bijective_layout-0.25
 layout-0.25 sbijective_layout+0.25 slayout+0.25
s_tir.dlight+0.24 ApplyDefaultSchedule IterInfo SBlockInfo ScheduleRule adreno analysis base benchmark cpu gpu
 normalize_prim_func try_inline try_inline_contiguous_spatial
s_tir.dlight.adreno+0.24 Conv2d Fallback LayoutTransform Pool2D base convolution fallback layout_transform pool utils
s_tir.dlight.adreno.base+0.24 AdrenoScheduleRule
s_tir.dlight.adreno.convolution+0.24 Conv2d
s_tir.dlight.adreno.fallback+0.24 Fallback get_max_threads_per_block
s_tir.dlight.adreno.layout_transform+0.24 LayoutTransform
s_tir.dlight.adreno.pool+0.24 Pool2D
s_tir.dlight.adreno.utils+0.24 get_texture_storage schedule_default schedule_fallback schedule_inline_blocks
s_tir.dlight.analysis+0.24 *
s_tir.dlight.base+0.24 *
s_tir.dlight.benchmark+0.24 bench benchmark benchmark_prim_func benchmark_relax_func extract
 extract_all_func_info_from_relax extract_from_relax extract_func_info_from_prim_func extract_prim_func utils
s_tir.dlight.benchmark.bench+0.24 RPCConfig benchmark benchmark_prim_func benchmark_relax_func
s_tir.dlight.benchmark.extract+0.24 SKETCH extract_all_func_info_from_relax extract_dynamic_var extract_from_relax
 extract_func_info_from_prim_func extract_prim_func extract_shape update_records
s_tir.dlight.benchmark.utils+0.24 INPUT_SHAPE_TYPE default_dym_var_sample_func dym_var_sample_str get_func_name_from_gv
 populuate_input_shape print_results
s_tir.dlight.cpu+0.24 *
s_tir.dlight.gpu+0.24 *
s_tir.meta_schedule+0.24 *
s_tir.pipeline+0.24 default_s_tir_pipeline finalize_device_passes+0.25 finalize_host_passes tir+0.25 tir_pipeline
s_tir.sblock_dependence_info+0.24 SBlockDependenceInfo
s_tir.sblock_scope+0.24 DepKind Dependency SBlockScope StmtSRef
s_tir.schedule+0.24 DepKind Dependency ExprRV Instruction InstructionKind LoopRV SBlockRV SBlockScope Schedule
 ScheduleDebugMask ScheduleError ScheduleState StmtSRef Trace analysis instruction schedule state testing trace
 transform
s_tir.schedule.analysis+0.24 AutoTensorizeMappingInfo TensorizeInfo get_auto_tensorize_mapping_info
 get_tensorize_loop_mapping has_block is_output_block suggest_index_map
s_tir.schedule.instruction+0.24 ATTR_TYPE INPUT_RV_TYPE Instruction InstructionKind OUTPUT_RV_TYPE RAND_VAR_TYPE
s_tir.schedule.schedule+0.24 ExprRV LoopRV RAND_VAR_TYPE SBlockRV Schedule ScheduleError
s_tir.schedule.state+0.24 CachedFlags ScheduleDebugMask ScheduleState
s_tir.schedule.testing+0.24 assert_structural_equal_ignore_global_symbol verify_trace_roundtrip
s_tir.schedule.trace+0.24 DECISION_TYPE JSON_TYPE Schedule Trace
s_tir.schedule.transform+0.24 tile_with_tensor_intrin
s_tir.tensor_intrin+0.24 *
s_tir.transform+0.24 AnnotateIrregularLoop CanonicalizeLoop CompactBufferAllocation ConvertBlocksToOpaque
 DecorateDeviceScope DefaultGPUSchedule HoistExpression HoistIfThenElse HoistedConditionals HoistedLetBindings
 InferFragment InjectDoubleBuffer InjectDoubleBufferConfig InjectPTXAsyncCopy InjectPTXLDG32 InjectPermutedLayout
 InjectSoftwarePipeline InjectVirtualThread InstrumentBoundCheckers InstrumentProfileIntrinsics LiftThreadBinding
 LoopPartition LoopPartitionConfig LowerAsyncDMA LowerAutoCopy LowerCrossThreadReduction LowerInitBlock LowerMatchBuffer
 LowerOpaqueBlock LowerThreadAllreduce LowerVtcmAlloc ManifestSharedMemoryLocalStage MergeSharedMemoryAllocations
 PlanAndUpdateBufferAllocationLocation RemoveStoreUndef RemoveWeightLayoutRewriteBlock RenormalizeSplitPattern
 RewriteUnsafeSelect ThreadSync TransformMmaBufferLayout UnifyThreadBinding UseAssumeToReduceBranches VerifyVTCMLimit
 transform
s_tir.transform.transform+0.24 AnnotateIrregularLoop CanonicalizeLoop CompactBufferAllocation ConvertBlocksToOpaque
 DecorateDeviceScope DefaultGPUSchedule HoistExpression HoistIfThenElse InferFragment InjectDoubleBuffer
 InjectDoubleBufferConfig InjectPTXAsyncCopy InjectPTXLDG32 InjectPermutedLayout InjectSoftwarePipeline
 InjectVirtualThread InstrumentBoundCheckers InstrumentProfileIntrinsics LiftThreadBinding LoopPartition
 LoopPartitionConfig LowerAsyncDMA LowerAutoCopy LowerCrossThreadReduction LowerInitBlock LowerMatchBuffer
 LowerOpaqueBlock LowerThreadAllreduce LowerVtcmAlloc ManifestSharedMemoryLocalStage MergeSharedMemoryAllocations
 PlanAndUpdateBufferAllocationLocation RemoveStoreUndef RemoveWeightLayoutRewriteBlock RenormalizeSplitPattern
 RewriteUnsafeSelect ThreadSync TransformMmaBufferLayout UnifyThreadBinding UseAssumeToReduceBranches VerifyVTCMLimit
script *
support FrontendTestModule-0.24 cc+0.25 clang+0.25 describe detect_active_modules+0.24-0.25 emcc+0.25 json+0.25 libinfo
 ndk+0.25 nvcc+0.25 os+0.25 platform+0.25 popen_pool+0.25 rocm+0.25 sys+0.25 tar+0.25 textwrap+0.25 tvm+0.25
 tvm_ffi+0.25 utils+0.25 xcode+0.25
support.cc+0.25 create_executable create_shared create_staticlib cross_compiler get_cc get_global_symbol_section_map
 get_target_by_dump_machine
support.clang+0.25 create_llvm find_clang
support.emcc+0.25 create_tvmjs_wasm find_wasm_lib
support.libinfo+0.25 libinfo
support.ndk+0.25 create_shared create_staticlib get_global_symbol_section_map
support.nvcc+0.25 callback_libdevice_path compile_cuda find_cuda_path find_libdevice_path find_nvshmem_paths
 get_cuda_version get_target_compute_version have_bf16 have_cudagraph have_fp16 have_fp4 have_fp8 have_int8
 have_tensorcore parse_compute_version tvm_callback_cuda_compile
support.popen_pool+0.25 MapResult PopenPoolExecutor PopenWorker StatusKind kill_child_processes
support.rocm+0.25 callback_rocm_bitcode_path callback_rocm_link find_lld find_rocm_path get_rocm_arch have_matrixcore
 parse_compute_version rocm_link
support.tar+0.25 normalize_file_list_by_unpacking_tars tar untar
support.utils+0.25 DirectoryCreatedPastAtExit FileLock TempDirectory fcntl filelock is_source_path tempdir which
support.xcode+0.25 compile_coreml compile_metal create_dylib xcrun
target GenericFunc-0.20 Target TargetKind VirtualDevice adreno+0.20-0.24 arm_cpu-0.24 bifrost-0.24 codegen
 compilation_config-0.24 create-0.24 cuda-0.24 datatype-0.25 detect_target generic_func-0.20
 get_native_generic_func-0.20 hexagon-0.24 intel_graphics-0.24 intrin list_tags make_compilation_config-0.24 mali-0.24
 override_native_generic_func-0.20 rasp-0.24 register_tag+0.24 riscv_cpu-0.24 rocm-0.24 stm32-0.24 tag tag_registry+0.24
 target virtual_device vta-0.19 x86-0.25
target.codegen build_module llvm_cpu_has_features llvm_get_cpu_archlist llvm_get_cpu_features llvm_get_intrinsic_name
 llvm_get_system_cpu llvm_get_system_triple llvm_get_system_x86_vendor llvm_get_targets llvm_get_vector_width+0.20
 llvm_is_valid_cpu+0.24 llvm_lookup_intrinsic_id llvm_version_major target_has_features
target.compilation_config-0.24 make_compilation_config
target.datatype-0.25 create_lower_func create_min_lower_func get_type_code get_type_name get_type_registered
 lower_call_pure_extern lower_ite register register_min_func register_op
target.detect_target *
target.generic_func-0.20 GenericFunc decorate generic_func get_native_generic_func override_native_generic_func
target.intrin
target.tag list_tags-0.24 register_tag-0.24
target.tag_registry+0.24 *
target.target MICRO_SUPPORTED_MODELS-0.24 STM32_SUPPORTED_SERIES-0.24 Target TargetFeatures TargetKind adreno-0.24
 arm_cpu-0.24 bifrost-0.24 create-0.24 cuda-0.24 hexagon-0.24 intel_graphics-0.24 mali-0.24 micro-0.19 rasp-0.24
 riscv_cpu-0.24 rocm-0.24 stm32-0.24 vta-0.19
target.virtual_device VirtualDevice
target.x86-0.25 get_simd_32bit_lanes
te AXIS_SEPARATOR-0.26 ComputeOp ExternOp HybridOp-0.20 PlaceholderOp ScanOp Schedule-0.20 SpecializedCondition-0.20
 Stage-0.20 Tensor TensorComputeOp-0.20 TensorSlice abs acos acosh add-0.26 all any asin asinh atan atanh autodiff-0.20
 ceil comm_reducer compute const cos cosh create_prim_func create_schedule-0.20 decl_tensor_intrin-0.20 div erf exp
 extern extern_primfunc floor floordiv floormod fmod gradient-0.20 hybrid-0.20 if_then_else indexdiv indexmod isfinite
 isinf isnan log log10 log2 logaddexp+0.21 max max_value min min_value multiply-0.26 nearbyint operation placeholder
 popcount power reduce_axis round rsqrt scan schedule-0.20 sigmoid sin sinh size_var-0.26 sqrt subtract-0.26 sum tag
 tag_scope tan tanh tensor tensor_intrin-0.20 thread_axis trace trunc truncdiv truncmod var
te.autodiff-0.20 gradient
te.hybrid-0.20 *
te.operation AXIS_SEPARATOR+0.20-0.26 compute const create_prim_func extern extern_primfunc placeholder reduce_axis scan
 size_var-0.26 thread_axis var
te.schedule-0.20 *
te.tag TagScope tag_scope
te.tensor BaseComputeOp ComputeOp ExternOp HybridOp-0.20 Operation PlaceholderOp ScanOp Tensor TensorComputeOp-0.20
 TensorIntrinCall-0.20 TensorOpBase+0.26 TensorSlice
te.tensor_intrin-0.20 TensorIntrin decl_tensor_intrin
testing *
tir-0.24 Add Allocate AllocateConst And Any-0.20 AssertStmt AttrStmt BijectiveLayout Block BlockDependenceInfo
 BlockRealize BlockScope Broadcast Buffer BufferLoad BufferRealize BufferRegion BufferStore Call CallEffectKind Cast
 CommReducer DataProducer DeclBuffer Div EQ Evaluate FloatImm FloorDiv FloorMod For ForKind GE GT IfThenElse IndexMap
 IntImm IterVar LE LT Layout Let LetStmt MatchBufferRegion Max Min Mod Mul NE Not Or Prefetch-0.21 PrimExpr PrimFunc
 ProducerLoad ProducerRealize-0.21 ProducerStore-0.21 PyStmtExprMutator+0.21 PyStmtExprVisitor+0.21 Ramp Reduce Schedule
 ScheduleError ScheduleState Select SeqStmt Shuffle SizeVar Stmt StmtSRef StringImm Sub TVMBackendAllocWorkspace
 TVMBackendFreeWorkspace TensorIntrin Var While abs acos acosh add address_of all analysis any asin asinh assume atan
 atan2 atanh backend+0.23 bijective_layout bitwise_and bitwise_not bitwise_or bitwise_xor block_dependence_info
 block_scope break_loop+0.22 buffer build+0.20 call_cpacked call_cpacked_lowered call_extern call_intrin
 call_llvm_intrin call_llvm_pure_intrin call_packed call_packed_lowered call_pure_extern call_tir ceil ceildiv clz
 comm_reducer const continue_loop+0.22 convert copysign cos cosh create_barriers data_layout decl_buffer div dp4a
 end_profile_intrinsic erf exp exp10 exp2 expr floor floordiv floormod fmod function functor+0.21 generic
 get_active_lane_mask get_default_tir_pipeline+0.20 get_tir_pipeline+0.20 get_vscale_expr handle_add_byte_offset+0.21
 hypot if_then_else ignore_loop_partition+0.20 indexdiv indexmod infinity ir_builder isfinite isinf isnan isnullptr
 layout ldexp likely log log10 log1p log2 logaddexp+0.21 lookup_param make_filled_simdgroup_matrix max max_value min
 min_value mma_fill mma_store multiply nearbyint nextafter op pipeline+0.20 popcount pow power ptx_arrive_barrier
 ptx_arrive_barrier_expect_tx ptx_commit_group ptx_cp_async ptx_cp_async_barrier ptx_cp_async_bulk
 ptx_init_barrier_thread_count ptx_ldmatrix ptx_mma ptx_mma_sp ptx_wait_barrier ptx_wait_group q_multiply_shift
 q_multiply_shift_per_axis reinterpret ret round rsqrt schedule shift_left shift_right sigmoid simdgroup_load
 simdgroup_multiply_accumulate simdgroup_store sin sinh sqrt start_profile_intrinsic stmt stmt_functor stmt_list
 stmt_seq subtract sum tan tanh tensor_intrin trace transform trunc truncdiv truncmod tvm_access_ptr tvm_bmma_sync
 tvm_check_return-0.21 tvm_fill_fragment tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array
 tvm_stack_make_shape tvm_store_matrix_sync tvm_struct_get tvm_struct_set tvm_thread_allreduce tvm_throw_last_error
 tvm_tuple type_annotation undef usmp-0.20 vectorcombine vectorhigh vectorlow vscale
tir.analysis-0.24 Block Buffer BufferRegion Dict IRModule List OOBChecker Object-0.20 Optional PrimExpr PrimFunc Stmt
 Union Var analysis apply_prim_func_arg_and_result_memory_constraints-0.20 assert_pure_function
 calculate_allocated_bytes calculate_constant_bytes-0.20 calculate_workspace_bytes-0.20 detect_buffer_access_lca
 estimate_tir_flops expr_deep_equal find_anchor_block get_block_access_region get_block_read_write_region
 get_prim_func_arg_and_result_memory_constraints-0.20 get_vtcm_compaction_passes has_if_then_else+0.23 is_pure_function
 tvm undefined_vars verify_gpu_code verify_memory verify_ssa verify_well_formed
tir.analysis.analysis-0.24 OOBChecker apply_prim_func_arg_and_result_memory_constraints-0.20 assert_pure_function
 calculate_allocated_bytes calculate_constant_bytes-0.20 calculate_workspace_bytes-0.20 detect_buffer_access_lca
 estimate_tir_flops expr_deep_equal find_anchor_block get_block_access_region get_block_read_write_region
 get_prim_func_arg_and_result_memory_constraints-0.20 get_vtcm_compaction_passes has_if_then_else+0.23 is_pure_function
 undefined_vars verify_gpu_code verify_memory verify_ssa verify_well_formed
tir.backend+0.23-0.24 adreno
tir.backend.adreno+0.23-0.24 get_tir_pipeline pipeline transform
tir.backend.adreno.pipeline+0.23-0.24 default_tir_pipeline finalize_device_passes finalize_host_passes get_tir_pipeline
tir.backend.adreno.transform+0.23-0.24 InjectTextureAlloc TextureFlatten transform
tir.backend.adreno.transform.transform+0.23-0.24 InjectTextureAlloc TextureFlatten
tir.block_dependence_info-0.24 BlockDependenceInfo
tir.block_scope-0.24 BlockScope DepKind Dependency StmtSRef
tir.buffer-0.24 Buffer DataProducer decl_buffer
tir.build+0.20-0.24 build codegen_build split_host_device_mods tir_to_runtime
tir.data_layout-0.24 BijectiveLayout Layout bijective_layout layout
tir.expr-0.24 Add And Any-0.20 BinaryOpExpr Broadcast BufferLoad Call CallEffectKind Cast CmpExpr CommReducer ConstExpr
 Div EQ EqualOp ExprOp FloatImm FloorDiv FloorMod GE GT IntImm IntImmEnum IterVar LE LT Let LogicalExpr Max Min Mod Mul
 NE Not NotEqualOp Or PrimExprWithOp ProducerLoad Ramp Reduce Select Shuffle SizeVar StringImm Sub Var convert
 div_ambiguity_error
tir.function-0.24 IndexMap PrimFunc TensorIntrin
tir.functor+0.21-0.24 PyStmtExprMutator PyStmtExprVisitor mutator visitor
tir.generic-0.24 add cast divide floordiv multiply subtract
tir.ir_builder-0.24 BufferVar IRBuilder WithScope create
tir.op-0.24 TVMBackendAllocWorkspace TVMBackendFreeWorkspace abs acos acosh address_of all any anylist_getitem
 anylist_resetitem anylist_setitem_call_cpacked anylist_setitem_call_packed asin asinh assume atan atan2 atanh
 bitwise_and bitwise_not bitwise_or bitwise_xor break_loop+0.22 call_cpacked call_cpacked_lowered call_extern
 call_intrin call_llvm_intrin call_llvm_pure_intrin call_packed call_packed_lowered call_pure_extern call_tir ceil
 ceildiv clz comm_reducer continue_loop+0.22 copysign cos cosh create_barriers div dp4a end_profile_intrinsic erf exp
 exp10 exp2 floor floordiv floormod fmod get_active_lane_mask get_vscale_expr handle_add_byte_offset+0.21 hypot
 if_then_else ignore_loop_partition+0.20 indexdiv indexmod infinity isfinite isinf isnan isnullptr ldexp likely log
 log10 log1p log2 logaddexp+0.21 lookup_param make_filled_simdgroup_matrix max max_value min min_value mma_fill
 mma_store nearbyint nextafter popcount pow power ptx_arrive_barrier ptx_arrive_barrier_expect_tx ptx_commit_group
 ptx_cp_async ptx_cp_async_barrier ptx_cp_async_bulk ptx_init_barrier_thread_count ptx_ldmatrix ptx_mma ptx_mma_sp
 ptx_wait_barrier ptx_wait_group q_multiply_shift q_multiply_shift_per_axis reinterpret ret round rsqrt shift_left
 shift_right sigmoid simdgroup_load simdgroup_multiply_accumulate simdgroup_store sin sinh sqrt start_profile_intrinsic
 sum tan tanh thread_return+0.22 trace trunc truncdiv truncmod tvm_access_ptr tvm_bmma_sync tvm_check_return-0.21
 tvm_fill_fragment tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array tvm_stack_make_shape
 tvm_storage_sync tvm_store_matrix_sync tvm_struct_get tvm_struct_set tvm_thread_allreduce tvm_thread_invariant
 tvm_throw_last_error tvm_tuple tvm_warp_activemask tvm_warp_shuffle tvm_warp_shuffle_down tvm_warp_shuffle_up
 type_annotation undef vectorcombine vectorhigh vectorlow vscale
tir.pipeline+0.20-0.24 PIPELINE_MAP default_tir_pipeline finalize_device_passes finalize_host_passes
 get_default_tir_pipeline get_tir_pipeline
tir.schedule-0.24 BlockRV BlockScope DepKind Dependency ExprRV Instruction InstructionKind LoopRV Schedule
 ScheduleDebugMask ScheduleError ScheduleState StmtSRef Trace analysis instruction schedule state testing trace
 transform
tir.schedule.analysis-0.24 AutoTensorizeMappingInfo TensorizeInfo get_auto_tensorize_mapping_info
 get_tensorize_loop_mapping has_block is_output_block suggest_index_map
tir.schedule.instruction-0.24 ATTR_TYPE INPUT_RV_TYPE Instruction InstructionKind OUTPUT_RV_TYPE RAND_VAR_TYPE
tir.schedule.schedule-0.24 BlockRV ExprRV LoopRV RAND_VAR_TYPE Schedule ScheduleError
tir.schedule.state-0.24 CachedFlags ScheduleDebugMask ScheduleState
tir.schedule.testing-0.24 assert_structural_equal_ignore_global_symbol verify_trace_roundtrip
tir.schedule.trace-0.24 DECISION_TYPE JSON_TYPE Schedule Trace
tir.schedule.transform-0.24 tile_with_tensor_intrin
tir.stmt-0.24 Allocate AllocateConst AssertStmt AttrStmt Block BlockRealize BufferRealize BufferRegion BufferStore
 DeclBuffer Evaluate For ForKind IfThenElse LetStmt MatchBufferRegion Prefetch-0.21 ProducerRealize-0.21
 ProducerStore-0.21 SeqStmt Stmt While stmt_list stmt_seq
tir.stmt_functor-0.24 ir_transform post_order_visit pre_order_visit renew_defs substitute
tir.tensor_intrin-0.24 *
tir.transform-0.24 AnnotateDeviceRegions AnnotateEntryFunc AnnotateIrregularLoop+0.22 Apply ApplyLayoutTransforms-0.20
 BF16ComputeLegalize BF16StorageLegalize BindTarget Callable CanonicalizeLoop+0.23 CoProcSync-0.20 CombineContextCall
 CommonSubexprElimTIR CompactBufferAllocation ConvertBlocksToOpaque ConvertForLoopsToSerial ConvertSSA
 DecorateDeviceScope DefaultGPUSchedule ExtractPrimFuncConstants FP8ComputeLegalize FP8StorageLegalize Filter
 FlattenBuffer ForceNarrowIndexToInt32 HoistExpression HoistExpressionConfig+0.22 HoistIfThenElse
 HoistIfThenElseConfig+0.22 HoistedConditionals HoistedLetBindings InferFragment InjectCopyIntrin-0.20
 InjectDoubleBuffer InjectDoubleBufferConfig+0.22 InjectPTXAsyncCopy InjectPTXLDG32+0.20 InjectPermutedLayout
 InjectPrefetch-0.20 InjectRollingBuffer InjectSoftwarePipeline InjectVirtualThread InlinePrivateFunctions
 InstallDebugSpans-0.20 InstrumentBoundCheckers InstrumentProfileIntrinsics LegalizePackedCalls-0.21 LiftAttrScope-0.20
 LiftThreadBinding LoopPartition LoopPartitionConfig+0.22 LowerAsyncDMA+0.20 LowerAutoCopy LowerCrossThreadReduction
 LowerCustomDatatypes LowerDeviceKernelLaunch LowerDeviceStorageAccessInfo LowerInitBlock LowerIntrin LowerMatchBuffer
 LowerOpaqueBlock LowerTVMBuiltin LowerThreadAllreduce LowerVtcmAlloc+0.20 LowerWarpMemory MakePackedAPI MakeUnpackedAPI
 ManifestSharedMemoryLocalStage MergeSharedMemoryAllocations NarrowDataType Optional
 PlanAndUpdateBufferAllocationLocation PointerValueTypeRewrite PrimFuncPass ReduceBranchingThroughOvercompute
 ReduceBranchingThroughOvercomputeConfig+0.22 RemoveAssume RemoveNoOp RemoveNoOpConfig+0.22 RemoveStoreUndef
 RemoveWeightLayoutRewriteBlock RenormalizeSplitPattern RewriteUnsafeSelect Simplify SimplifyConfig+0.22 SkipAssert
 SplitHostDevice StorageFlatten-0.20 StorageRewrite TextureFlatten-0.20 ThreadSync TransformMmaBufferLayout
 UnifyThreadBinding UnrollLoop UnrollLoopConfig+0.22 UseAssumeToReduceBranches VectorizeLoop VerifyMemory
 VerifyVTCMLimit enum function_pass prim_func_pass transform
tir.transform.function_pass-0.24 PrimFuncPass prim_func_pass
tir.transform.transform-0.24 AnnotateDeviceRegions AnnotateEntryFunc AnnotateIrregularLoop+0.22 Apply
 ApplyLayoutTransforms-0.20 BF16ComputeLegalize BF16StorageLegalize BindTarget CanonicalizeLoop+0.23 CoProcSync-0.20
 CombineContextCall CommonSubexprElimTIR CompactBufferAllocation ConvertBlocksToOpaque ConvertForLoopsToSerial
 ConvertSSA DecorateDeviceScope DefaultGPUSchedule ExtractPrimFuncConstants FP8ComputeLegalize FP8StorageLegalize Filter
 FlattenBuffer ForceNarrowIndexToInt32 HoistExpression HoistExpressionConfig+0.22 HoistIfThenElse
 HoistIfThenElseConfig+0.22 HoistedConditionals HoistedLetBindings InferFragment InjectCopyIntrin-0.20
 InjectDoubleBuffer InjectDoubleBufferConfig+0.22 InjectPTXAsyncCopy InjectPTXLDG32+0.20 InjectPermutedLayout
 InjectPrefetch-0.20 InjectRollingBuffer InjectSoftwarePipeline InjectVirtualThread InlinePrivateFunctions
 InstallDebugSpans-0.20 InstrumentBoundCheckers InstrumentProfileIntrinsics LegalizePackedCalls-0.21 LiftAttrScope-0.20
 LiftThreadBinding LoopPartition LoopPartitionConfig+0.22 LowerAsyncDMA+0.20 LowerAutoCopy LowerCrossThreadReduction
 LowerCustomDatatypes LowerDeviceKernelLaunch LowerDeviceStorageAccessInfo LowerInitBlock LowerIntrin LowerMatchBuffer
 LowerOpaqueBlock LowerTVMBuiltin LowerThreadAllreduce LowerVtcmAlloc+0.20 LowerWarpMemory MakePackedAPI MakeUnpackedAPI
 ManifestSharedMemoryLocalStage MergeSharedMemoryAllocations NarrowDataType PlanAndUpdateBufferAllocationLocation
 PointerValueTypeRewrite ReduceBranchingThroughOvercompute ReduceBranchingThroughOvercomputeConfig+0.22 RemoveAssume
 RemoveNoOp RemoveNoOpConfig+0.22 RemoveStoreUndef RemoveWeightLayoutRewriteBlock RenormalizeSplitPattern
 RewriteUnsafeSelect Simplify SimplifyConfig+0.22 SkipAssert SplitHostDevice StorageFlatten-0.20 StorageRewrite
 TextureFlatten-0.20 ThreadSync TransformMmaBufferLayout UnifyThreadBinding UnrollLoop UnrollLoopConfig+0.22
 UseAssumeToReduceBranches VectorizeLoop VerifyMemory VerifyVTCMLimit
tir.usmp-0.20 BufferInfo analysis transform utils
tir.usmp.analysis-0.20 analysis extract_buffer_info
tir.usmp.analysis.analysis-0.20 extract_buffer_info
tir.usmp.transform-0.20 convert_pool_allocations_to_offsets transform
tir.usmp.transform.transform-0.20 convert_pool_allocations_to_offsets
tir.usmp.utils-0.20 BufferInfo CANDIDATE_MEMORY_POOL_ATTR PoolAllocation use_workspace_io_is_enabled
tirx+0.24 Add AllocBuffer And AssertStmt AttrStmt Bind Break+0.26 Broadcast Buffer BufferAccessKind+0.26 BufferLoad
 BufferRegion BufferStore BufferType+0.26 Call-0.26 CallEffectKind Cast CommReducer ComposeLayout+0.25 Continue+0.26
 DataProducer DeclBuffer DispatchContext+0.26 Div EQ Evaluate ExecScope+0.25 Expr+0.26 ExprFunctor+0.25 FloatImm
 FloorDiv FloorMod For ForKind GE GT IfThenElse IndexMap IntImm IterVar LE LT LambdaExpr+0.26 Layout+0.25 Let
 LetStmt+0.25 MatchBufferRegion Max Min Mod Mul NE Not Or Predicate+0.25-0.26 PrimExpr-0.26 PrimFunc ProducerLoad
 PyStmtExprMutator PyStmtExprVisitor Ramp Reduce Return+0.26 SBlock SBlockRealize ScopeIdDef+0.25 ScopeIdDefStmt+0.25
 Select SeqStmt Shuffle SizeVar-0.26 Stmt StringImm Sub SwizzleLayout+0.25-0.26 TVMBackendAllocWorkspace
 TVMBackendFreeWorkspace TensorIntrin TileLayout+0.25 TilePrimitiveCall+0.25 Var While abs acos acosh add-0.26
 address_of all analysis any asin asinh assume atan atan2 atanh backend bench+0.25 bitwise_and bitwise_not bitwise_or
 bitwise_xor break_loop buffer buffer_data+0.26 buffer_data_pointer_type+0.26 build call_cpacked call_cpacked_lowered
 call_extern call_intrin call_llvm_intrin call_llvm_pure_intrin call_packed call_packed_lowered call_pure_extern
 call_tir ceil ceildiv clz comm_reducer compilation_pipeline+0.25 const continue_loop convert copysign cos cosh
 create_barriers-0.25 decl_buffer div dp4a end_profile_intrinsic erf exec_context+0.25 exec_scope+0.25 exp exp10 exp2
 expr expr_functor+0.25 floor floordiv floormod fmod function functor generic-0.26 get_active_lane_mask
 get_default_tir_pipeline get_tir_pipeline get_vscale_expr handle_add_byte_offset hypot if_then_else
 ignore_loop_partition indexdiv indexmod infinity is_buffer_var+0.26 isfinite isinf isnan isnullptr lang+0.25
 layout+0.25 ldexp likely log log10 log1p log2 logaddexp lookup_param make_filled_simdgroup_matrix-0.25 max max_value
 min min_value mma_fill-0.25 mma_store-0.25 multiply-0.26 nearbyint nextafter op operator+0.25 pipeline-0.25 popcount
 pow power predicate+0.25-0.26 ptr_byte_offset+0.25 ptx_arrive_barrier-0.25 ptx_arrive_barrier_expect_tx-0.25
 ptx_commit_group-0.25 ptx_cp_async-0.25 ptx_cp_async_barrier-0.25 ptx_cp_async_bulk-0.25
 ptx_init_barrier_thread_count-0.25 ptx_ldmatrix-0.25 ptx_mma-0.25 ptx_mma_sp-0.25 ptx_wait_barrier-0.25
 ptx_wait_group-0.25 q_multiply_shift q_multiply_shift_per_axis register_tir_pipeline+0.25 reinterpret ret-0.26 round
 rsqrt script shift_left shift_right sigmoid simdgroup_load-0.25 simdgroup_multiply_accumulate-0.25 simdgroup_store-0.25
 sin sinh sqrt start_profile_intrinsic stmt stmt_functor stmt_list stmt_seq subtract-0.26 sum tan tanh
 tile_primitive+0.26 trace transform trunc truncdiv truncmod tvm tvm_access_ptr tvm_bmma_sync tvm_fill_fragment
 tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array tvm_stack_make_shape tvm_store_matrix_sync
 tvm_struct_get tvm_struct_set tvm_thread_allreduce tvm_throw_last_error tvm_tuple type_annotation undef vectorcombine
 vectorhigh vectorlow vscale
tirx.analysis+0.24 Expr+0.26 IRModule PrimExpr-0.26 PrimFunc Stmt Var analysis expr_deep_equal undefined_vars
 verify_memory verify_ssa verify_tirx_well_formed+0.25 verify_well_formed
tirx.analysis.analysis+0.24 expr_deep_equal undefined_vars verify_memory verify_ssa verify_tirx_well_formed+0.25
 verify_well_formed
tirx.backend+0.24 adreno-0.25
tirx.backend.adreno+0.24-0.25
tirx.bench+0.25 *
tirx.buffer+0.24 Buffer BufferAccessKind+0.26 BufferType+0.26 DataProducer buffer_data+0.26
 buffer_data_pointer_type+0.26 decl_buffer is_buffer_var+0.26 tvm+0.26
tirx.build+0.24 build codegen_build split_host_device_mods tir_to_runtime
tirx.compilation_pipeline+0.25 PIPELINE_MAP default_tir_pipeline finalize_device_passes finalize_device_passes_tirx
 finalize_host_passes get_default_tir_pipeline get_tir_pipeline register_tir_pipeline tirx_pipeline
tirx.exec_context+0.25 ActiveSet AxisRange CLUSTER CTA ExecContext ExecContextError KERNEL LANE_CTA_THREAD LANE_FLAT
 LANE_WG_OUTER LANE_WG_THREAD LANE_W_INNER LaneBinding SCOPE_KINDS Split THREAD WARP WARPGROUP WG_SIZE filter_modulo
 filter_narrow initial_A scope_switch
tirx.exec_scope+0.25 ExecScope ScopeIdDef
tirx.expr+0.24 Add And BinaryOpExpr Broadcast BufferLoad Call-0.26 CallEffectKind Cast CmpExpr CommReducer ConstExpr Div
 EQ EqualOp ExprOp ExprWithOp+0.26 FloatImm FloorDiv FloorMod GE GT IntImm IntImmEnum IterVar LE LT Let LogicalExpr Max
 Min Mod Mul NE Not NotEqualOp Or PrimExprWithOp-0.26 ProducerLoad Ramp Reduce Select Shuffle SizeVar-0.26 StringImm Sub
 Var convert div_ambiguity_error
tirx.expr_functor+0.25 ExprFunctor ExprMutator ExprVisitor T
tirx.function+0.24 IndexMap PrimFunc TensorIntrin
tirx.functor+0.24 PyStmtExprMutator PyStmtExprVisitor mutator visitor
tirx.generic+0.24-0.26 add cast divide floordiv multiply subtract
tirx.lang+0.25 alloc_pool pipeline smem_desc tile_scheduler warp_role
tirx.lang.alloc_pool+0.25
tirx.lang.pipeline+0.25
tirx.lang.smem_desc+0.25
tirx.lang.tile_scheduler+0.25
tirx.lang.warp_role+0.25
tirx.layout+0.25 Axis ComposeLayout Iter Layout R S SwizzleLayout-0.26 TileLayout tcgen05_atom_layout
 tmem_datapath_layout tmem_mma_operand_layout+0.26 wg_local_layout
tirx.op+0.24 TVMBackendAllocWorkspace TVMBackendFreeWorkspace abs acos acosh address_of all any anylist_getitem
 anylist_resetitem anylist_setitem_call_cpacked anylist_setitem_call_packed asin asinh assume atan atan2 atanh
 bitwise_and bitwise_not bitwise_or bitwise_xor break_loop call_cpacked call_cpacked_lowered call_extern call_intrin
 call_llvm_intrin call_llvm_pure_intrin call_packed call_packed_lowered call_pure_extern call_tir ceil ceildiv clz
 comm_reducer continue_loop cooperative_tensor_fill+0.25 cooperative_tensor_load+0.25
 cooperative_tensor_multiply_accumulate+0.25 cooperative_tensor_store+0.25 copysign cos cosh create_barriers-0.25 div
 dp4a end_profile_intrinsic erf exp exp10 exp2 filter+0.25 floor floordiv floormod fma+0.25 fmod get_active_lane_mask
 get_vscale_expr handle_add_byte_offset hypot if_then_else ignore_loop_partition indexdiv indexmod infinity isfinite
 isinf isnan isnullptr ldexp likely log log10 log1p log2 logaddexp lookup_param make_filled_simdgroup_matrix-0.25 max
 max_value min min_value mma_fill-0.25 mma_store-0.25 nearbyint nextafter popcount pow power print_buffer+0.25
 ptr_byte_offset+0.25 ptx_arrive_barrier-0.25 ptx_arrive_barrier_expect_tx-0.25 ptx_commit_group-0.25 ptx_cp_async-0.25
 ptx_cp_async_barrier-0.25 ptx_cp_async_bulk-0.25 ptx_init_barrier_thread_count-0.25 ptx_ldmatrix-0.25 ptx_mma-0.25
 ptx_mma_sp-0.25 ptx_wait_barrier-0.25 ptx_wait_group-0.25 q_multiply_shift q_multiply_shift_per_axis reinterpret
 ret-0.26 round rsqrt selector+0.25 shift_left shift_right sigmoid simdgroup_load-0.25
 simdgroup_multiply_accumulate-0.25 simdgroup_store-0.25 sin sinh sqrt start_profile_intrinsic sum tan tanh
 thread_return tir+0.25 trace trunc truncdiv truncmod tvm_access_ptr tvm_bmma_sync tvm_fill_fragment
 tvm_global_barrier_kinit+0.25 tvm_kernel_replace_point+0.25 tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca
 tvm_stack_make_array tvm_stack_make_shape tvm_storage_sync tvm_store_matrix_sync tvm_struct_get tvm_struct_set
 tvm_thread_allreduce tvm_thread_invariant tvm_throw_last_error tvm_tuple tvm_warp_activemask tvm_warp_shuffle
 tvm_warp_shuffle_down tvm_warp_shuffle_up tvm_warp_shuffle_xor+0.25 type_annotation undef vectorcombine vectorhigh
 vectorlow vscale
tirx.operator+0.25 *
tirx.pipeline+0.24-0.25 PIPELINE_MAP finalize_device_passes finalize_host_passes get_default_tir_pipeline
 get_tir_pipeline
tirx.predicate+0.25-0.26 Predicate
tirx.script+0.24 *
tirx.stmt+0.24 AllocBuffer AssertStmt AttrStmt Bind Break+0.25 BufferRegion BufferStore Continue+0.25 DeclBuffer
 DispatchContext+0.25-0.26 Evaluate For ForKind IfThenElse MatchBufferRegion Return+0.26 SBlock SBlockRealize
 ScopeIdDefStmt+0.25 SeqStmt Stmt TilePrimitiveCall+0.25-0.26 While normalize_const_arg+0.25-0.26 stmt_list stmt_seq
tirx.stmt_functor+0.24 StmtExprMutator+0.25 StmtExprVisitor+0.25 StmtFunctor+0.25 StmtMutator+0.25 StmtVisitor+0.25
 T+0.25 ir_transform post_order_visit pre_order_visit renew_defs+0.25 substitute
tirx.tile_primitive+0.26 DispatchContext LambdaExpr TilePrimitiveCall normalize_const_arg
tirx.transform+0.24 AnnotateDeviceRegions-0.25 AnnotateEntryFunc Apply BF16ComputeLegalize BF16StorageLegalize
 BindTarget Callable CommonSubexprElim ConvertSSA FP8ComputeLegalize FP8StorageLegalize Filter FlattenBuffer
 ForceNarrowIndexToInt32 HoistExpressionConfig HoistIfThenElseConfig HoistedConditionals HoistedLetBindings
 InlinePrivateFunctions LowerCustomDatatypes-0.25 LowerDeviceKernelLaunch-0.25 LowerIntrin LowerTIRx+0.25
 LowerTIRxOpaque+0.25 LowerTVMBuiltin LowerWarpMemory MakePackedAPI NarrowDataType PointerValueTypeRewrite PrimFuncPass
 RemoveAssume RemoveNoOp RemoveNoOpConfig Simplify-0.25 SimplifyConfig-0.25 SkipAssert SplitHostDevice StmtSimplify+0.25
 StmtSimplifyConfig+0.25 StorageRewrite TilePrimitiveDispatch+0.25 UnrollLoop UnrollLoopConfig VectorizeLoop
 VerifyMemory common+0.25 enum function_pass prim_func_pass transform
tirx.transform.common+0.25 BufferReplacer KernelReplacePointSearcher seek_kernel_replace_point
tirx.transform.function_pass+0.24 PrimFuncPass prim_func_pass
tirx.transform.transform+0.24 AnnotateDeviceRegions-0.25 AnnotateEntryFunc Apply BF16ComputeLegalize BF16StorageLegalize
 BindTarget CommonSubexprElim ConvertSSA FP8ComputeLegalize FP8StorageLegalize Filter FlattenBuffer
 ForceNarrowIndexToInt32 HoistExpressionConfig HoistIfThenElseConfig HoistedConditionals HoistedLetBindings
 InlinePrivateFunctions LowerCustomDatatypes-0.25 LowerDeviceKernelLaunch-0.25 LowerIntrin LowerTIRx+0.25
 LowerTIRxOpaque+0.25 LowerTVMBuiltin LowerWarpMemory MakePackedAPI NarrowDataType PointerValueTypeRewrite RemoveAssume
 RemoveNoOp RemoveNoOpConfig Simplify-0.25 SimplifyConfig-0.25 SkipAssert SplitHostDevice StmtSimplify+0.25
 StmtSimplifyConfig+0.25 StorageRewrite TilePrimitiveDispatch+0.25 UnrollLoop UnrollLoopConfig VectorizeLoop
 VerifyMemory
topi *
utils-0.20 roofline roofline_analysis
utils.roofline-0.20 Device Dict GlobalVar IRModule Optional RPCSession RPC_SESS_MASK SaveLoweredTIR T Target Union
 auto_scheduler build cuda get_global_func nd np num_threads pass_instrument profiler_vm profiling registry relay
 roofline_analysis roofline_from_existing tir topi transform utils x86
utils.roofline.cuda-0.20 estimate_peak_bandwidth estimate_peak_bandwidth_global_mem estimate_peak_flops
 estimate_peak_flops_fma estimate_peak_flops_tensorcore peak_bandwidth_tir
utils.roofline.registry-0.20 estimate_peak_bandwidth estimate_peak_flops
utils.roofline.x86-0.20 estimate_peak_bandwidth estimate_peak_bandwidth_dram estimate_peak_fma_flops
 estimate_peak_fma_vector_flops peak_bandwidth_tir
"""
