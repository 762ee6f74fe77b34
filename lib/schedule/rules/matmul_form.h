// The form of matrix products in which the rules for GPUs schedule them, and what is inlined around them.
#pragma once

#include <optional>

#include "rule_schedule.h"

namespace iropt::schedule {

// The only block that reduces, if all others are data parallel; nothing otherwise.
std::optional<Name> FindOnlyReduction(RuleSchedule& sch, const Names& blocks);
// Returns whether the block multiplies matrices, C[S, I, J] += A[S, I, K] * B[S, J, K], with any number of axes of each
// kind.
bool IsMatmul(const tir::Block& block);
// C[S, I, J] += A[S, I, K] * B[S, J, K], through copies of the operands. Fails if the block is not such a product.
bool NormalizeMatmul(RuleSchedule& sch, const Name& main);
// Inlines what the block reads, as far as that is possible.
void InlineProducers(RuleSchedule& sch, const Name& block);
// Inlines all blocks after this one into it. Fails if some remain.
void InlineConsumerChain(RuleSchedule& sch, const Name& block);

}  // namespace iropt::schedule
