#include "verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "iropt/ir/prefetched_range.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// A description of the expression for messages.
std::string_view KindText(const Expr& e) {
  switch (e.kind) {
    case NodeKind::kCall: return "a call";
    case NodeKind::kTupleGetItem: return "a projection";
    case NodeKind::kIf: return "a conditional";
    case NodeKind::kSeqExpr: return "a sequence of bindings";
    case NodeKind::kFunction: return "a function";
    case NodeKind::kPrimFunc: return "a PrimFunc";
    default: return "not an operand";
  }
}

// Returns whether a tensor or a scalar has a known dtype in both types, and not the same.
bool HasOtherDtype(const Type* declared, const Type* actual) {
  if (const auto* a = As<TensorType>(declared), *b = As<TensorType>(actual); a && b) {
    return !a->dtype.is_void() && !b->dtype.is_void() && a->dtype != b->dtype;
  }
  if (const auto* a = As<PrimType>(declared), *b = As<PrimType>(actual); a && b) return a->dtype != b->dtype;
  const auto *a = As<TupleType>(declared), *b = As<TupleType>(actual);
  if (!a || !b || a->fields.size() != b->fields.size()) return false;
  return WithStack([&] { return !std::ranges::equal(a->fields, b->fields, std::not_fn(HasOtherDtype)); });
}

}  // namespace

SourceSpan RelaxVerifier::At(const Node& node) const {
  for (const Node* n : {&node, around_, function_}) {
    if (n && n->span().known()) return Location(*n);
  }
  return {};
}

// ---- Functions

void RelaxVerifier::Verify(const ModuleEntry& entry) {
  const auto& f = *To<Function>(entry.func);
  function_ = &f;
  around_ = nullptr;
  vars_.Reset(entry.storage->num_vars);
  const std::string_view symbol = f.StringAttr(attr::kGlobalSymbol);
  if (!symbol.empty() && symbol != entry.var->name) {
    Error(f, "global-symbol", fmt::format("function '{}' has the global symbol '{}'", entry.var->name, symbol));
  }
  function_ = nullptr;
  VisitFunction(f);
}

void RelaxVerifier::VisitFunction(const Function& f) {
  const Node* const outer_function = std::exchange(function_, &f);
  const Node* const outer_binding = std::exchange(around_, nullptr);
  const bool forced = IsForcedPure(f);
  const FunctionState outer = std::exchange(state_, {f.is_pure && !forced ? &f : nullptr, 0});
  const bool nested = outer_function != nullptr;
  const size_t vars = nested ? vars_.Enter() : 0;
  const SymVarScope::Mark sym_vars = sym_vars_.EnterFunction();
  if (forced && !f.is_pure) {
    Error(f, "force-pure", fmt::format("an impure function has the attribute '{}'", attr::kForcePure));
  }
  VisitParams(f);
  if (f.ret_type) {
    UseType(f.ret_type, f);
  } else {
    Error(f, "missing-type", "the function has no result type");
  }
  VisitBody(f.body, f, "the body of a function");
  if (check_types_) CheckResultType(f);
  if (nested) vars_.Leave(vars);
  sym_vars_.LeaveTo(sym_vars);
  state_ = outer;
  around_ = outer_binding;
  function_ = outer_function;
}

// A result type may say less than the body, and more, which callers then rely on. One that excludes every value of the
// body is a mistake. TVM takes such modules, and its own tests have results of another shape or structure, so these are
// warnings; a result of another dtype is an error.
void RelaxVerifier::CheckResultType(const Function& f) {
  const auto* seq = As<SeqExpr>(f.body);
  const Type* actual = seq ? TypeOfExpr(seq->body, &module_) : nullptr;
  if (!actual || !f.ret_type || f.ret_type == actual) return;
  if (TypeBaseCheck(f.ret_type, actual) != BaseCheck::kFailL0) return;
  std::string message = fmt::format("the function returns {}, which its result type {} excludes", TypeToString(actual),
                                    TypeToString(f.ret_type));
  if (HasOtherDtype(f.ret_type, actual)) {
    Error(f, "result-dtype", std::move(message));
  } else {
    diagnostics_.Warning(At(f), "result-type", std::move(message));
  }
}

void RelaxVerifier::VisitParams(const Function& f) {
  // A parameter's type may use symbolic variables that a later parameter defines, so all are defined first.
  for (const Var* param : f.params) {
    if (param->type) DefineSymVars(param->type);
  }
  for (const Var* param : f.params) {
    if (param->is_dataflow()) {
      Error(*param, "misplaced-dataflow-variable", fmt::format("parameter '{}' is a dataflow variable", param->name()));
    } else {
      Define(param);
    }
  }
  for (const Var* param : f.params) CheckType(param->type, *param);
}

void RelaxVerifier::VisitBody(const Expr* body, const Node& owner, std::string_view what) {
  const auto* seq = As<SeqExpr>(body);
  if (!seq) {
    Error(body ? *body : owner, "not-in-normal-form", fmt::format("{} is not a sequence of bindings", what));
    return;
  }
  for (const BindingBlock* block : seq->blocks) VisitBlock(*block);
  around_ = nullptr;
  VisitLeaf(seq->body, *seq, "result");
  CheckType(seq->type, *seq);
}

void RelaxVerifier::VisitBlock(const BindingBlock& block) {
  const uint32_t outer = std::exchange(state_.dataflow_block, block.is_dataflow() ? ++num_dataflow_blocks_ : 0);
  for (const Binding* binding : PrefetchedRange(block.bindings)) {
    if (diagnostics_.error_limit_reached()) break;
    around_ = binding;
    if (binding->kind == NodeKind::kVarBinding) {
      VisitBinding(*static_cast<const VarBinding*>(binding));
    } else {
      VisitBinding(*static_cast<const MatchCast*>(binding));
    }
  }
  state_.dataflow_block = outer;
}

void RelaxVerifier::VisitBinding(const VarBinding& binding) {
  if (const auto* function = As<Function>(binding.value)) {
    Define(binding.var);  // a local function may call itself
    WithStack([&] { VisitFunction(*function); });
    CheckType(function->type, *function);
  } else {
    VisitValue(binding.value);
    Define(binding.var);
  }
  if (check_types_) CheckBoundType(binding);
}

void RelaxVerifier::CheckBoundType(const VarBinding& binding) {
  const Type* declared = binding.var->type;
  const Type* actual = TypeOfExpr(binding.value, &module_);
  if (declared == actual) {
    // The value was visited already; without a type there is nothing to compare.
    if (!declared) Error(*binding.var, "missing-type", fmt::format("variable '{}' has no type", binding.var->name()));
    return;
  }
  if (!CheckType(declared, *binding.var) || !actual || IsBaseOf(declared, actual)) return;
  Error(binding, "binding-type",
        fmt::format("a value of type {} cannot be bound to variable '{}' of type {}", TypeToString(actual),
                    binding.var->name(), TypeToString(declared)));
}

void RelaxVerifier::VisitBinding(const MatchCast& cast) {
  VisitValue(cast.value);
  DefineSymVars(cast.match_type);
  UseType(cast.match_type, cast);
  Define(cast.var);
  CheckType(cast.var->type, *cast.var);
}

void RelaxVerifier::ReportDefinition(const Var* var) {
  if (var->is_dataflow() && state_.dataflow_block == 0) {
    Error(*var, "misplaced-dataflow-variable",
          fmt::format("dataflow variable '{}' is defined outside of a dataflow block", var->name()));
    vars_.Define(var);
  } else if (vars_.life(var) != Life::kUnseen) {
    // Both definitions are the same node, which has only one location: the second one is at the current position of the
    // walk.
    const Node& second = around_ ? *around_ : *var;
    auto error =
        Error(second, "redefined-variable", fmt::format("variable '{}' is defined more than once", var->name()));
    if (around_ && var->span().known() && var->span_begin < second.span_begin) {
      error.Note(Location(*var), "also defined here");
    }
  } else {
    const Var* holder = vars_.Holder(var);
    Error(*var, "variable-id",
          holder ? fmt::format("variables '{}' and '{}' have the same number", var->name(), holder->name())
                 : fmt::format("variable '{}' belongs to another function", var->name()));
  }
}

// ---- Expressions

void RelaxVerifier::VisitValue(const Expr* value) {
  switch (value->kind) {
    case NodeKind::kCall: return VisitCall(*static_cast<const Call*>(value));
    case NodeKind::kTupleGetItem: return VisitProjection(*static_cast<const TupleGetItem*>(value));
    case NodeKind::kIf: return WithStack([&] { VisitIf(*static_cast<const If*>(value)); });
    case NodeKind::kSeqExpr:
      Error(*value, "misplaced-sequence", "a sequence of bindings is only allowed as the body of a function or branch");
      return;
    case NodeKind::kPrimFunc: Error(*value, "inline-prim-func", "a PrimFunc must be a function of the module"); return;
    case NodeKind::kFunction:  // the value of a cast; bindings of functions are handled elsewhere
      return WithStack([&] { VisitFunction(*static_cast<const Function*>(value)); });
    default: VisitLeaf(value, *value, "value");
  }
}

void RelaxVerifier::VisitIf(const If& branch) {
  if (state_.dataflow_block != 0) Error(branch, "if-in-dataflow", "a conditional is not allowed in a dataflow block");
  VisitLeaf(branch.cond, branch, "condition");
  const Node* const binding = around_;
  for (const Expr* side : {branch.true_branch, branch.false_branch}) {
    const size_t vars = vars_.Enter();
    const SymVarScope::Mark sym_vars = sym_vars_.mark();
    VisitBody(side, branch, "a branch of a conditional");
    vars_.Leave(vars);
    sym_vars_.LeaveTo(sym_vars);
    around_ = binding;
  }
  CheckType(branch.type, branch);
}

bool RelaxVerifier::VisitOtherLeaf(const Expr* leaf, const Node& at, std::string_view what) {
  switch (leaf->kind) {
    case NodeKind::kGlobalVar:
      UseGlobal(static_cast<const GlobalVar*>(leaf), at);
      return TypeOfExpr(leaf, &module_) != nullptr;
    case NodeKind::kOp: return true;
    case NodeKind::kConstant:
    case NodeKind::kPrimValue:
    case NodeKind::kStringImm:
    case NodeKind::kDataTypeImm:
    case NodeKind::kExternFunc: return CheckType(leaf->type, *leaf);
    case NodeKind::kTuple: return WithStack([&] { return VisitTuple(*static_cast<const Tuple*>(leaf)); });
    case NodeKind::kShapeExpr: VisitShape(*static_cast<const ShapeExpr*>(leaf)); return CheckType(leaf->type, *leaf);
    default:
      Error(leaf->span().known() ? *leaf : at, "not-in-normal-form",
            fmt::format("the {} is {}, which must be bound to a variable first", what, KindText(*leaf)));
      return false;
  }
}

bool RelaxVerifier::VisitTuple(const Tuple& tuple) {
  bool typed = true;
  for (const Expr* field : tuple.fields) typed &= VisitLeaf(field, tuple, "field of a tuple");
  if (!CheckType(tuple.type, tuple)) return false;
  const auto* type = As<TupleType>(tuple.type);
  if (check_types_ && (!type || type->fields.size() != tuple.fields.size())) {
    Error(tuple, "contradictory-type",
          fmt::format("a tuple of {} fields has the type {}", tuple.fields.size(), TypeToString(tuple.type)));
    return false;
  }
  return typed;
}

void RelaxVerifier::VisitProjection(const TupleGetItem& item) {
  const bool typed = VisitLeaf(item.tuple, item, "tuple that is projected");
  CheckType(item.type, item);
  const auto* tuple = typed && check_types_ ? As<TupleType>(item.tuple->type) : nullptr;
  if (!tuple) return;
  if (item.index < 0 || static_cast<uint32_t>(item.index) >= tuple->fields.size()) {
    Error(item, "tuple-index", fmt::format("index {} of a tuple of {} fields", item.index, tuple->fields.size()));
    return;
  }
  const Type* field = tuple->fields[item.index];
  if (item.type && field != item.type && TypeBaseCheck(item.type, field) == BaseCheck::kFailL0) {
    Error(item, "contradictory-type",
          fmt::format("field {} of the tuple has type {}, not {}", item.index, TypeToString(field),
                      TypeToString(item.type)));
  }
}

void RelaxVerifier::VisitShape(const ShapeExpr& shape) {
  for (const PrimExpr* value : shape.values) {
    if (value->kind == NodeKind::kIntImm) continue;
    UseSymVars(value, shape);
    if (!value->dtype.is_int()) {
      Error(shape, "shape-dtype",
            fmt::format("a dimension has the type {}, which is not a signed integer", value->dtype.ToString()));
    }
  }
}

void RelaxVerifier::ReportUse(const Var* var, const VarScope<Var>::Slot* slot, const Node& at) {
  if (!IsNewError(at, var)) return;
  if (!slot) {
    Error(at, "undefined-variable", fmt::format("variable '{}' is used before its definition", var->name()));
  } else if (var->is_dataflow() && slot->place != state_.dataflow_block) {
    Error(at, "misplaced-dataflow-variable",
          fmt::format("dataflow variable '{}' is used outside of its dataflow block", var->name()))
        .Note(Location(*var), "defined here");
  } else {
    Error(at, "undefined-variable", fmt::format("variable '{}' is used outside of its scope", var->name()))
        .Note(Location(*var), "defined here");
  }
}

void RelaxVerifier::UseGlobal(const GlobalVar* var, const Node& at) {
  const ModuleEntry* entry = module_.Find(var);
  if (!entry) {
    Error(at, "unknown-function", fmt::format("the module has no function '{}'", var->name));
  } else if (check_types_ && (!entry->func->type || entry->func->type->kind != NodeKind::kFuncType)) {
    Error(at, "missing-type", fmt::format("function '{}' has no function type", var->name));
  }
}

// ---- Types

bool RelaxVerifier::CheckOtherType(const Type* type, const Node& at) {
  if (!type) {
    if (check_types_) Error(at, "missing-type", "the expression has no type");
    return false;
  }
  if (check_types_) UseType(type, at);
  return true;
}

void RelaxVerifier::UseType(const Type* type, const Node& at) {
  if (type->flags == 0 || sym_vars_.known_good(type)) return;
  const size_t errors = diagnostics_.error_count();
  UseTypeSlow(type, at);
  if (diagnostics_.error_count() == errors) sym_vars_.SetGood(type);
}

void RelaxVerifier::UseTypeSlow(const Type* type, const Node& at) {
  const auto use_all = [&](List<const PrimExpr*> list) {
    for (const PrimExpr* e : list) UseSymVars(e, at);
  };
  switch (type->kind) {
    case NodeKind::kPrimType:
      if (const PrimExpr* value = static_cast<const PrimType*>(type)->value) UseSymVars(value, at);
      return;
    case NodeKind::kShapeType: return use_all(static_cast<const ShapeType*>(type)->values);
    case NodeKind::kTensorType: {
      const auto& tensor = *static_cast<const TensorType*>(type);
      use_all(tensor.dims);
      if (tensor.shape_var) VisitLeaf(tensor.shape_var, at, "shape");
      return;
    }
    case NodeKind::kDTensorType: return UseType(static_cast<const DTensorType*>(type)->tensor, at);
    case NodeKind::kTupleType:
      for (const Type* field : static_cast<const TupleType*>(type)->fields) {
        WithStack([&] { UseType(field, at); });
      }
      return;
    case NodeKind::kFuncType: {
      // The parameters define symbolic variables that are visible only in the function type itself.
      const auto& function = *static_cast<const FuncType*>(type);
      const SymVarScope::Mark scope = sym_vars_.mark();
      for (const Type* param : function.params) DefineSymVars(param, false);
      // A PrimFunc can have scalars as parameters, of which its type says the dtype alone.
      const auto is_scalar = [](const Type* param) {
        const auto* prim = As<PrimType>(param);
        return prim && !prim->value;
      };
      const bool has_scalars = std::ranges::any_of(function.params, is_scalar);
      for (const Type* param : function.params) {
        if (!has_scalars) break;
        ForEachScalar(param, /*in_functions=*/false, [&](const PrimExpr* dim) {
          tir::ForEachVar(dim, [&](const tir::Var* var) {
            if (!sym_vars_.visible(var)) sym_vars_.Define(var, false);
          });
        });
      }
      for (const Type* param : function.params) WithStack([&] { UseType(param, at); });
      WithStack([&] { UseType(function.ret, at); });
      sym_vars_.LeaveTo(scope);
      return;
    }
    default: return;
  }
}

void RelaxVerifier::UseSymVars(const PrimExpr* e, const Node& at) {
  if (e->kind == NodeKind::kIntImm) return;
  tir::ForEachVar(e, [&](const tir::Var* var) {
    if (sym_vars_.visible(var)) return;
    Error(at, "undefined-symbolic-variable",
          fmt::format("symbolic variable '{}' is not defined by a parameter or an earlier match_cast", var->name));
    sym_vars_.Define(var, false);  // report once
  });
}

// Only a dimension that is a variable defines it; n + 1 does not define n.
void RelaxVerifier::DefineSymVars(const Type* type, bool owned) {
  if (!type->has_sym_var()) return;
  const auto define_all = [&](List<const PrimExpr*> list) {
    for (const PrimExpr* e : list) {
      // Dimensions of PrimFuncs have any dtype; in the types of these functions they have 64 bits.
      const auto* cast = owned ? nullptr : As<tir::Cast>(e);
      const auto* var = As<tir::Var>(cast ? cast->value : e);
      if (var && !sym_vars_.visible(var)) sym_vars_.Define(var, owned);
    }
  };
  switch (type->kind) {
    case NodeKind::kPrimType: return define_all({&static_cast<const PrimType*>(type)->value, 1});
    case NodeKind::kShapeType: return define_all(static_cast<const ShapeType*>(type)->values);
    case NodeKind::kTensorType: return define_all(static_cast<const TensorType*>(type)->dims);
    case NodeKind::kDTensorType: return DefineSymVars(static_cast<const DTensorType*>(type)->tensor, owned);
    case NodeKind::kTupleType:
      for (const Type* field : static_cast<const TupleType*>(type)->fields) {
        WithStack([&] { DefineSymVars(field, owned); });
      }
      return;
    default: return;  // the parameters of a function type scope over that type alone
  }
}

}  // namespace iropt
