#include "iropt/infer/print/type_printer.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/infer/infer.h"
#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/stack.h"

namespace iropt {
namespace {

bool Mentions(const PrimExpr* expr, const TypePrinter::Introduced& vars) { return tir::UsesAnyOf(vars, expr); }

}  // namespace

void TypePrinter::Print(const Type* type, const Introduced* introduced) {
  // Types with variables are printed differently inside the signature, so those are not cached.
  const bool cacheable = type->id != 0 && !(introduced && type->has_sym_var());
  if (!cacheable) return PrintUncached(type, introduced, context_.out);
  if (type->id >= cache_.size()) cache_.resize(std::max<size_t>(type->id + 1, cache_.size() * 2));
  const Cached& known = cache_[type->id];
  if (known.epoch != kForever && known.epoch != epoch_) {
    std::string text;
    {
      OutputStream out(&text);
      PrintUncached(type, introduced, out);
    }
    cache_[type->id] = {type->has_sym_var() ? epoch_ : kForever, texts_.CopyString(text)};
  }
  context_.out.Append(cache_[type->id].text);
}

void TypePrinter::PrintUncached(const Type* type, const Introduced* introduced, OutputStream& out) {
  PrintTarget inner = context_.To(out);
  TypePrinter printer(inner);
  WithStack([&] {
    switch (type->kind) {
      case NodeKind::kObjectType: out.Append(context_.Since(TextVersion::kV0_26) ? "R.Any" : "R.Object"); break;
      case NodeKind::kPrimType: printer.PrintPrim(static_cast<const PrimType*>(type), introduced); break;
      case NodeKind::kShapeType: {
        const auto* shape = static_cast<const ShapeType*>(type);
        if (shape->known) {
          out.Append("R.Shape([");
          printer.PrintDims(shape->values, introduced);
          out.Append("])");
        } else if (shape->ndim == kUnknownDim && context_.for_messages()) {
          out.Append("R.Shape");
        } else {
          out.Append("R.Shape(ndim=");
          out.AppendInt(shape->ndim);
          out.Append(')');
        }
        break;
      }
      case NodeKind::kTensorType: printer.PrintTensor(static_cast<const TensorType*>(type), introduced); break;
      case NodeKind::kDTensorType: printer.PrintDTensor(static_cast<const DTensorType*>(type), introduced); break;
      case NodeKind::kTupleType: {
        const auto* tuple = static_cast<const TupleType*>(type);
        out.Append("R.Tuple");
        if (tuple->fields.empty() && !context_.for_messages()) break;
        if (IsTooBig(type)) return out.Append("(...)");
        out.Append('(');
        printer.PrintList(tuple->fields, introduced);
        out.Append(')');
        break;
      }
      default: printer.PrintFunc(To<FuncType>(type), introduced);
    }
  });
}

// From 0.26 on, a scalar type is its dtype and has no value.
void TypePrinter::PrintPrim(const PrimType* type, const Introduced* introduced) {
  OutputStream& out = context_.out;
  if (context_.Since(TextVersion::kV0_26)) {
    return PrimPrinter(context_, ScriptDialect::kRelax).PrintDTypeName(type->value ? type->value->dtype : type->dtype);
  }
  out.Append("R.Prim(");
  if (type->value) {
    out.Append("value=");
    PrintValue(type->value, introduced);
  } else {
    PrintDType(type->dtype);
  }
  out.Append(')');
}

bool TypePrinter::PrintScalarPart(const Type* type) {
  const auto* prim = context_.Since(TextVersion::kV0_26) ? As<PrimType>(type) : nullptr;
  if (!prim) return false;
  context_.out.Append("R.Prim(");
  PrintDType(prim->value ? prim->value->dtype : prim->dtype);
  context_.out.Append(')');
  return true;
}

void TypePrinter::PrintPart(const Type* type) {
  if (!PrintScalarPart(type)) Print(type);
}

void TypePrinter::PrintList(std::span<const Type* const> types, const Introduced* introduced) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i) context_.out.Append(", ");
    if (!PrintScalarPart(types[i])) PrintUncached(types[i], introduced, context_.out);
  }
}

void TypePrinter::PrintDType(DataType dtype) { PrintString(DTypeName(dtype, context_.version), context_.out); }

void TypePrinter::PrintDims(std::span<const PrimExpr* const> dims, const Introduced* introduced) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) context_.out.Append(", ");
    PrintDim(dims[i], introduced);
  }
}

// The value of a scalar type has a dtype, which a plain number does not state unless it is int64.
void TypePrinter::PrintValue(const PrimExpr* value, const Introduced* introduced) {
  if (Is<tir::IntImm>(value)) return PrintPrimExpr(value, context_, ScriptDialect::kRelax);
  PrintDim(value, introduced);
}

void TypePrinter::PrintDim(const PrimExpr* dim, const Introduced* introduced) {
  if (const auto* literal = As<tir::IntImm>(dim); literal && !literal->dtype.is_bool())
    return context_.out.AppendInt(literal->value);
  // A type variable is declared before the function; an expression of it is quoted all the same.
  const bool declared = context_.Since(TextVersion::kV0_27) && (context_.pep695 || tir::Var::ClassOf(dim->kind));
  const bool quoted = introduced && !declared && Mentions(dim, *introduced);
  if (quoted) {
    std::string text;
    {
      OutputStream out(&text);
      PrintTarget inner = context_.To(out);
      PrintPrimExpr(dim, inner, ScriptDialect::kRelax);
    }
    return PrintString(text, context_.out);
  }
  PrintPrimExpr(dim, context_, ScriptDialect::kRelax);
}

void TypePrinter::PrintTensor(const TensorType* type, const Introduced* introduced) {
  OutputStream& out = context_.out;
  out.Append("R.Tensor");
  bool first = true;
  const auto separate = [&] {
    out.Append(first ? "(" : ", ");
    first = false;
  };
  if (type->known) {
    separate();
    out.Append('(');
    PrintDims(type->dims, introduced);
    out.Append(type->dims.size() == 1 ? ",)" : ")");
  } else if (type->shape_var) {
    separate();
    const auto* var = As<Var>(type->shape_var);
    const std::string_view name = var ? context_.names.Find(var) : "...";
    out.Append(name.empty() ? var->name() : name);
  }
  if (!type->dtype.is_void()) {
    separate();
    out.Append("dtype=");
    PrintDType(type->dtype);
  }
  if (!type->has_shape() && type->ndim != kUnknownDim) {
    separate();
    out.Append("ndim=");
    out.AppendInt(type->ndim);
  }
  if (type->vdevice && type->vdevice->target) {
    separate();
    out.Append("vdevice=");
    PrintVDevice(type->vdevice);
  }
  if (!first) out.Append(')');
}

// Positional up to the first unknown argument, by keyword from there on.
void TypePrinter::PrintDTensor(const DTensorType* type, const Introduced* introduced) {
  OutputStream& out = context_.out;
  const TensorType* tensor = type->tensor;
  out.Append("R.DTensor(");
  bool first = true;
  bool keywords = false;
  const auto argument = [&](std::string_view keyword) {
    if (!first) out.Append(", ");
    first = false;
    if (keywords) out.Append(keyword);
  };
  if (tensor->known) {
    argument("");
    out.Append('(');
    PrintDims(tensor->dims, introduced);
    out.Append(tensor->dims.size() == 1 ? ",)" : ")");
  } else {
    keywords = true;
  }
  if (tensor->dtype.is_void()) {
    keywords = true;
  } else {
    argument("dtype=");
    PrintDType(tensor->dtype);
  }
  if (context_.for_messages()) {
    keywords = true;
  } else {
    argument("device_mesh=");
    PrintDeviceMesh(type->device_mesh);
  }
  argument("placement=");
  PrintString(type->placement, out);
  if (!tensor->has_shape() && tensor->ndim != kUnknownDim) {
    argument("ndim=");
    out.AppendInt(tensor->ndim);
  }
  out.Append(')');
}

// "mesh[0]": its index in the module's global infos.
void TypePrinter::PrintDeviceMesh(const DeviceMeshAttr* mesh) {
  for (const auto& [kind, infos] : context_.module->global_infos()) {
    for (size_t i = 0; i < infos.size(); ++i) {
      if (infos[i] == mesh) return PrintString(kind + "[" + std::to_string(i) + "]", context_.out);
    }
  }
  PrintString("mesh[?]", context_.out);
}

void TypePrinter::PrintVDevice(const VDeviceAttr* device) {
  const auto kind_of = [](const VDeviceAttr* d) {
    const auto* kind = d->target ? As<StrAttr>(d->target->Find("kind")) : nullptr;
    return kind ? kind->value : std::string_view();
  };
  if (context_.for_messages()) {
    return context_.out.Append(fmt::format("\"{}:{}:{}\"", kind_of(device), device->vdevice_id, device->memory_scope));
  }
  int64_t index = 0;
  if (const auto infos = context_.module->global_infos().find("vdevice");
      infos != context_.module->global_infos().end()) {
    for (const Attr* info : infos->second) {
      if (info == device) break;
      const auto* other = As<VDeviceAttr>(info);
      if (other && kind_of(other) == kind_of(device)) ++index;
    }
  }
  context_.out.Append('"');
  context_.out.Append(kind_of(device));
  context_.out.Append(':');
  context_.out.AppendInt(index);
  if (context_.Since(TextVersion::kV0_23)) {
    context_.out.Append(':');
    context_.out.Append(device->memory_scope);
  }
  context_.out.Append('"');
}

void TypePrinter::PrintFunc(const FuncType* type, const Introduced* introduced) {
  OutputStream& out = context_.out;
  out.Append("R.Callable");
  if (IsTooBig(type)) return out.Append("(...)");
  if (type->opaque) {
    const bool has_ret = !Is<ObjectType>(type->ret);
    if (!has_ret && !type->purity && type->derive_func.empty()) return;
    std::string_view separator = "(";
    const auto key = [&](std::string_view name) {
      out.Append(std::exchange(separator, ", "));
      out.Append(name);
    };
    if (has_ret) {
      key("ret=");
      PrintUncached(type->ret, introduced, out);
    }
    if (type->purity) key("purity=True");
    // TVM leaves it out, and then reads another type.
    if (!type->derive_func.empty()) {
      key("derive_func=");
      PrintString(type->derive_func, out);
    }
    return out.Append(')');
  }
  out.Append("((");
  for (uint32_t i = 0; i < type->params.size(); ++i) {
    if (i) out.Append(", ");
    PrintUncached(type->params[i], introduced, out);
  }
  out.Append(type->params.size() == 1 ? ",), " : "), ");
  PrintUncached(type->ret, introduced, out);
  out.Append(type->purity ? ", True)" : ", False)");
}

// ---- For messages

namespace {

template <class F>
std::string PrintToString(F&& print) {
  std::string text;
  {
    OutputStream out(&text);
    PrintNames names({});
    PrintTarget target{nullptr, out, names};
    print(target);
  }
  return text;
}

}  // namespace

std::string TypeToString(const Type* type) {
  if (!type) return "unknown";
  return PrintToString([&](PrintTarget& target) { TypePrinter(target).Print(type); });
}

std::string DimToString(const PrimExpr* dim) {
  return PrintToString([&](PrintTarget& target) { TypePrinter(target).PrintDim(dim); });
}

std::string DimsToString(std::span<const PrimExpr* const> dims) {
  return PrintToString([&](PrintTarget& target) { PrimPrinter(target, ScriptDialect::kRelax).PrintTuple(dims); });
}

}  // namespace iropt
