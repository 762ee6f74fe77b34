// Keeps LLVM's loop vectorizer from loops that would take it exponential time, or that it compiles to wrong code.
#pragma once

namespace llvm {
class PassBuilder;
}

namespace iropt::codegen {

// Adds a pass before the loop vectorizer that disables it for innermost loops with deep chains of values that are the
// same in all iterations. O(instructions).
//
// LLVM asks whether a value is such a one by asking so of its operands, again each time (vputils::isSingleScalar). The
// minimum of n values is a comparison and a selection that both use the minimum of the n - 1 before, which takes 2^n
// steps.
//
// It also loads A[(i * 3 + 2) % 16] for several i as every third element from A[2] on, as if the index did not wrap
// around (LLVM 22, InterleavedAccessInfo: it takes the stride to be constant, and does not check).
//
// And it computes a division under a condition only once for a vector of iterations if it is the same in all of them,
// but divides by 1 where the condition does not hold for the first one: `if (i > 0) y[i] = x[k % n]` stores x[0]
// (LLVM 22, also clang -O3). Such a division is done before the loop.
void GuardVectorizer(llvm::PassBuilder& passes);

}  // namespace iropt::codegen
