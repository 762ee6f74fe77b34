// Printing attribute values.
#include <cmath>

#include "attr_text.h"
#include "iropt/infer/print/type_printer.h"
#include "iropt/ir/array_attr.h"
#include "iropt/support/stack.h"
#include "metadata_writer.h"

namespace iropt::text {

bool IsPlainFloat(const FloatAttr& attr) { return attr.dtype == DataType::Float(64) && std::isfinite(attr.value); }

namespace {

class AttrPrinter {
 public:
  AttrPrinter(PrintContext& context, ScriptDialect mode, FreeNames* free)
      : context_(context), out_(context.out), mode_(mode), free_(free) {}

  void Print(const Attr* attr) {
    WithStack([&] { PrintNode(attr); });
  }

 private:
  void PrintNode(const Attr* attr);
  void PrintInt(const IntAttr* attr);
  void PrintFloatAttr(const FloatAttr* attr);
  void PrintDict(const DictAttr* dict);
  void PrintExpr(const ExprAttr* attr);
  void PrintMapping(const IndexMapAttr* map);
  void PrintMesh(const DeviceMeshAttr* mesh);
  void PrintObject(const ObjectAttr* object);
  void PrintEntry(std::string_view kind, const Attr* attr);
  template <class T, class F>
  void PrintItems(List<T> items, F&& print) {
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (i) out_.Append(", ");
      print(items[i]);
    }
  }
  // Targets look the same in every dialect.
  void PrintPlain(const Attr* attr) { AttrPrinter(context_, ScriptDialect::kRelax, free_).Print(attr); }

  PrintContext& context_;
  OutputStream& out_;
  ScriptDialect mode_;
  FreeNames* free_;
};

void AttrPrinter::PrintInt(const IntAttr* attr) {
  if (!attr->dtype.is_bool()) return out_.AppendInt(attr->value);
  const std::string_view text = attr->value ? "True" : "False";
  if (mode_ == ScriptDialect::kRelax || context_.Since(TextVersion::kV0_21)) return out_.Append(text);
  out_.Append("T.bool(");
  out_.Append(text);
  out_.Append(')');
}

void AttrPrinter::PrintFloatAttr(const FloatAttr* attr) {
  // Without a dtype, infinities and NaN are strings.
  if (mode_ == ScriptDialect::kRelax && IsPlainFloat(*attr)) return PrintFloat(attr->value, out_);
  // From 0.21 on, numbers in annotations are Python's.
  if (mode_ == ScriptDialect::kTir && context_.Since(TextVersion::kV0_21) && std::isfinite(attr->value))
    return PrintFloat(attr->value, out_);
  PrimPrinter(context_, mode_).PrintDTypeName(attr->dtype);
  out_.Append('(');
  PrintFloat(attr->value, out_);
  out_.Append(')');
}

void AttrPrinter::PrintDict(const DictAttr* dict) {
  out_.Append('{');
  for (uint32_t i = 0; i < dict->size(); ++i) {
    if (i) out_.Append(", ");
    PrintString(dict->keys[i], out_);
    out_.Append(": ");
    Print(dict->values[i]);
  }
  out_.Append('}');
}

void AttrPrinter::PrintExpr(const ExprAttr* attr) {
  PrimPrinter printer(context_, mode_, free_);
  // A buffer as a whole; see ScalarValues::ToAttr.
  const auto* load = As<tir::BufferLoad>(attr->value);
  if (load && load->dtype.is_handle() && load->indices.empty()) return printer.PrintBuffer(load->buffer);
  // A plain number is not of dtype int64 as it is in a shape.
  if (const auto* number = As<tir::IntImm>(attr->value); number && mode_ == ScriptDialect::kRelax) {
    printer.PrintDTypeName(number->dtype);
    out_.Append('(');
    out_.AppendInt(number->value);
    return out_.Append(')');
  }
  printer.Print(attr->value);
}

void AttrPrinter::PrintMapping(const IndexMapAttr* map) {
  const size_t mark = context_.names.Mark();
  out_.Append("lambda ");
  for (uint32_t i = 0; i < map->params.size(); ++i) {
    if (i) out_.Append(", ");
    const std::string_view name = context_.names.DefineText(map->param_names[i].empty() ? "v" : map->param_names[i]);
    context_.names.Alias(map->params[i], name);
    out_.Append(name);
  }
  out_.Append(": ");
  PrimPrinter(context_, mode_).PrintTuple(map->results);
  context_.names.Release(mark);
}

void AttrPrinter::PrintMesh(const DeviceMeshAttr* mesh) {
  const auto number = [&](int64_t i) { out_.AppendInt(i); };
  out_.Append("R.device_mesh((");
  PrintItems(mesh->shape, number);
  out_.Append(mesh->shape.size() == 1 ? ",), " : "), ");
  out_.Append(mesh->is_range ? "I.Range(" : "[");
  PrintItems(mesh->device_ids, number);
  out_.Append(mesh->is_range ? "))" : "])");
}

void AttrPrinter::PrintEntry(std::string_view kind, const Attr* attr) {
  out_.Append("metadata[\"");
  out_.Append(kind);
  out_.Append("\"][");
  out_.AppendInt(context_.metadata.IndexOf(attr));
  out_.Append(']');
}

// Objects that scripts have no literal for are printed with their fields, to be seen.
void AttrPrinter::PrintObject(const ObjectAttr* object) {
  if (object->type_key == "DummyGlobalInfo") return out_.Append("I.dummy_global_info()");
  if (object->type_key == kArrayKey) {
    const bool is_tensor = context_.Since(TextVersion::kV0_22);
    return PrintEntry(is_tensor ? kTensorKey : context_.Since(TextVersion::kV0_21) ? kNDArrayKey : kArrayKey, object);
  }
  out_.Append('{');
  for (uint32_t i = 0; i < object->names.size(); ++i) {
    if (i) out_.Append(", ");
    PrintString(object->names[i], out_);
    out_.Append(": ");
    Print(object->values[i]);
  }
  out_.Append('}');
}

void AttrPrinter::PrintNode(const Attr* attr) {
  switch (attr->kind) {
    case NodeKind::kNoneAttr: return out_.Append("None");
    case NodeKind::kIntAttr: return PrintInt(static_cast<const IntAttr*>(attr));
    case NodeKind::kFloatAttr: return PrintFloatAttr(static_cast<const FloatAttr*>(attr));
    case NodeKind::kStrAttr:
      if (context_.metadata.Has(attr))
        return PrintEntry(context_.Since(TextVersion::kV0_22) ? kStringKey : kOldStringKey, attr);
      return PrintString(static_cast<const StrAttr*>(attr)->value, out_);
    case NodeKind::kDTypeAttr: {
      const DataType dtype = static_cast<const DTypeAttr*>(attr)->value;
      if (dtype.is_void() && context_.Since(TextVersion::kV0_26)) return out_.Append("None");
      return PrimPrinter(context_, mode_).PrintDType(dtype);
    }
    case NodeKind::kListAttr:
      out_.Append('[');
      PrintItems(static_cast<const ListAttr*>(attr)->values, [&](const Attr* item) { Print(item); });
      return out_.Append(']');
    case NodeKind::kDictAttr: return PrintDict(static_cast<const DictAttr*>(attr));
    case NodeKind::kExprAttr: return PrintExpr(static_cast<const ExprAttr*>(attr));
    case NodeKind::kTypeAttr: return TypePrinter(context_).Print(static_cast<const TypeAttr*>(attr)->value);
    case NodeKind::kTargetAttr:
      out_.Append("T.target(");
      PrintPlain(static_cast<const TargetAttr*>(attr)->config);
      return out_.Append(')');
    case NodeKind::kVDeviceAttr: {
      const auto* device = static_cast<const VDeviceAttr*>(attr);
      out_.Append("I.vdevice(");
      PrintPlain(device->target ? static_cast<const Attr*>(device->target) : NoneAttr::Get());
      out_.Append(", ");
      out_.AppendInt(device->vdevice_id);
      out_.Append(", ");
      PrintString(device->memory_scope, out_);
      return out_.Append(')');
    }
    case NodeKind::kDeviceMeshAttr: return PrintMesh(static_cast<const DeviceMeshAttr*>(attr));
    case NodeKind::kIndexMapAttr: {
      const auto* map = static_cast<const IndexMapAttr*>(attr);
      out_.Append("T.index_map(");
      PrintMapping(map);
      if (map->inverse) {
        out_.Append(", inverse_index_map=");
        PrintMapping(map->inverse);
      }
      return out_.Append(')');
    }
    default: return PrintObject(To<ObjectAttr>(attr));
  }
}

}  // namespace

void PrintAttr(const Attr* attr, PrintContext& context, ScriptDialect mode, FreeNames* free) {
  AttrPrinter(context, mode, free).Print(attr);
}

}  // namespace iropt::text
