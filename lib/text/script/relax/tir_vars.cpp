#include "tir_vars.h"

#include <algorithm>
#include <vector>

#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/support/lookup.h"

namespace iropt::text {
namespace {

const GlobalVar* CalleeOf(const Call& call) {
  const auto* op = As<Op>(call.op);
  if (!op || !IsOneOf(*op, op::kCallTir, op::kCallTirInplace, op::kCallTirWithGrad)) return nullptr;
  return call.args.size() >= 2 && call.type_args && call.type_args->fields.size() == 1 ? As<GlobalVar>(call.args[0])
                                                                                       : nullptr;
}

// Those that are parameters of their own: a result that is written in place is an argument.
uint32_t NumResults(const Call& call) {
  if (IsOp(call.op, op::kCallTirInplace)) {
    const std::vector<int64_t> indices = InplaceAttrs(call).inplace_indices().vector();
    return static_cast<uint32_t>(std::ranges::count(indices, -1));
  }
  const auto* tuple = As<TupleType>(call.type_args->fields[0]);
  return tuple ? tuple->fields.size() : 1;
}

// The scalars at the end of the arguments, all of type int64.
uint32_t NumTrailingScalars(const Call& call) {
  const auto* tuple = As<Tuple>(call.args[1]);
  uint32_t count = 0;
  while (tuple && count < tuple->fields.size()) {
    const auto* scalar = As<PrimValue>(tuple->fields[tuple->fields.size() - 1 - count]);
    if (!scalar || scalar->value->dtype != DataType::Int(64)) break;
    ++count;
  }
  return count;
}

bool TakesScalars(const PrimFunc& func, uint32_t begin, uint32_t count) {
  if (begin + count > func.params.size()) return false;
  return std::none_of(func.param_buffers.begin() + begin, func.param_buffers.begin() + begin + count,
                      [](const tir::Buffer* buffer) { return buffer != nullptr; });
}

// Collects the functions all of whose uses are calls of one form; `scalars_of` gives the scalars of a call, 0 for one
// of another form.
template <class F>
class FindCalls : public WalkHandler {
 public:
  FindCalls(const Module& module, F scalars_of) : module_(module), scalars_of_(scalars_of) {}

  void OnGlobal(const GlobalVar* var) { ++uses_[var]; }
  void OnCall(const Call& call) {
    const GlobalVar* callee = CalleeOf(call);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!func) return;
    const ScalarArgs args{scalars_of_(call, *func), NumResults(call)};
    if (args.scalars == 0) return;
    const auto [known, added] = found_.try_emplace(callee, args);
    if (added || known->second == args) ++calls_[callee];
  }

  ScalarArgsByFunc Take() {
    std::erase_if(found_, [&](const auto& entry) { return uses_[entry.first] != calls_[entry.first]; });
    return std::move(found_);
  }

 private:
  const Module& module_;
  F scalars_of_;
  ScalarArgsByFunc found_;
  LookupMap<const GlobalVar*, size_t> uses_, calls_;
};

template <class F>
ScalarArgsByFunc Find(const Module& module, F scalars_of) {
  const auto has_scalars = [](const ModuleEntry& entry) {
    const auto* func = As<PrimFunc>(entry.func);
    return func && std::ranges::find(func->param_buffers, nullptr) != func->param_buffers.end();
  };
  if (std::ranges::none_of(module.functions(), has_scalars)) return {};
  FindCalls<F> handler(module, scalars_of);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(function, handler);
  }
  return handler.Take();
}

class MoveScalars : public ExprMutator {
 public:
  MoveScalars(Workspace& workspace, const ScalarArgsByFunc& moved) : ExprMutator(workspace), moved_(moved) {}
  using ExprMutator::VisitExpr;

 protected:
  const Expr* VisitCall(const Call* call) override {
    const GlobalVar* callee = CalleeOf(*call);
    const auto known = callee ? moved_.find(callee) : moved_.end();
    if (known == moved_.end()) return ExprMutator::VisitCall(call);
    const auto* tuple = To<Tuple>(call->args[1]);
    const size_t tensors = tuple->fields.size() - known->second.scalars;
    std::vector<const PrimExpr*> scalars;
    for (const Expr* field : tuple->fields.span().subspan(tensors)) scalars.push_back(To<PrimValue>(field)->value);
    std::vector<const Type*> types;
    for (const Expr* field : tuple->fields.span().first(tensors)) types.push_back(field->type);
    Workspace& ws = workspace();
    const std::vector<const Expr*> args = {
        call->args[0], ws.New<Tuple>(ws.Copy(tuple->fields.span().first(tensors)), TupleType::Get(ws.arena(), types)),
        ws.New<ShapeExpr>(ws.Copy(scalars), ShapeType::Get(scalars))};
    auto* result = ws.New<Call>(call->op, ws.Copy(args), call->attrs, call->type_args, call->type);
    result->set_span(call->span());
    return result;
  }

 private:
  const ScalarArgsByFunc& moved_;
};

// The scalars before the results go after them.
const PrimFunc* WithScalarsLast(const PrimFunc* func, const ScalarArgs& args, Workspace& ws) {
  std::vector<const tir::Var*> params(func->params.begin(), func->params.end());
  std::vector<const tir::Buffer*> buffers(func->param_buffers.begin(), func->param_buffers.end());
  const auto begin = static_cast<ptrdiff_t>(params.size() - args.results - args.scalars);
  const auto middle = begin + static_cast<ptrdiff_t>(args.scalars);
  std::rotate(params.begin() + begin, params.begin() + middle, params.end());
  std::rotate(buffers.begin() + begin, buffers.begin() + middle, buffers.end());
  auto* result = ws.New<PrimFunc>(ws.Copy(params), ws.Copy(buffers), func->body, func->ret_type, func->attrs, nullptr);
  result->set_span(func->span());
  result->type = PrimFuncType(result);
  return result;
}

}  // namespace

void MoveScalarsToTirVars(Module& module) {
  const ScalarArgsByFunc moved = Find(module, [](const Call& call, const PrimFunc& func) -> uint32_t {
    const uint32_t scalars = call.args.size() == 2 ? NumTrailingScalars(call) : 0;
    const uint32_t results = NumResults(call);
    if (scalars == 0 || func.params.size() != As<Tuple>(call.args[1])->fields.size() + results) return 0;
    return TakesScalars(func, func.params.size() - results - scalars, scalars) ? scalars : 0;
  });
  if (moved.empty()) return;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    Workspace ws(module, entry.storage);
    const BaseFunc* changed = entry.func;
    if (const auto* function = As<Function>(entry.func)) {
      changed = static_cast<const BaseFunc*>(MoveScalars(ws, moved).VisitExpr(function));
    } else if (const auto known = moved.find(entry.var); known != moved.end()) {
      changed = WithScalarsLast(To<PrimFunc>(entry.func), known->second, ws);
    }
    if (changed != entry.func) module.SetAt(i, changed, ws.Finish());
  }
}

ScalarArgsByFunc FindTirVars(const Module& module) {
  return Find(module, [](const Call& call, const PrimFunc& func) -> uint32_t {
    const auto* scalars = call.args.size() == 3 ? As<ShapeExpr>(call.args[2]) : nullptr;
    const uint32_t count = scalars ? scalars->values.size() : 0;
    if (count == 0 || func.params.size() < count + NumResults(call)) return 0;
    return TakesScalars(func, func.params.size() - count, count) ? count : 0;
  });
}

}  // namespace iropt::text
