// Tensor intrinsics that compute with matrices of a few rows and columns: CUDA's WMMA, and Metal's SIMD groups.
#pragma once

#include <string>
#include <string_view>

namespace iropt {

// The functions that describe and implement the intrinsic of the name, for the class of a module; empty if there is
// none. The names are TVM's: wmma_load_16x16x16_f16_b_trans_shared_dyn, simdgroup_store_8x8x8_f16_shared.
std::string MatrixIntrinsicText(std::string_view name);

}  // namespace iropt
