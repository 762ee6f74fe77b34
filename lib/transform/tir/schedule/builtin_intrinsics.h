// The tensor intrinsics that are known without a file, those of TVM's python/tvm/tir/tensor_intrin for instructions of
// CPUs and for dot products on GPUs.
#pragma once

#include <string>
#include <string_view>

#include "iropt/support/text_version.h"

namespace iropt {

// The functions NAME_desc and NAME_impl in TVMScript; empty if there is no such intrinsic. The call of an instruction
// of LLVM states how many of its arguments have the types that choose the instruction, before TVM 0.22.
std::string BuiltinIntrinsicText(std::string_view name, TextVersion version);

}  // namespace iropt
