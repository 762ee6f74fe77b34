#include "expr_printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/index.h"
#include "iropt/support/stack.h"
#include "prologue.h"
#include "text/script/attr_text.h"
#include "text/script/narrow_literals.h"
#include "void_type.h"

namespace iropt::text {

void RelaxExprPrinter::PrintTopLevel(const Expr* expr) {
  const auto* tuple = As<Tuple>(expr);
  if (!tuple || tuple->fields.size() < 2) return Print(expr);
  const bool outer = first_;
  first_ = true;
  PrintItems(tuple->fields);
  first_ = outer;
}

void RelaxExprPrinter::PrintItems(std::span<const Expr* const> items) {
  for (const Expr* item : items) {
    Separate();
    Print(item);
  }
}

void RelaxExprPrinter::Print(const Expr* expr) {
  switch (expr->kind) {
    case NodeKind::kVar:
    case NodeKind::kDataflowVar: {
      const auto* var = static_cast<const Var*>(expr);
      const std::string_view name = names_.Find(var);
      // The binding of a variable without a value is printed without its name.
      if (name.empty() && IsVoid(var->type)) return out_.Append("R.tuple()");
      // A variable without a definition makes the module ill-formed, but it is printed nevertheless.
      return out_.Append(name.empty() ? names_.Define(var) : name);
    }
    case NodeKind::kCall: return PrintCall(static_cast<const Call*>(expr));
    case NodeKind::kConstant: return PrintConstant(static_cast<const Constant*>(expr));
    case NodeKind::kGlobalVar: out_.Append("cls."); return out_.Append(static_cast<const GlobalVar*>(expr)->name);
    case NodeKind::kTuple: {
      const auto* tuple = static_cast<const Tuple*>(expr);
      if (tuple->fields.empty()) return out_.Append("R.tuple()");
      return WithStack([&] {
        const bool outer = first_;
        first_ = true;
        out_.Append('(');
        PrintItems(tuple->fields);
        out_.Append(tuple->fields.size() == 1 ? ",)" : ")");
        first_ = outer;
      });
    }
    case NodeKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItem*>(expr);
      WithStack([&] { Print(item->tuple); });
      out_.Append('[');
      out_.AppendInt(item->index);
      return out_.Append(']');
    }
    case NodeKind::kShapeExpr: {
      out_.Append("R.shape([");
      bool first = true;
      for (const PrimExpr* dim : static_cast<const ShapeExpr*>(expr)->values) {
        if (!first) out_.Append(", ");
        first = false;
        types_.PrintDim(dim);
      }
      return out_.Append("])");
    }
    case NodeKind::kPrimValue: return PrintPrimValue(static_cast<const PrimValue*>(expr)->value);
    case NodeKind::kStringImm:
      out_.Append("R.str(");
      PrintString(static_cast<const StringImm*>(expr)->value, out_);
      return out_.Append(')');
    case NodeKind::kDataTypeImm:
      out_.Append("R.dtype(");
      types_.PrintDType(static_cast<const DataTypeImm*>(expr)->value);
      return out_.Append(')');
    case NodeKind::kExternFunc: return PrintExternFunc(static_cast<const ExternFunc*>(expr));
    case NodeKind::kOp:
      out_.Append("I.Op(");
      PrintString(static_cast<const Op*>(expr)->name, out_);
      return out_.Append(')');
    // Not in A-normal form; printing such ill-formed modules is for debugging.
    default:
      out_.Append('<');
      out_.Append(NodeKindName(expr->kind));
      out_.Append('>');
  }
}

void RelaxExprPrinter::PrintPrimValue(const PrimExpr* value) {
  const bool wrapped = !context_.Since(TextVersion::kV0_26);
  if (wrapped) out_.Append("R.prim_value(");
  PrintPrimExpr(value, context_, ScriptDialect::kRelax);
  if (wrapped) out_.Append(')');
}

void RelaxExprPrinter::PrintExternFunc(const ExternFunc* function) {
  out_.Append("R.ExternFunc(");
  PrintString(function->global_symbol, out_);
  if (context_.Since(TextVersion::kV0_24) && function->type && !IsPackedFuncType(function->type)) {
    out_.Append(", ");
    types_.Print(function->type);
  }
  out_.Append(')');
}

void RelaxExprPrinter::PrintCallee(const Expr* callee) {
  if (const auto* external = As<ExternFunc>(callee)) return PrintString(external->global_symbol, out_);
  Print(callee);
}

void RelaxExprPrinter::PrintCall(const Call* call) {
  WithStack([&] {
    const bool outer = first_;
    if (const auto* op = As<Op>(call->op)) {
      PrintOpCall(call, *op->info);
    } else {
      const auto* external = As<ExternFunc>(call->op);
      if (external) {
        out_.Append("R.call_packed(");
        PrintString(external->global_symbol, out_);
      } else {
        Print(call->op);
        out_.Append('(');
      }
      first_ = external == nullptr;
      for (size_t i = 0; i < call->args.size(); ++i) {
        Separate();
        i == 0 ? PrintCallee(call->args[0]) : Print(call->args[i]);
      }
      if (const auto* record = call->attrs && external ? As<ObjectAttr>(call->attrs) : nullptr) {
        Separate();
        out_.Append("attrs_type_key=");
        PrintString(record->type_key, out_);
      }
      PrintCallAttrs(call->attrs, nullptr);
      PrintTypeArgs(call->type_args);
      out_.Append(')');
    }
    first_ = outer;
  });
}

// Operands by position, attributes by name, then the operands that are keywords in the script.
void RelaxExprPrinter::PrintOpCall(const Call* call, const OpInfo& op) {
  const bool distributed =
      op.form == ScriptForm::kOutTypes && call->type_args && HasDTensor(call->type_args) && op.id == op::kCallTir;
  out_.Append(distributed ? std::string_view("R.dist.call_tir") : op.script);
  out_.Append('(');
  first_ = true;
  const auto keyword = [&](size_t i) {
    return i < op.args.size() && op.args[i].keyword && !(op.variadic && i + 1 == op.args.size());
  };
  // From 0.26 on, the scalars of R.call_tir are the last arguments.
  const bool merges = context_.Since(TextVersion::kV0_26) && op.form == ScriptForm::kOutTypes &&
                      call->args.size() == 3 && Is<Tuple>(call->args[1]);
  const auto* tir_vars = merges ? As<ShapeExpr>(call->args[2]) : nullptr;
  const bool reordered = op.arg_order.size() == call->args.size();
  for (size_t place = 0; place < call->args.size(); ++place) {
    const size_t i = reordered ? op.arg_order[place] : place;
    if (keyword(i) || IsPrintedAsAttr(op, i)) continue;
    Separate();
    if (i == 0) {
      PrintCallee(call->args[0]);
    } else if (i == 1 && tir_vars) {
      PrintArgsWithScalars(To<Tuple>(call->args[1]), tir_vars);
    } else if (!PrintFlag(call->args[i], op, i)) {
      Print(call->args[i]);
    }
  }
  PrintLaterOperands(call, op);
  const auto* record = call->attrs ? As<ObjectAttr>(call->attrs) : nullptr;
  switch (op.form) {
    case ScriptForm::kOutTypes:
      if (call->type_args) PrintOutTypes(call->type_args);
      PrintCallAttrs(call->attrs, &op);
      break;
    case ScriptForm::kDevice:
      if (record) PrintDevice(record, op);
      break;
    case ScriptForm::kVDevice:
      Separate();
      out_.Append("dst_vdevice=");
      if (record && !record->values.empty()) types_.PrintVDevice(To<VDeviceAttr>(record->values[0]));
      break;
    case ScriptForm::kDefault:
      PrintCallAttrs(call->attrs, &op, call);
      PrintTypeArgs(call->type_args);
      break;
  }
  for (size_t i = 0; i < call->args.size(); ++i) {
    if (!keyword(i) || call->args[i] == tir_vars) continue;
    Separate();
    out_.Append(op.args[i].name);
    out_.Append('=');
    Print(call->args[i]);
  }
  out_.Append(')');
}

// From 0.26 on, the flags of R.unique are booleans. False, with nothing printed, for other operands.
bool RelaxExprPrinter::PrintFlag(const Expr* operand, const OpInfo& op, size_t i) {
  const bool is_flag = op.id == op::kUnique && i > 0 && op.args[i].name != "axis";
  const auto* scalar = is_flag && context_.Since(TextVersion::kV0_26) ? As<PrimValue>(operand) : nullptr;
  const int64_t* value = scalar ? arith::AsInt(scalar->value) : nullptr;
  if (!value) return false;
  out_.Append(*value != 0 ? "True" : "False");
  return true;
}

// Returns whether the version has an attribute for the operand.
bool RelaxExprPrinter::IsPrintedAsAttr(const OpInfo& op, size_t operand) const {
  return operand < op.args.size() && op.args[operand].attr_since && context_.Since(*op.args[operand].attr_since);
}

// The defaults of operands that TVM 0.18 lacks, which calls leave out.
void RelaxExprPrinter::PrintLaterOperands(const Call* call, const OpInfo& op) {
  for (size_t i = call->args.size(); i < op.args.size(); ++i) {
    if (op.args[i].since == TextVersion::kV0_18 || !context_.Since(op.args[i].since)) return;
    const auto param = std::ranges::find_if(
        op.params, [&](const OpParam& p) { return p.role == OpParam::Role::kArg && p.index == i; });
    if (param == op.params.end() || param->fallback.kind != OpDefault::Kind::kInt) return;
    Separate();
    PrintPrimValue(IRContext::Current().Int(param->fallback.integer));
  }
}

// (x, n): the arguments, and the scalars after them.
void RelaxExprPrinter::PrintArgsWithScalars(const Tuple* args, const ShapeExpr* scalars) {
  const bool outer = first_;
  first_ = true;
  out_.Append('(');
  PrintItems(args->fields);
  for (const PrimExpr* scalar : scalars->values) {
    Separate();
    PrintPrimValue(scalar);
  }
  out_.Append(args->fields.size() + scalars->values.size() == 1 ? ",)" : ")");
  first_ = outer;
}

bool RelaxExprPrinter::HasDTensor(const TupleType* types) {
  const Type* out = types->fields.empty() ? nullptr : types->fields[0];
  const auto* tuple = As<TupleType>(out);
  if (!tuple) return out && Is<DTensorType>(out);
  for (const Type* field : tuple->fields) {
    if (Is<DTensorType>(field)) return true;
  }
  return false;
}

// out_sinfo=: one type, or a list if the call returns a tuple.
void RelaxExprPrinter::PrintOutTypes(const TupleType* types) {
  if (types->fields.empty()) return;
  Separate();
  out_.Append(context_.Since(TextVersion::kV0_26) ? "out_ty=" : "out_sinfo=");
  const auto* tuple = As<TupleType>(types->fields[0]);
  if (!tuple) return types_.PrintPart(types->fields[0]);
  out_.Append('[');
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (i) out_.Append(", ");
    types_.PrintPart(tuple->fields[i]);
  }
  out_.Append(']');
}

void RelaxExprPrinter::PrintTypeArgs(const TupleType* types) {
  if (!types || types->fields.empty()) return;
  Separate();
  out_.Append(context_.Since(TextVersion::kV0_26) ? "ty_args=(" : "sinfo_args=(");
  for (size_t i = 0; i < types->fields.size(); ++i) {
    if (i) out_.Append(", ");
    types_.PrintPart(types->fields[i]);
  }
  out_.Append(types->fields.size() == 1 ? ",)" : ")");
}

std::string_view RelaxExprPrinter::AttrName(const OpAttr& attr) const {
  return attr.renamed_since && context_.Since(*attr.renamed_since) ? attr.renamed : attr.name;
}

// The attributes of a device and those after them, without their names.
void RelaxExprPrinter::PrintDevice(const ObjectAttr* record, const OpInfo& op) {
  Separate();
  out_.Append("R.device(");
  for (size_t i = 0; i < record->values.size(); ++i) {
    if (!IsWritten(op, op.attrs[i], record->values[i], context_.version)) continue;
    if (i > 0) out_.Append(", ");
    if (i < 2) {
      out_.Append(AttrName(op.attrs[i]));
      out_.Append('=');
    }
    PrintAttr(record->values[i], context_, ScriptDialect::kRelax);
    if (i == 1) out_.Append(')');
  }
}

// pad_value=0.0: an operand as an attribute.
void RelaxExprPrinter::PrintOperandAsAttr(const OpArg& arg, const Expr* operand) {
  Separate();
  out_.Append(arg.name);
  out_.Append('=');
  const auto* constant = As<Constant>(operand);
  constant && constant->data->shape().empty() ? PrintElement(*constant->data, 0) : Print(operand);
}

// The call has the operands that the version prints as attributes; null for others.
void RelaxExprPrinter::PrintCallAttrs(const Attr* attrs, const OpInfo* op, const Call* call) {
  if (!attrs) return;
  const auto print_operands = [&](size_t place) {
    for (size_t i = 0; call && i < call->args.size(); ++i) {
      if (IsPrintedAsAttr(*op, i) && op->args[i].attr_place == place) PrintOperandAsAttr(op->args[i], call->args[i]);
    }
  };
  const auto print = [&](std::string_view name, const Attr* value) {
    const OpAttr* column = op ? op->FindAttr(name) : nullptr;
    if (column && !IsWritten(*op, *column, value, context_.version)) return;
    if (column && column->kind == AttrKind::kDict && As<DictAttr>(value) && As<DictAttr>(value)->size() == 0) return;
    Separate();
    out_.Append(column ? AttrName(*column) : name);
    out_.Append('=');
    if (column && column->kind == AttrKind::kOptPrimValue && Is<ExprAttr>(value))
      return PrintPrimValue(To<ExprAttr>(value)->value);
    // The operator says what a string means.
    if (column && column->kind == AttrKind::kDouble) return PrintFloat(To<FloatAttr>(value)->value, out_);
    if (column && column->kind == AttrKind::kDeviceMesh) return types_.PrintDeviceMesh(To<DeviceMeshAttr>(value));
    PrintAttr(value, context_, ScriptDialect::kRelax);
  };
  if (const auto* record = As<ObjectAttr>(attrs)) {
    for (size_t i = 0; i < record->names.size(); ++i) {
      print_operands(i);
      print(record->names[i], record->values[i]);
    }
  } else if (const auto* dict = As<DictAttr>(attrs)) {
    for (size_t i = 0; i < dict->size(); ++i) print(dict->keys[i], dict->values[i]);
  }
}

void RelaxExprPrinter::PrintConstant(const Constant* constant) {
  const NDArray& data = *constant->data;
  if (!IsInlineConstant(constant, context_.options)) {
    out_.Append("metadata[\"relax.expr.Constant\"][");
    if (context_.options.hash_constants) {
      PrintString(data.ContentHash().ToString(), out_);
    } else {
      out_.AppendInt(context_.metadata.IndexOf(&data));
    }
    return out_.Append(']');
  }
  const auto* dtensor = constant->type ? As<DTensorType>(constant->type) : nullptr;
  out_.Append(dtensor ? "R.dist.const(" : "R.const(");
  int64_t next = 0;
  PrintElements(data, 0, next);
  out_.Append(", ");
  dtensor ? types_.Print(dtensor) : types_.PrintDType(data.dtype());
  out_.Append(')');
}

void RelaxExprPrinter::PrintElements(const NDArray& data, size_t axis, int64_t& next) {
  if (axis == data.shape().size()) return PrintElement(data, next++);
  out_.Append('[');
  for (int64_t i = 0; i < data.shape()[axis]; ++i) {
    if (i) out_.Append(", ");
    PrintElements(data, axis + 1, next);
  }
  out_.Append(']');
}

void RelaxExprPrinter::PrintElement(const NDArray& data, int64_t index) {
  const bool known = DispatchElement(data.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    const auto value = Element<T>::Load(data.As<T>()[static_cast<size_t>(index)]);
    using Value = std::remove_const_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      out_.Append(value ? "True" : "False");
    } else if constexpr (std::is_same_v<Value, uint64_t>) {
      out_.Append(fmt::format("{}", value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      PrintFloat(static_cast<double>(value), out_);
    } else {
      out_.AppendInt(static_cast<int64_t>(value));
    }
  });
  if (!known) PrintNarrow(data, index, out_);
}

}  // namespace iropt::text
