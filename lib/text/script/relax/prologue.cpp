#include "prologue.h"

#include <algorithm>

#include "iropt/ir/array_attr.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/prefetched_range.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "text/script/attr_text.h"

namespace iropt::text {
namespace {

// The values directly inside a list, dictionary or record.
List<const Attr*> Elements(const Attr* attr) {
  if (const auto* list = As<ListAttr>(attr)) return list->values;
  if (const auto* dict = As<DictAttr>(attr)) return dict->values;
  if (const auto* record = As<ObjectAttr>(attr)) return record->values;
  return {};
}

void ForEachAttrExpr(const Attr* attr, FunctionRef<void(const PrimExpr*)> f) {
  if (const auto* expr = As<ExprAttr>(attr)) return f(expr->value);
  for (const Attr* element : Elements(attr)) WithStack([&] { ForEachAttrExpr(element, f); });
}

class Scanner {
 public:
  Scanner(RelaxPrologue& result, const PrintOptions& options, TextVersion version)
      : result_(result), options_(options), version_(version) {}

  void Run(const Function* function) {
    if (version_ >= TextVersion::kV0_26) {
      for (const Var* p : function->params) {
        const tir::Var* var = ScalarParam(p->type);
        if (var && seen_.insert(var)) result_.scalar_params.push_back(var);
      }
    }
    ScanSignature(function);
    result_.signature_lines = result_.lines.size();
    for (const tir::Var* var : result_.lines) result_.introduced.insert(var);
    ScanAttr(function->attrs);
    ScanBody(function->body);
  }

 private:
  // From 0.26 on, the result type is printed after the parameters.
  void ScanSignature(const Function* function) {
    const bool params_first = version_ >= TextVersion::kV0_26;
    in_signature_ = true;
    if (!params_first) ScanType(function->ret_type);
    for (const Var* p : function->params) ScanType(p->type);
    if (params_first) ScanType(function->ret_type);
    in_signature_ = false;
  }

  void ScanFunction(const Function* function) {
    const size_t index = result_.nested.size();
    result_.nested.emplace_back();
    const size_t line = result_.lines.size();
    const bool alias_seen = alias_seen_;
    if (version_ >= TextVersion::kV0_27) alias_seen_ = false;
    ScanSignature(function);
    if (version_ >= TextVersion::kV0_26) result_.nested[index].type_vars = TakeLines(line);
    ScanAttr(function->attrs);
    ScanBody(function->body);
    if (version_ >= TextVersion::kV0_27) {
      result_.nested[index].lines = TakeLines(line);
      // The names end with the function.
      for (const tir::Var* var : result_.nested[index].lines) seen_.erase(var);
      alias_seen_ = alias_seen;
    }
    result_.nested[index].uses_tir = result_.uses_tir;
  }

  // Removes the lines from this one on and returns them.
  std::vector<const tir::Var*> TakeLines(size_t line) {
    const auto first = result_.lines.begin() + static_cast<ptrdiff_t>(line);
    std::vector<const tir::Var*> taken(first, result_.lines.end());
    result_.lines.erase(first, result_.lines.end());
    return taken;
  }

  void ScanBody(const Expr* body) {
    const auto* seq = As<SeqExpr>(body);
    if (!seq) return ScanExpr(body);
    for (const BindingBlock* block : seq->blocks) {
      result_.num_bindings += block->bindings.size();
      for (const Binding* binding : PrefetchedRange(block->bindings, PrefetchedRange::kDetails)) ScanBinding(binding);
    }
    ScanExpr(seq->body);
  }

  void ScanBinding(const Binding* binding) {
    if (const auto* cast = As<MatchCast>(binding)) {
      ScanExpr(cast->value);
      ScanType(cast->match_type);
      return ScanType(cast->var->type);
    }
    const Expr* value = static_cast<const VarBinding*>(binding)->value;
    if (Is<If>(value)) {
      ScanType(binding->var->type);
      return WithStack([&] { ScanExpr(value); });
    }
    ScanExpr(value);
    ScanType(binding->var->type);
  }

  void ScanExpr(const Expr* expr) {
    switch (expr->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return;
      case NodeKind::kGlobalVar: return ScanAlias();
      case NodeKind::kConstant:
        if (!IsInlineConstant(static_cast<const Constant*>(expr), options_))
          result_.constants.push_back(static_cast<const Constant*>(expr));
        return;
      case NodeKind::kCall: {
        const auto* call = static_cast<const Call*>(expr);
        if (!Is<Op>(call->op)) ScanExpr(call->op);
        for (const Expr* arg : call->args) ScanExpr(arg);
        if (call->attrs) ScanAttr(call->attrs);
        if (call->type_args) ScanType(call->type_args);
        return;
      }
      case NodeKind::kTuple:
        return WithStack([&] {
          for (const Expr* f : static_cast<const Tuple*>(expr)->fields) ScanExpr(f);
        });
      case NodeKind::kTupleGetItem: return ScanExpr(static_cast<const TupleGetItem*>(expr)->tuple);
      case NodeKind::kShapeExpr:
        for (const PrimExpr* e : static_cast<const ShapeExpr*>(expr)->values) ScanPrim(e);
        return;
      case NodeKind::kPrimValue: return ScanPrim(static_cast<const PrimValue*>(expr)->value);
      case NodeKind::kIf: {
        const auto* cond = static_cast<const If*>(expr);
        return WithStack([&] {
          ScanExpr(cond->cond);
          ScanBody(cond->true_branch);
          ScanBody(cond->false_branch);
        });
      }
      case NodeKind::kSeqExpr: return WithStack([&] { ScanBody(expr); });
      case NodeKind::kFunction: return WithStack([&] { ScanFunction(static_cast<const Function*>(expr)); });
      default: return;
    }
  }

  void ScanAlias() {
    if (alias_seen_) return;
    alias_seen_ = true;
    result_.lines.push_back(nullptr);
  }

  // Types without symbolic variables, nearly all of them, are irrelevant here.
  void ScanType(const Type* type) {
    if (!type) return;
    if (version_ >= TextVersion::kV0_26) result_.uses_tir = result_.uses_tir || HasScalar(type);
    if (!type->has_sym_var()) return;
    WithStack([&] {
      if (const auto* tensor = As<TensorType>(type)) {
        for (const PrimExpr* dim : tensor->dims) ScanPrim(dim);
      } else if (const auto* shape = As<ShapeType>(type)) {
        for (const PrimExpr* dim : shape->values) ScanPrim(dim);
      } else if (const auto* tuple = As<TupleType>(type)) {
        for (const Type* field : tuple->fields) ScanType(field);
      } else if (const auto* prim = As<PrimType>(type)) {
        ScanPrim(prim->value);
      } else if (const auto* function = As<FuncType>(type)) {
        // The result is printed first.
        ScanType(function->ret);
        for (const Type* param : function->params) ScanType(param);
      } else if (const auto* dtensor = As<DTensorType>(type)) {
        ScanType(dtensor->tensor);
      }
    });
  }

  // Returns whether the type is or has that of a scalar, which reads T.int64 from 0.26 on.
  bool HasScalar(const Type* type) {
    if (Is<PrimType>(type)) return true;
    const auto* tuple = As<TupleType>(type);
    const auto* function = As<FuncType>(type);
    if ((!tuple && !function) || !scanned_types_.insert(type)) return false;
    return WithStack([&] {
      if (tuple) return std::ranges::any_of(tuple->fields, [&](const Type* field) { return HasScalar(field); });
      return HasScalar(function->ret) ||
             std::ranges::any_of(function->params, [&](const Type* param) { return HasScalar(param); });
    });
  }

  void ScanPrim(const PrimExpr* expr) {
    if (Is<tir::IntImm>(expr)) {
      result_.uses_tir |= expr->dtype != DataType::Int(64) && !expr->dtype.is_bool();  // T.int32(1)
      return;
    }
    if (const auto* var = As<tir::Var>(expr)) return ScanVar(var);
    const NodeKind k = expr->kind;
    const bool infix = Is<tir::Not>(expr) || (Is<tir::BinaryExpr>(expr) && k != NodeKind::kMin && k != NodeKind::kMax &&
                                              k != NodeKind::kDiv && k != NodeKind::kMod);
    if (!infix) result_.uses_tir = true;
    WithStack([&] {
      ForEachChild(expr, [&](const Node* child) {
        if (PrimExpr::ClassOf(child->kind)) ScanPrim(static_cast<const PrimExpr*>(child));
      });
    });
  }

  void ScanVar(const tir::Var* var) {
    if (!seen_.insert(var)) return;
    // The definition reads n = T.int64(), but n = TypeVar("n") in a signature of 0.27.
    result_.uses_tir |= !in_signature_ || version_ < TextVersion::kV0_27;
    result_.lines.push_back(var);
  }

  void ScanAttr(const Attr* attr) {
    PrefixUse use;
    ScanAttrValue(attr, ScriptDialect::kRelax, use, result_.attr_entries);
    result_.uses_tir |= use.tir;
    ForEachAttrExpr(attr, [&](const PrimExpr* expr) { ScanPrim(expr); });
  }

  RelaxPrologue& result_;
  const PrintOptions& options_;
  const TextVersion version_;
  LookupSet<const tir::Var*> seen_;
  LookupSet<const Type*> scanned_types_;
  bool in_signature_ = false;
  bool alias_seen_ = false;
};

}  // namespace

void ScanAttrValue(const Attr* attr, ScriptDialect mode, PrefixUse& use, std::vector<const Attr*>& entries) {
  const bool tir = mode == ScriptDialect::kTir;
  switch (attr->kind) {
    case NodeKind::kTargetAttr:
      use.tir = true;
      mode = ScriptDialect::kRelax;
      break;
    case NodeKind::kIndexMapAttr: use.tir = true; break;
    case NodeKind::kVDeviceAttr:
      use.ir = true;
      mode = ScriptDialect::kRelax;
      break;
    case NodeKind::kDeviceMeshAttr:
      use.relax = true;
      use.ir |= static_cast<const DeviceMeshAttr*>(attr)->is_range;
      break;
    // Integers are plain numbers at both levels.
    case NodeKind::kIntAttr: use.tir |= tir && static_cast<const IntAttr*>(attr)->dtype.is_bool(); break;
    case NodeKind::kFloatAttr: use.tir |= tir || !IsPlainFloat(*static_cast<const FloatAttr*>(attr)); break;
    case NodeKind::kExprAttr: use.tir |= tir || Is<tir::IntImm>(static_cast<const ExprAttr*>(attr)->value); break;
    case NodeKind::kStrAttr:
      if (static_cast<const StrAttr*>(attr)->value.find('\n') != std::string_view::npos) entries.push_back(attr);
      break;
    case NodeKind::kObjectAttr:
      if (const auto* object = static_cast<const ObjectAttr*>(attr); object->type_key == kArrayKey)
        return entries.push_back(object);
      break;
    default: break;
  }
  for (const Attr* element : Elements(attr)) WithStack([&] { ScanAttrValue(element, mode, use, entries); });
}

const tir::Var* ScalarParam(const Type* type) {
  const auto* prim = type ? As<PrimType>(type) : nullptr;
  return prim && prim->value && tir::Var::ClassOf(prim->value->kind) ? static_cast<const tir::Var*>(prim->value)
                                                                     : nullptr;
}

RelaxPrologue ScanPrologue(const Function* function, const PrintOptions& options, TextVersion version) {
  RelaxPrologue result;
  Scanner(result, options, version).Run(function);
  return result;
}

bool IsInlineConstant(const Constant* constant, const PrintOptions& options) {
  const NDArray& data = *constant->data;
  const DataType t = data.dtype();
  // TVM has no literal for scalars of other types.
  const bool literal =
      t.is_scalar() && ((t.is_int() && t.bits >= 8) || t.is_bool() || (t.code == TypeCode::kFloat && t.bits <= 64));
  if (data.shape().empty() && literal) return true;
  return data.num_elements() <= options.inline_constants && data.num_elements() > 0;
}

}  // namespace iropt::text
