// tir.VerifyRaces: refuses kernels whose threads race, and parallel and vectorized loops whose iterations do.
//
//   S[tx] = A[tx]                 # error: threads of a block race on 'S'
//   B[tx] = S[63 - tx]
//
// What is not decided is a warning with the reason. In a function with blocks, threads are as in step as barriers
// between all statements would have them, since tir.ThreadSync is yet to add these. Nothing changes. The cost is that
// of FindRaces.
#include "iropt/analysis/tir/races.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/VerifyRaces.h"

namespace iropt {

Pass CreateVerifyRaces(const PassOptions& options) {
  const pass_options::VerifyRaces given(options);
  const RaceOptions limits = {.max_values = static_cast<uint64_t>(*given.max_values),
                              .solver_limit = static_cast<uint64_t>(*given.solver_limit)};
  return CreatePrimFuncPass(options.info(), [limits](const PrimFunc* func, FunctionPassContext& context) {
    ReportRaces(FindRaces(*func, limits, context.workspace()), context.diagnostics());
    return Result<const PrimFunc*>(func);
  });
}

}  // namespace iropt
