// The part of dataflow block passes that looks into functions.
#pragma once

#include "iropt/pass/pass.h"

namespace iropt {

// `function` with every dataflow block replaced by the result of `run`, which handles everything inside of the block.
// Fails if a block lost an output or a symbolic variable.
Result<const Function*> RewriteDataflowBlocks(const Function* function, const DataflowBlockPassFn& run,
                                              FunctionPassContext& context);

}  // namespace iropt
