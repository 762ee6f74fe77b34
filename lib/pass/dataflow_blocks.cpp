#include "dataflow_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "iropt/ir/relax/mutator.h"

namespace iropt {

namespace {

// The definitions of a block for the code after it: its outputs, and the symbolic variables of its match_casts.
struct BlockInterface {
  std::vector<const Var*> outputs;
  std::vector<const tir::Var*> sym_vars;
};

void CollectDims(std::span<const PrimExpr* const> dims, std::vector<const tir::Var*>& out) {
  // Only a dimension that is a variable introduces it.
  for (const PrimExpr* dim : dims) {
    if (const auto* var = As<tir::Var>(dim)) out.push_back(var);
  }
}

void CollectSymVars(const Type* type, std::vector<const tir::Var*>& out) {
  if (!type->has_sym_var()) return;
  WithStack([&] {
    if (const auto* tensor = As<TensorType>(type)) {
      CollectDims(tensor->dims, out);
    } else if (const auto* shape = As<ShapeType>(type)) {
      CollectDims(shape->values, out);
    } else if (const auto* prim = As<PrimType>(type)) {
      if (prim->value != nullptr) CollectDims({&prim->value, 1}, out);
    } else if (const auto* tuple = As<TupleType>(type)) {
      for (const Type* field : tuple->fields) CollectSymVars(field, out);
    }
  });
}

BlockInterface InterfaceOf(const DataflowBlock& block) {
  BlockInterface interface;
  for (const Binding* binding : block.bindings) {
    if (!binding->var->is_dataflow()) interface.outputs.push_back(binding->var);
    if (const auto* cast = As<MatchCast>(binding)) CollectSymVars(cast->match_type, interface.sym_vars);
  }
  return interface;
}

// The first variable of `needed` that `present` does not have, or null.
template <class V>
const V* FirstMissing(const std::vector<const V*>& needed, std::vector<const V*> present) {
  std::ranges::sort(present, std::less<>());
  const auto is_missing = [&](const V* var) { return !std::ranges::binary_search(present, var, std::less<>()); };
  const auto missing = std::ranges::find_if(needed, is_missing);
  return missing == needed.end() ? nullptr : *missing;
}

Status CheckInterface(const DataflowBlock& before, const DataflowBlock* after) {
  if (after == nullptr) return Error{ErrorCode::PassFailed, "the run on a dataflow block returned no block"};
  const BlockInterface needed = InterfaceOf(before);
  const BlockInterface present = InterfaceOf(*after);
  if (const Var* var = FirstMissing(needed.outputs, present.outputs)) {
    return Error{
        ErrorCode::PassFailed,
        fmt::format("a pass over dataflow blocks must keep their outputs, but '{}' is no longer bound", var->name())};
  }
  if (const tir::Var* var = FirstMissing(needed.sym_vars, present.sym_vars)) {
    return Error{ErrorCode::PassFailed,
                 fmt::format("a pass over dataflow blocks must keep the symbolic variables that they "
                             "define, but '{}' is no longer defined",
                             var->name)};
  }
  return {};
}

class BlockRewriter : public ExprMutator {
 public:
  BlockRewriter(const DataflowBlockPassFn& run, FunctionPassContext& context)
      : ExprMutator(context.workspace()), run_(run), context_(context) {}

  Result<const Function*> Rewrite(const Function* function) {
    const Expr* rewritten = VisitExpr(function);
    if (!status_.ok()) return status_.TakeError();
    return To<Function>(rewritten);
  }

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (!block->is_dataflow() || !status_.ok()) return ExprMutator::VisitBlock(block);
    const auto* before = To<DataflowBlock>(block);
    Result<const DataflowBlock*> after = run_(before, context_);
    status_ = after.ok() ? CheckInterface(*before, *after) : Status(after.TakeError());
    return status_.ok() ? *after : before;
  }

 private:
  const DataflowBlockPassFn& run_;
  FunctionPassContext& context_;
  Status status_;
};

}  // namespace

Result<const Function*> RewriteDataflowBlocks(const Function* function, const DataflowBlockPassFn& run,
                                              FunctionPassContext& context) {
  return BlockRewriter(run, context).Rewrite(function);
}

}  // namespace iropt
