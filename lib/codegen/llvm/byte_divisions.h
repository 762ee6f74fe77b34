// Keeps LLVM from a wrong code of its own for divisions of vectors of bytes.
#pragma once

namespace llvm {
class Module;
}

namespace iropt::codegen {

// Computes quotients and remainders of vectors of bytes in 16 bits; to be called after all optimizations, which would
// narrow them again. O(instructions).
//
// LLVM 22.1 replaces vectors of bytes that depend on such a quotient by a constant zero, on processors with AVX2: the
// product of x[3 - i] % 3 and x[0], for example.
void WidenByteDivisions(llvm::Module& module);

}  // namespace iropt::codegen
