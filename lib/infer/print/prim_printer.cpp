#include "iropt/infer/print/prim_printer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "call_form.h"
#include "form_printer.h"
#include "iropt/arith/const_fold.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/dispatch.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/large_uint.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt {
namespace {

// Returns whether an operator or function folds the operands to another expression, or refuses to divide by 0.
bool Folds(const tir::BinaryExpr* e) {
  // Other nodes than variables are not shared after they were read.
  const bool is_same = e->a == e->b && tir::Var::ClassOf(e->a->kind);
  if (!is_same && !IsConstantNumber(e->a) && !IsConstantNumber(e->b)) return false;
  if (e->kind >= NodeKind::kDiv && e->kind <= NodeKind::kFloorMod && arith::IsInt(e->b, 0)) return true;
  // Remainders of numbers that are not indices stay.
  const bool is_remainder = e->kind == NodeKind::kMod || e->kind == NodeKind::kFloorMod;
  if (Is<tir::IntImm>(e->a) && Is<tir::IntImm>(e->b)) return !is_remainder || arith::IsIndexType(e->a->dtype);
  Arena scratch;
  return arith::TryFold(e->kind, e->a, e->b, arith::PrimBuilder(scratch, TextVersion::kV0_18)) != nullptr;
}

// The function of an operation without an operator.
std::string_view FunctionOf(const tir::BinaryExpr* e) {
  if (Folds(e)) return OperatorOf(e->kind).function;
  switch (e->kind) {
    case NodeKind::kMod: return "T.truncmod";
    case NodeKind::kMin: return "T.min";
    case NodeKind::kMax: return "T.max";
    default: return OperatorOf(e->kind).function;
  }
}

// Returns whether the operator, read back, makes this very node: the operands match and nothing folds.
bool PrintsAsOperator(const tir::BinaryExpr* e) {
  if (OperatorOf(e->kind).infix.empty()) return false;
  if (e->kind == NodeKind::kDiv && e->a->dtype.is_integer() && e->b->dtype.is_integer()) return false;
  if (e->a->dtype != e->b->dtype) return false;
  const bool needs_integers = e->kind == NodeKind::kFloorDiv || e->kind == NodeKind::kFloorMod;
  if (needs_integers && !e->a->dtype.is_integer()) return false;
  return !Folds(e);
}

Precedence PrecedenceOf(const PrimExpr* e) {
  if (e->kind == NodeKind::kNot) return Precedence::kNot;
  if (const auto* binary = As<tir::BinaryExpr>(e); binary && PrintsAsOperator(binary))
    return OperatorOf(e->kind).precedence;
  return Precedence::kAtom;
}

// Returns whether a slice base:end:stride is read as this vector of indices: it moves, and its end exists.
bool PrintsAsSlice(const tir::Ramp& ramp) {
  const int64_t* stride = arith::AsInt(ramp.stride);
  if (!stride || *stride == 0) return false;
  const int64_t* lanes = arith::AsInt(ramp.lanes);
  if (!lanes) return true;
  const DataType dtype = ramp.base->dtype;
  const int64_t* base = arith::AsInt(ramp.base);
  int64_t end = 0;
  return !__builtin_mul_overflow(*stride, *lanes + 1, &end) && arith::FitsIn(end, dtype) &&
         (!base || (!__builtin_add_overflow(end, *base, &end) && arith::FitsIn(end, dtype)));
}

// Visits the names that an expression uses, by its field descriptions.
class NameWalker {
 public:
  NameWalker(FunctionRef<void(const tir::Var*)> var, FunctionRef<void(const tir::Buffer*)> buffer)
      : var_(var), buffer_(buffer) {}

  void Walk(const PrimExpr* e) {
    if (!e || IsConstantNumber(e)) return;
    if (tir::Var::ClassOf(e->kind)) return var_(static_cast<const tir::Var*>(e));
    WithStack([&] { DispatchIn<NodeGroup::kPrim>(e, [&](const auto* n) { Fields(n); }); });
  }

 private:
  template <class X>
  void Fields(const X* n) {
    ForEachField(n, [&](const auto&, const auto& value) { Field(value); });
  }
  void Field(const PrimExpr* e) { Walk(e); }
  void Field(const tir::Var* v) { Walk(v); }
  void Field(const tir::Buffer* b) { buffer_(b); }
  void Field(const tir::IterVar* v) {
    Walk(v->var);
    if (v->dom) Fields(v->dom);
  }
  template <class T>
  void Field(const List<T>& items) {
    if constexpr (std::is_pointer_v<T>) {
      for (const T& item : items) Field(item);
    }
  }
  template <class T>
  void Field(const T&) {}

  FunctionRef<void(const tir::Var*)> var_;
  FunctionRef<void(const tir::Buffer*)> buffer_;
};

}  // namespace

void ForEachPrimName(const PrimExpr* expr, FunctionRef<void(const tir::Var*)> var,
                     FunctionRef<void(const tir::Buffer*)> buffer) {
  NameWalker(var, buffer).Walk(expr);
}

void PrintPrimExpr(const PrimExpr* expr, PrintTarget& context, ScriptDialect mode) {
  PrimPrinter(context, mode).Print(expr);
}

// ---- Literals

std::string DTypeName(DataType dtype, TextVersion version) {
  if (dtype.is_void()) return "void";
  std::string name = dtype.ToString();
  if (version < TextVersion::kV0_20) return name;
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {{"e4m3_float8", "float8_e4m3fn"},
                                                                        {"e5m2_float8", "float8_e5m2"}};
  for (const auto& [old_name, new_name] : kRenamed) {
    if (name.starts_with(old_name)) return std::string(new_name) + name.substr(old_name.size());
  }
  return name;
}

void PrintString(std::string_view text, OutputStream& out) {
  out.Append('"');
  size_t plain = 0;
  const auto flush = [&](size_t end) { out.Append(text.substr(plain, end - plain)); };
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= ' ' && c < 127 && c != '"' && c != '\\') continue;
    flush(i);
    plain = i + 1;
    switch (c) {
      case '"': out.Append("\\\""); break;
      case '\\': out.Append("\\\\"); break;
      case '\t': out.Append("\\t"); break;
      case '\r': out.Append("\\r"); break;
      case '\n': out.Append("\\n"); break;
      default: {
        constexpr std::string_view kHex = "0123456789ABCDEF";
        const char hex[] = {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
        out.Append(std::string_view(hex, 4));
      }
    }
  }
  flush(text.size());
  out.Append('"');
}

void PrintFloat(double value, OutputStream& out) {
  fmt::memory_buffer text;
  if (std::isinf(value) || std::isnan(value)) {
    fmt::format_to(std::back_inserter(text), "\"{}\"",
                   std::isnan(value) ? (std::signbit(value) ? "-nan" : "nan")
                   : value < 0       ? "-inf"
                                     : "inf");
  } else if (std::nearbyint(value) == value) {
    fmt::format_to(std::back_inserter(text), "{:.1f}", value);
  } else {
    fmt::format_to(std::back_inserter(text), "{:.17g}", value);
  }
  out.Append(std::string_view(text.data(), text.size()));
}

// ---- Names

void PrimPrinter::DefineFirst() {
  if (const PrimExpr* first = std::exchange(evaluated_first_, nullptr)) {
    ForEachPrimName(
        first, [&](const tir::Var* v) { NameOf(v); }, [&](const tir::Buffer* b) { NameOf(b); });
  }
}

std::string_view PrimPrinter::NameOf(const tir::Var* var) {
  if (const std::string_view name = context_.names.Find(var); !name.empty()) return name;
  if (!free_) return var->name;
  DefineFirst();
  const std::string_view name = context_.names.Find(var);
  return name.empty() ? free_->Define(var) : name;
}

std::string_view PrimPrinter::NameOf(const tir::Buffer* buffer) {
  if (const std::string_view name = context_.names.Find(buffer); !name.empty()) return name;
  if (!free_) return buffer->name;
  DefineFirst();
  const std::string_view name = context_.names.Find(buffer);
  return name.empty() ? free_->Define(buffer) : name;
}

// ---- Pieces

void PrimPrinter::PrintItems(std::span<const PrimExpr* const> exprs) {
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (i) out_.Append(", ");
    Print(exprs[i]);
  }
}

void PrimPrinter::PrintTuple(std::span<const PrimExpr* const> exprs) {
  out_.Append('(');
  PrintItems(exprs);
  out_.Append(exprs.size() == 1 ? ",)" : ")");
}

void PrimPrinter::PrintList(std::span<const PrimExpr* const> exprs) {
  out_.Append('[');
  PrintItems(exprs);
  out_.Append(']');
}

void PrimPrinter::PrintDTypeName(DataType dtype) {
  if (last_dtype_name_.empty() || dtype != last_dtype_) {
    last_dtype_ = dtype;
    last_dtype_name_ = "T." + DTypeName(dtype, context_.version);
  }
  out_.Append(last_dtype_name_);
}

// Returns whether to state the type that a pointer points to. From 0.26 on, the text leaves it out for a pointer in the
// usual memory if it is not known.
bool PrimPrinter::StatesPointer(const tir::PointerInfo* pointer) const {
  if (!pointer || !pointer->elem.is_void() || !context_.Since(TextVersion::kV0_26)) return pointer != nullptr;
  return pointer->scope != "global";
}

void PrimPrinter::PrintVarType(const tir::Var* var) {
  StatesPointer(var->pointer) ? PrintPointerType(*var->pointer) : PrintDTypeName(var->dtype);
}

void PrimPrinter::PrintPointerType(const tir::PointerInfo& pointer) {
  if (pointer.elem.is_void() && pointer.scope == kTensorMapScope) return out_.Append("T.TensorMap()");
  if (pointer.elem.is_void() && context_.Since(TextVersion::kV0_26)) {
    out_.Append("T.handle(storage_scope=");
    PrintString(pointer.scope, out_);
    return out_.Append(')');
  }
  out_.Append("T.handle(");
  PrintDType(pointer.elem);
  // Without a scope, it points to the usual memory, which newer versions state.
  const bool states_usual = pointer.scope.empty() && context_.Since(TextVersion::kV0_27);
  if (!pointer.scope.empty() || states_usual) {
    out_.Append(", ");
    PrintString(states_usual ? "global" : pointer.scope, out_);
  }
  out_.Append(')');
}

void PrimPrinter::PrintVarCreation(const tir::Var* var) {
  PrintVarType(var);
  if (!StatesPointer(var->pointer))
    out_.Append(var->is_size_var() && !context_.Since(TextVersion::kV0_26) ? "(is_size_var=True)" : "()");
}

void PrimPrinter::PrintEnd(const PrimExpr* min, const PrimExpr* extent) {
  Arena scratch;
  Print(arith::PrimBuilder(scratch, context_.version).Add(min, extent));
}

void PrimPrinter::PrintIndices(std::span<const PrimExpr* const> indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i) out_.Append(", ");
    const auto* ramp = As<tir::Ramp>(indices[i]);
    if (!ramp || !PrintsAsSlice(*ramp)) {
      Print(indices[i]);
      continue;
    }
    Arena scratch;
    const arith::PrimBuilder make(scratch, context_.version);
    Print(ramp->base);
    out_.Append(':');
    Print(make.Add(ramp->base, make.Mul(ramp->lanes, ramp->stride)));
    if (!arith::IsInt(ramp->stride, 1)) {
      out_.Append(':');
      Print(ramp->stride);
    }
  }
}

void PrimPrinter::PrintAccess(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices) {
  if (IsPrintedAsScalar(*buffer)) return out_.Append(NameOf(buffer));
  PrintBuffer(buffer);
  out_.Append(indices.empty() ? "[()" : "[");
  PrintIndices(indices);
  out_.Append(']');
}

void PrimPrinter::PrintRegion(const tir::BufferRegion* region) {
  PrintBuffer(region->buffer);
  out_.Append(region->region.empty() ? "[()" : "[");
  for (uint32_t i = 0; i < region->region.size(); ++i) {
    const tir::Range* range = region->region[i];
    if (i) out_.Append(", ");
    Print(range->min);
    // An index has the dtype of its minimum.
    if (arith::IsInt(range->extent, 1) && range->extent->dtype == range->min->dtype) continue;
    out_.Append(':');
    PrintEnd(range->min, range->extent);
  }
  out_.Append(']');
}

void PrimPrinter::PrintRange(const tir::Range* range) {
  out_.Append("T.Range(");
  // A number without a type has that of the end.
  const int64_t* begin = arith::AsInt(range->min);
  if (begin && range->min->dtype != range->extent->dtype) {
    PrintDTypeName(range->min->dtype);
    out_.Append('(');
    out_.AppendInt(*begin);
    out_.Append(')');
  } else {
    Print(range->min);
  }
  out_.Append(", ");
  PrintEnd(range->extent, range->min);
  out_.Append(')');
}

void PrimPrinter::PrintIterVar(const tir::IterVar* iter_var) {
  static constexpr std::string_view kTypes[] = {"DataPar",  "ThreadIndex", "CommReduce",   "Ordered",   "Opaque",
                                                "Unrolled", "Vectorized",  "Parallelized", "Tensorized"};
  out_.Append("T.iter_var(");
  PrintVar(iter_var->var);
  out_.Append(", ");
  if (iter_var->dom) {
    PrintRange(iter_var->dom);
  } else {
    out_.Append("None");
  }
  out_.Append(", ");
  PrintString(kTypes[static_cast<size_t>(iter_var->iter_type)], out_);
  out_.Append(", ");
  PrintString(iter_var->thread_tag, out_);
  out_.Append(')');
}

void PrimPrinter::PrintReducer(const tir::CommReducer* reducer) {
  const size_t mark = context_.names.Mark();
  out_.Append("T.comm_reducer(lambda ");
  bool first = true;
  for (const auto* vars : {&reducer->lhs, &reducer->rhs}) {
    for (const tir::Var* var : *vars) {
      out_.Append(first ? "" : ", ");
      out_.Append(context_.names.Define(var));
      first = false;
    }
  }
  out_.Append(": ");
  if (reducer->result.size() == 1) {
    Print(reducer->result[0]);
  } else {
    PrintTuple(reducer->result);
  }
  context_.names.Release(mark);
  out_.Append(", ");
  PrintList(reducer->identity_element);
  out_.Append(')');
}

// ---- Expressions

void PrimPrinter::Print(const PrimExpr* expr, Precedence least) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { Print(expr, least); });
  // Nothing binds weaker than a whole expression, so most calls do not depend on the printed form of the expression.
  const bool group = least > Precedence::kLambda && PrecedenceOf(expr) < least;
  if (group) out_.Append('(');
  PrintUngrouped(expr);
  if (group) out_.Append(')');
}

void PrimPrinter::PrintFunction(std::string_view name, std::initializer_list<const PrimExpr*> args) {
  out_.Append(name);
  out_.Append('(');
  PrintItems({args.begin(), args.size()});
  out_.Append(')');
}

void PrimPrinter::PrintInt(const tir::IntImm* imm) {
  const bool is_bool = imm->dtype == DataType::Bool();
  const bool plain = imm->dtype == DataType::Int(mode_ == ScriptDialect::kRelax ? 64 : 32);
  if (!plain) {
    PrintDTypeName(imm->dtype);
    out_.Append('(');
  }
  if (is_bool) {
    out_.Append(imm->value ? "True" : "False");
  } else {
    out_.AppendInt(imm->value);
  }
  if (!plain) out_.Append(')');
}

void PrimPrinter::PrintBinary(const tir::BinaryExpr* e) {
  const OperatorInfo& form = OperatorOf(e->kind);
  if (!PrintsAsOperator(e)) return PrintFunction(FunctionOf(e), {e->a, e->b});
  Print(e->a, form.precedence);
  out_.Append(form.infix);
  Print(e->b, Above(form.precedence));
}

// T.call_intrin("float64", "tir.fabs", x)
void PrimPrinter::PrintIntrinsic(const tir::Call* call) {
  out_.Append("T.call_intrin(");
  PrintDType(call->dtype);
  out_.Append(", ");
  PrintString(To<Op>(call->op)->info->name, out_);
  for (const PrimExpr* arg : call->args) {
    out_.Append(", ");
    Print(arg);
  }
  out_.Append(')');
}

void PrimPrinter::PrintCall(const tir::Call* call) {
  if (const auto value = AsLargeUInt(call)) {
    PrintDTypeName(call->dtype);
    return out_.Append(fmt::format("({})", *value));
  }
  if (FormPrinter(*this, context_).Print(call)) return;
  if (!ReadsBackByName(*call) && !IsPointerCast(*call)) return PrintIntrinsic(call);
  DtypePrint place = DtypePrint::kNone;
  bool by_name = false;
  if (const auto* op = As<Op>(call->op)) {
    PrintScriptName(*op->info, context_);
    // From 0.25 on, calls for tensor cores do not state the dtype of the elements.
    const bool is_untyped = IsOneOf(*op, op::kTirPtxLdmatrix, op::kTirPtxMma) && context_.Since(TextVersion::kV0_25);
    place = is_untyped ? DtypePrint::kNone : IntrinsicOf(op)->dtype_print;
    // TVM leaves it out, and cannot read the call.
    by_name = place == DtypePrint::kNone && !is_untyped && IntrinsicOf(op)->result == ResultDtype::kGiven;
  } else {
    const auto* func = To<GlobalVar>(call->op);
    if (context_.module) {
      out_.Append(context_.module->name());
      out_.Append('.');
    }
    out_.Append(func->name);
  }
  out_.Append('(');
  if (place == DtypePrint::kFirst) {
    PrintCallType(*call);
    if (!call->args.empty()) out_.Append(", ");
  }
  PrintItems(call->args);
  if (place == DtypePrint::kLast) {
    if (!call->args.empty()) out_.Append(", ");
    PrintCallType(*call);
  } else if (by_name) {
    out_.Append(call->args.empty() ? "dtype=" : ", dtype=");
    PrintCallType(*call);
  }
  // The dtype of the result of a packed function. TVM leaves it out, and then reads int32.
  const auto* op = As<Op>(call->op);
  if (op && IntrinsicOf(op)->packs_buffers && call->dtype != IntrinsicOf(op)->dtype) {
    if (!call->args.empty()) out_.Append(", ");
    out_.Append("dtype=");
    PrintCallType(*call);
  }
  out_.Append(')');
}

void PrimPrinter::PrintLoad(const tir::BufferLoad* load) {
  if (!load->predicate) return PrintAccess(load->buffer, load->indices);
  PrintBuffer(load->buffer);
  out_.Append(".vload(");
  PrintList(load->indices);
  out_.Append(", predicate=");
  Print(load->predicate);
  out_.Append(')');
}

void PrimPrinter::PrintLet(const tir::Let* let) {
  evaluated_first_ = let->value;
  NameOf(let->var);
  out_.Append("T.Let(");
  Print(let->body);
  out_.Append(", where={");
  PrintVar(let->var);
  out_.Append(": ");
  Print(let->value);
  out_.Append("})");
}

void PrimPrinter::PrintReduce(const tir::Reduce* reduce) {
  out_.Append("T.reduce(");
  PrintReducer(reduce->combiner);
  out_.Append(", source=");
  PrintList(reduce->source);
  out_.Append(", init=");
  PrintList(reduce->init);
  out_.Append(", axis=[");
  for (uint32_t i = 0; i < reduce->axis.size(); ++i) {
    if (i) out_.Append(", ");
    PrintIterVar(reduce->axis[i]);
  }
  out_.Append("], condition=");
  Print(reduce->condition);
  out_.Append(", value_index=");
  out_.AppendInt(reduce->value_index);
  out_.Append(')');
}

void PrimPrinter::PrintStringImm(const tir::StringImm* string) {
  if (context_.strings != nullptr) {
    if (const auto number = context_.strings->find(string); number != context_.strings->end()) {
      out_.Append(context_.Since(TextVersion::kV0_24) ? "metadata[\"tirx.StringImm\"]["
                                                      : "metadata[\"tir.StringImm\"][");
      out_.AppendInt(number->second);
      return out_.Append(']');
    }
  }
  PrintString(string->value, out_);
}

void PrimPrinter::PrintUngrouped(const PrimExpr* e) {
  switch (e->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: return PrintVar(static_cast<const tir::Var*>(e));
    case NodeKind::kIntImm: return PrintInt(static_cast<const tir::IntImm*>(e));
    case NodeKind::kFloatImm:
      PrintDTypeName(e->dtype);
      out_.Append('(');
      PrintFloat(static_cast<const tir::FloatImm*>(e)->value, out_);
      return out_.Append(')');
    case NodeKind::kPrimStringImm: return PrintStringImm(static_cast<const tir::StringImm*>(e));
    case NodeKind::kCast:
      out_.Append("T.Cast(");
      PrintDType(e->dtype);
      out_.Append(", ");
      Print(static_cast<const tir::Cast*>(e)->value);
      return out_.Append(')');
    case NodeKind::kNot: {
      const PrimExpr* a = static_cast<const tir::Not*>(e)->a;
      if (mode_ == ScriptDialect::kRelax && IsConstantNumber(a)) return PrintFunction("T.Not", {a});
      out_.Append("not ");
      return Print(a, Precedence::kNot);
    }
    case NodeKind::kSelect: {
      const auto* s = static_cast<const tir::Select*>(e);
      return PrintFunction("T.Select", {s->condition, s->true_value, s->false_value});
    }
    case NodeKind::kLet: return PrintLet(static_cast<const tir::Let*>(e));
    case NodeKind::kPrimCall: return PrintCall(static_cast<const tir::Call*>(e));
    case NodeKind::kBufferLoad: return PrintLoad(static_cast<const tir::BufferLoad*>(e));
    case NodeKind::kProducerLoad: {
      const auto* load = static_cast<const tir::ProducerLoad*>(e);
      out_.Append(load->producer->name);
      out_.Append(load->indices.empty() ? "[()" : "[");
      PrintIndices(load->indices);
      return out_.Append(']');
    }
    case NodeKind::kRamp: {
      const auto* r = static_cast<const tir::Ramp*>(e);
      return PrintFunction("T.Ramp", {r->base, r->stride, r->lanes});
    }
    case NodeKind::kBroadcast: {
      const auto* b = static_cast<const tir::Broadcast*>(e);
      return PrintFunction("T.Broadcast", {b->value, b->lanes});
    }
    case NodeKind::kShuffle: {
      const auto* s = static_cast<const tir::Shuffle*>(e);
      out_.Append("T.Shuffle(");
      PrintList(s->vectors);
      out_.Append(", ");
      PrintList(s->indices);
      return out_.Append(')');
    }
    case NodeKind::kReduce: return PrintReduce(static_cast<const tir::Reduce*>(e));
    default: return PrintBinary(To<tir::BinaryExpr>(e));
  }
}

}  // namespace iropt
