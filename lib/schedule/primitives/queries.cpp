// Finding blocks and loops.
#include <fmt/format.h>

#include "iropt/support/edit_distance.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

Status ApplyGetBlock(PrimitiveCall& call, const args::GetBlock<Resolved>& args) {
  const std::string& own = call.schedule().func_name();
  const std::string& function = own.empty() ? args.func_name : own;
  const std::string& name = args.name;
  State* state = call.schedule().StateOf(function);
  if (!state) return call.Refuse(fmt::format("the module has no PrimFunc '{}' with a block to schedule", function));
  const std::vector<Ref*> found = state->BlocksNamed(name);
  if (found.empty())
    return call.Refuse(
        fmt::format("unknown block '{}'{}", name, DidYouMeanOr("; the function has ", name, state->BlockNames())));
  if (found.size() > 1) return call.Refuse(fmt::format("there are {} blocks '{}': expected one", found.size(), name));
  call.Return(*state, found[0]);
  return {};
}

Status ApplyGetLoops(PrimitiveCall& call, const args::GetLoops<Resolved>& args) {
  call.Return(call.state().LoopsOf(args.block));
  return {};
}

Status ApplyGetChildBlocks(PrimitiveCall& call, const args::GetChildBlocks<Resolved>& args) {
  call.Return(call.state().ChildrenOf(args.block_or_loop));
  return {};
}

Status ApplyGetProducers(PrimitiveCall& call, const args::GetProducers<Resolved>& args) {
  Ref* block = args.block;
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(call.state(), block, /*stage_pipeline=*/false));
  call.Return(call.state().ScopeInfo(scope).ProducersOf(block));
  return {};
}

Status ApplyGetConsumers(PrimitiveCall& call, const args::GetConsumers<Resolved>& args) {
  Ref* block = args.block;
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(call.state(), block, /*stage_pipeline=*/false));
  call.Return(call.state().ScopeInfo(scope).ConsumersOf(block));
  return {};
}

Status ApplyGetOutputBlocks(PrimitiveCall& call, const args::GetOutputBlocks<Resolved>& args) {
  State& state = call.state();
  for (const tir::Block* block : BlocksOf(args.scope_block->block().body)) {
    Ref* ref = state.RefOf(block);
    if (IsOutputBlock(ref, state.ScopeOf(ref))) call.Return(ref);
  }
  return {};
}

Status ApplyEnterPostproc(PrimitiveCall&, const args::EnterPostproc<Resolved>&) { return {}; }

}  // namespace iropt::schedule
