"""The names of the tensor intrinsics that are built in, under those that TVM has for them."""
VNNI_DOT_16x4_INTRIN = "dot_16x4_vnni"
AVX512_DOT_16x4_INTRIN = "dot_16x4_avx512"
ARM_DOT_4x4_i8_NEON_INTRIN = "dot_4x4_i8i8s32_neon"
ARM_DOT_4x4_i8_SDOT_INTRIN = "dot_4x4_i8i8s32_sdot"
ARM_DOT_4x4_u8_UDOT_INTRIN = "dot_4x4_u8u8u32_udot"
ARM_DOT_4x4_u8_HDOT_INTRIN = "dot_4x4_u8u8i32_hdot"
DP4A_S8S8S32_INTRIN = "dp4a_s8s8s32"
DP4A_U8S8S32_INTRIN = "dp4a_u8s8s32"
DP4A_S8U8S32_INTRIN = "dp4a_s8u8s32"
DP4A_U8U8U32_INTRIN = "dp4a_u8u8u32"
AMDGPU_SDOT4_INTRIN = "sdot4"


def get_wmma_intrin_group(load_scope, store_scope, in_dtype, out_dtype, trans_b):
    """The names of the intrinsics that multiply matrices of 16 x 16 in the tensor cores of a GPU, by what they do.

    load_scope: the memory that operands come from, "shared" or "shared.dyn"; store_scope: that of the result, "global" too.
    """
    scopes, shape = ("shared", "shared.dyn"), "16x16x16"
    types = {"float16": "f16", "float32": "f32", "int8": "s8", "int32": "s32"}
    if load_scope not in scopes or store_scope not in ("global", *scopes) or in_dtype not in ("float16", "int8") or \
            out_dtype not in ("float16", "float32", "int32"):
        raise ValueError(f"the tensor cores have no multiplication of {in_dtype} from {load_scope} to {out_dtype} in {store_scope}")
    given, made = types[in_dtype], types[out_dtype]
    load, store, transposed = load_scope.replace(".", "_"), store_scope.replace(".", "_"), "_trans" if trans_b else ""
    return {"init": f"wmma_fill_{shape}_{made}", "load_a": f"wmma_load_{shape}_{given}_a_{load}",
            "load_b": f"wmma_load_{shape}_{given}_b{transposed}_{load}",
            "compute": f"wmma_sync_{shape}_{given}{given}{made}{transposed}", "store": f"wmma_store_{shape}_{made}_{store}"}


# ---- Where the threads of a warp keep the elements of tiles: (thread, place) of (row, column)
def shared_16x16_to_ldmatrix_32x8_layout(i, j):
    """The place of an element of a tile of 16 x 16."""
    return 4 * (i % 8) + (j % 8) // 2, 4 * (j // 8) + (i // 8) * 2 + j % 2


def shared_16x32_to_ldmatrix_32x16_layout(i, j):
    """The place of an element of a tile of 16 x 32."""
    return 4 * (i % 8) + (j % 16) // 4, 8 * (j // 16) + (i // 8) * 4 + j % 4


def shared_32x16_to_ldmatrix_32x16_layout(i, j):
    """The place of an element of a tile of 32 x 16."""
    return (i % 16) // 4 + 4 * (j % 8), 8 * (j // 8) + (i // 16) * 4 + i % 4


def ldmatrix_32x8_to_shared_16x16_layout(thread_id, local_id):
    """The element of a tile of 16 x 16 at a place, as (row, column)."""
    return 8 * (local_id % 4 // 2) + thread_id // 4, 8 * (local_id // 4) + thread_id % 4 * 2 + local_id % 2


def __getattr__(name):
    """Names of intrinsics for tensor cores: WMMA_LOAD_16x16x16_F16_A_DYN_INTRIN is wmma_load_16x16x16_f16_a_shared_dyn."""
    from .schedule.intrinsics import find

    if name.startswith("WMMA_") and name.endswith("_INTRIN"):
        text = name.removesuffix("_INTRIN").lower()
        if text.startswith("wmma_load"):
            text = f"{text.removesuffix('_dyn')}_shared{'_dyn' if text.endswith('_dyn') else ''}"
        if find(text) is not None:
            return text
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
