// Types and dimensions in messages, as TVMScript writes them.
#include <fmt/format.h>

#include "iropt/infer/infer.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/stack.h"

namespace iropt {
namespace {

// How tightly an operator binds, as in Python.
enum Level : int { kLoose, kCompare, kSum, kProduct, kAtom };

struct BinaryForm {
  std::string_view infix;  // or a function where empty
  std::string_view function;
  Level level = kAtom;
};

BinaryForm FormOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAdd: return {" + ", "", kSum};
    case NodeKind::kSub: return {" - ", "", kSum};
    case NodeKind::kMul: return {" * ", "", kProduct};
    case NodeKind::kFloorDiv: return {" // ", "", kProduct};
    case NodeKind::kFloorMod: return {" % ", "", kProduct};
    case NodeKind::kEQ: return {" == ", "", kCompare};
    case NodeKind::kNE: return {" != ", "", kCompare};
    case NodeKind::kLT: return {" < ", "", kCompare};
    case NodeKind::kLE: return {" <= ", "", kCompare};
    case NodeKind::kGT: return {" > ", "", kCompare};
    case NodeKind::kGE: return {" >= ", "", kCompare};
    case NodeKind::kMin: return {"", "T.min"};
    case NodeKind::kMax: return {"", "T.max"};
    case NodeKind::kDiv: return {"", "T.Div"};
    case NodeKind::kMod: return {"", "T.truncmod"};
    case NodeKind::kAnd: return {"", "T.And"};
    default: return {"", "T.Or"};
  }
}

class DimPrinter {
 public:
  std::string Print(const PrimExpr* e, Level around = kLoose) {
    return WithStack([&] { return PrintNode(e, around); });
  }

 private:
  std::string PrintNode(const PrimExpr* e, Level around) {
    if (const auto* binary = As<tir::BinaryExpr>(e)) return PrintBinary(binary, around);
    switch (e->kind) {
      case NodeKind::kPrimVar:
      case NodeKind::kSizeVar: return std::string(static_cast<const tir::Var*>(e)->name);
      case NodeKind::kIntImm: return PrintInt(static_cast<const tir::IntImm*>(e));
      case NodeKind::kFloatImm:
        return fmt::format("T.{}({})", e->dtype.ToString(), static_cast<const tir::FloatImm*>(e)->value);
      case NodeKind::kCast:
        return fmt::format("T.Cast(\"{}\", {})", e->dtype.ToString(), Print(static_cast<const tir::Cast*>(e)->value));
      case NodeKind::kNot: return fmt::format("not {}", Print(static_cast<const tir::Not*>(e)->a, kAtom));
      case NodeKind::kPrimCall: return PrintCall(static_cast<const tir::Call*>(e));
      case NodeKind::kSelect: {
        const auto* select = static_cast<const tir::Select*>(e);
        return fmt::format("T.Select({}, {}, {})", Print(select->condition), Print(select->true_value),
                           Print(select->false_value));
      }
      default: return "...";
    }
  }
  // As in scripts, where a number alone is an int64.
  static std::string PrintInt(const tir::IntImm* e) {
    if (e->dtype == DataType::Int(64)) return fmt::format("{}", e->value);
    if (e->dtype.is_bool()) return e->value ? "T.bool(True)" : "T.bool(False)";
    return fmt::format("T.{}({})", e->dtype.ToString(), e->value);
  }
  std::string PrintBinary(const tir::BinaryExpr* e, Level around) {
    const BinaryForm form = FormOf(e->kind);
    if (form.infix.empty()) return fmt::format("{}({}, {})", form.function, Print(e->a), Print(e->b));
    // Operators group to the left; the right operand binds more tightly than its parent.
    const std::string text =
        fmt::format("{}{}{}", Print(e->a, form.level), form.infix, Print(e->b, static_cast<Level>(form.level + 1)));
    return form.level < around ? "(" + text + ")" : text;
  }
  std::string PrintCall(const tir::Call* call) {
    const auto* op = As<Op>(call->op);
    std::string text = op ? "T." + std::string(op->name.substr(op->name.find('.') + 1)) + "(" : "call(";
    for (uint32_t i = 0; i < call->args.size(); ++i) text += (i ? ", " : "") + Print(call->args[i]);
    return text + ")";
  }
};

std::string JoinDims(std::span<const PrimExpr* const> dims) {
  std::string text;
  for (const PrimExpr* dim : dims) text += (text.empty() ? "" : ", ") + DimToString(dim);
  return text;
}

std::string JoinTypes(std::span<const Type* const> types) {
  std::string text;
  for (const Type* type : types) text += (text.empty() ? "" : ", ") + TypeToString(type);
  return text;
}

std::string VDeviceToString(const VDeviceAttr* device) {
  const auto* kind = As<StrAttr>(device->target ? device->target->Find("kind") : nullptr);
  return fmt::format("{}:{}:{}", kind ? kind->value : "", device->vdevice_id, device->memory_scope);
}

std::string TensorToString(const TensorType* t) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (t->known) add(DimsToString(t->dims));
  if (t->shape_var)
    add(Var::ClassOf(t->shape_var->kind) ? std::string(static_cast<const Var*>(t->shape_var)->name()) : "...");
  if (!t->dtype.is_void()) add(fmt::format("dtype=\"{}\"", t->dtype.ToString()));
  if (!t->has_shape() && t->ndim != kUnknownDim) add(fmt::format("ndim={}", t->ndim));
  if (t->vdevice) add(fmt::format("vdevice=\"{}\"", VDeviceToString(t->vdevice)));
  return text.empty() ? "R.Tensor" : "R.Tensor(" + text + ")";
}

std::string FuncToString(const FuncType* f) {
  const std::string_view purity = f->purity ? "True" : "False";
  if (f->opaque) return fmt::format("R.Callable(ret={}, purity={})", TypeToString(f->ret), purity);
  return fmt::format("R.Callable(({}{}), {}, {})", JoinTypes(f->params), f->params.size() == 1 ? "," : "",
                     TypeToString(f->ret), purity);
}

}  // namespace

std::string DimToString(const PrimExpr* dim) { return DimPrinter().Print(dim); }

std::string DimsToString(std::span<const PrimExpr* const> dims) {
  return fmt::format("({}{})", JoinDims(dims), dims.size() == 1 ? "," : "");
}

std::string TypeToString(const Type* type) {
  if (!type) return "unknown";
  return WithStack([&]() -> std::string {
    switch (type->kind) {
      case NodeKind::kObjectType: return "R.Object";
      case NodeKind::kPrimType: {
        const auto* prim = static_cast<const PrimType*>(type);
        return prim->value ? fmt::format("R.Prim(value={})", DimToString(prim->value))
                           : fmt::format("R.Prim(\"{}\")", prim->dtype.ToString());
      }
      case NodeKind::kShapeType: {
        const auto* shape = static_cast<const ShapeType*>(type);
        if (shape->known) return fmt::format("R.Shape([{}])", JoinDims(shape->values));
        return shape->ndim == kUnknownDim ? "R.Shape" : fmt::format("R.Shape(ndim={})", shape->ndim);
      }
      case NodeKind::kTensorType: return TensorToString(static_cast<const TensorType*>(type));
      case NodeKind::kDTensorType: {
        const auto* dtensor = static_cast<const DTensorType*>(type);
        return fmt::format("R.DTensor({}, placement=\"{}\")", TensorToString(dtensor->tensor), dtensor->placement);
      }
      case NodeKind::kTupleType:
        return fmt::format("R.Tuple({})", JoinTypes(static_cast<const TupleType*>(type)->fields));
      case NodeKind::kFuncType: return FuncToString(static_cast<const FuncType*>(type));
      default: IROPT_UNREACHABLE("not a type");
    }
  });
}

}  // namespace iropt
