#include "form_printer.h"

#include <algorithm>
#include <cctype>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/device_calls.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt {
namespace {

// The name that is the first operand; empty if the call was not formed by the reader.
std::string_view NameOperand(const tir::Call* call) {
  const auto* name = call->args.empty() ? nullptr : As<tir::StringImm>(call->args[0]);
  return name ? name->value : std::string_view();
}

struct Keyword {
  std::string_view name;
  const PrimExpr* value;  // null if the operand is not a keyword
};
// An instruction of PTX that passes make: its operators and its names, until 0.24, in 0.25 and 0.26, and in 0.27.
struct PtxNames {
  OpId op, newest_op;
  std::string_view old, sorted, newest;
};
constexpr PtxNames kPtxNames[] = {
    {op::kTirPtxCpAsync, op::kTirSTirCpAsyncRaw, "T.ptx_cp_async", "T.ptx.cp_async", "T.s_tir.cp_async_raw"},
    {op::kTirPtxLdg32, op::kTirSTirLdg32, "T.ptx_ldg32", "T.ptx.ldg32", "T.s_tir.ldg32"},
    {op::kTirPtxCommitGroup, op::kTirPtxCommitGroup, "T.ptx_commit_group", "T.ptx.cp_async.commit_group", "T.ptx.cp"},
    {op::kTirPtxLdmatrix, op::kTirPtxLdmatrix, "T.ptx_ldmatrix", "T.ptx.ldmatrix_legacy", "T.ptx_legacy.ldmatrix"},
    {op::kTirPtxMma, op::kTirPtxMma, "T.ptx_mma", "T.ptx.mma_legacy", "T.ptx_legacy.mma"},
    {op::kTirPtxWaitGroup, op::kTirPtxWaitGroup, "T.ptx_wait_group", "T.ptx.cp_async.wait_group", "T.ptx.cp"},
};

Keyword AsKeyword(const PrimExpr* e) {
  const tir::Call* call = CallOf(e, op::kTirKeywordArg);
  if (!call || call->args.size() != 2 || NameOperand(call).empty()) return {};
  return {NameOperand(call), call->args[1]};
}

}  // namespace

bool PrimPrinter::IsPrintedAsScalar(const tir::Buffer& buffer) const {
  return buffer.layout && context_.Since(TextVersion::kV0_25) && IsScalar(buffer);
}

// ---- Layouts

// T.S[(4, 128):(128 @ Axis.F, 1 @ Axis.P)]
void FormPrinter::PrintLayoutIters(std::string_view name, std::span<const LayoutIter> iters) {
  out_.Append(name);
  out_.Append('[');
  const bool list = iters.size() != 1;
  if (list) out_.Append('(');
  for (size_t i = 0; i < iters.size(); ++i) {
    if (i) out_.Append(", ");
    prim_.Print(iters[i].extent);
  }
  out_.Append(list ? "):(" : ":");
  for (size_t i = 0; i < iters.size(); ++i) {
    if (i) out_.Append(", ");
    PrintOnAxis(iters[i], Precedence::kLambda);
  }
  out_.Append(list ? ")]" : "]");
}

// 128 @ Axis.F; the axis of memory is not written.
void FormPrinter::PrintOnAxis(const LayoutIter& iter, Precedence least) {
  const bool memory = iter.axis == "m";
  prim_.Print(iter.stride, memory ? least : Precedence::kMul);
  if (memory) return;
  out_.Append(" @ Axis.");
  out_.Append(iter.axis);
}

void FormPrinter::PrintTileLayout(const TileLayout& layout) {
  if (layout.shard.empty() && layout.replica.empty()) {
    out_.Append("T.TileLayout.from_iters(");
    for (size_t i = 0; i < layout.offset.size(); ++i) {
      out_.Append(i ? ", " : "offset={");
      PrintString(layout.offset[i].axis, out_);
      out_.Append(": ");
      prim_.Print(layout.offset[i].stride);
    }
    return out_.Append(layout.offset.empty() ? ")" : "})");
  }
  out_.Append("T.TileLayout(");
  if (!layout.shard.empty()) PrintLayoutIters("T.S", layout.shard);
  if (!layout.replica.empty()) PrintLayoutIters(layout.shard.empty() ? "T.R" : " + T.R", layout.replica);
  if (!layout.offset.empty()) {
    // As one sum, since each term is on an axis of its own.
    const bool sum = layout.offset.size() > 1;
    out_.Append(sum ? " + (" : " + ");
    for (size_t i = 0; i < layout.offset.size(); ++i) {
      if (i) out_.Append(" + ");
      PrintOnAxis(layout.offset[i], Precedence::kMul);
    }
    if (sum) out_.Append(')');
  }
  out_.Append(')');
}

// ---- Operands

// Prints an operand; without `typed`, which is for values of Python, a truth value has no type.
void FormPrinter::PrintOperand(const PrimExpr* operand, bool typed) {
  const auto* number = As<tir::IntImm>(operand);
  if (!typed && number && number->dtype == DataType::Bool()) return out_.Append(number->value ? "True" : "False");
  prim_.Print(operand);
}

void FormPrinter::PrintOperands(std::span<const PrimExpr* const> operands, bool typed) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i) out_.Append(", ");
    const Keyword keyword = AsKeyword(operands[i]);
    if (keyword.value) {
      out_.Append(keyword.name);
      out_.Append('=');
    }
    PrintOperand(keyword.value ? keyword.value : operands[i], typed);
  }
}

// {"key": value}
bool FormPrinter::PrintDict(std::span<const PrimExpr* const> items) {
  if (!std::ranges::all_of(items, [](const PrimExpr* e) { return AsKeyword(e).value; })) return false;
  out_.Append('{');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out_.Append(", ");
    const Keyword keyword = AsKeyword(items[i]);
    PrintString(keyword.name, out_);
    out_.Append(": ");
    PrintOperand(keyword.value, false);
  }
  out_.Append('}');
  return true;
}

// A[0:8, i] for the first element and the extents.
bool FormPrinter::PrintRegionOperand(const tir::Call* call) {
  const auto* first = call->args.empty() ? nullptr : As<tir::BufferLoad>(call->args[0]);
  if (!first || first->predicate || first->indices.size() + 1 != call->args.size()) return false;
  prim_.PrintBuffer(first->buffer);
  out_.Append(first->indices.empty() ? "[()" : "[");
  for (uint32_t i = 0; i < first->indices.size(); ++i) {
    if (i) out_.Append(", ");
    const PrimExpr* extent = call->args[i + 1];
    prim_.Print(first->indices[i]);
    if (arith::IsInt(extent, 1) && extent->dtype == first->indices[i]->dtype) continue;
    out_.Append(':');
    prim_.PrintEnd(first->indices[i], extent);
  }
  out_.Append(']');
  return true;
}

// lambda i, j: i < j
bool FormPrinter::PrintLambdaOperand(const tir::Call* call) {
  const int64_t* count = call->args.size() == 2 ? arith::AsInt(call->args[1]) : nullptr;
  if (!count) return false;
  const PrimExpr* body = call->args[0];
  for (int64_t i = 0; i < *count; ++i) {
    const auto* let = As<tir::Let>(body);
    if (!let) return false;
    body = let->body;
  }
  const size_t mark = context_.names.Mark();
  out_.Append("lambda ");
  body = call->args[0];
  for (int64_t i = 0; i < *count; ++i) {
    const auto* let = To<tir::Let>(body);
    out_.Append(i ? ", " : "");
    out_.Append(context_.names.Define(let->var));
    body = let->body;
  }
  out_.Append(": ");
  prim_.Print(body);
  context_.names.Release(mark);
  return true;
}

// ---- Calls

// "float32"; TVM 0.26 names the type of a pointer by an expression.
void PrimPrinter::PrintCallType(const tir::Call& call) {
  if (!call.dtype.is_handle() || !context_.Since(TextVersion::kV0_26)) return PrintDType(call.dtype);
  call.pointer ? PrintPointerType(*call.pointer) : out_.Append("T.handle()");
  out_.Append(".ty");
}

// A pointer of another type, which has the same dtype.
bool PrimPrinter::IsPointerCast(const tir::Call& call) const {
  return CallOf(&call, op::kTirReinterpret) && call.args.size() == 1 && call.dtype.is_handle() &&
         call.args[0]->dtype.is_handle() && context_.Since(TextVersion::kV0_26);
}

// TVM 0.25 sorts intrinsics by target. The newest version spells instructions of PTX by their parts, and has names of
// their own for what passes make.
void PrintScriptName(const OpInfo& op, PrintTarget& context) {
  const auto is = [&](auto... ids) { return ((op.id == ids) || ...); };
  std::string_view target;
  for (const PtxNames& names : kPtxNames) {
    if (!is(names.op, names.newest_op)) continue;
    return context.out.Append(context.Since(TextVersion::kV0_27)   ? names.newest
                              : context.Since(TextVersion::kV0_25) ? names.sorted
                                                                   : names.old);
  }
  if (is(op::kTirMakeFilledSimdgroupMatrix, op::kTirSimdgroupLoad, op::kTirSimdgroupMultiplyAccumulate,
         op::kTirSimdgroupStore))
    target = "T.metal.";
  if (is(op::kTirMmaFill, op::kTirMmaStore, op::kTirMmaFillLegacy, op::kTirMmaStoreLegacy)) target = "T.cuda.";
  if (target.empty() || !context.Since(TextVersion::kV0_25)) return context.out.Append(op.script);
  context.out.Append(target);
  context.out.Append(op.script.substr(2));
}

// T.ptx.cp("async", "commit_group", ""), T.ptx.cp(0, "async", "wait_group", "") of the newest version.
bool FormPrinter::PrintCopyGroup(const tir::Call* call) {
  const bool waits = IsOp(call->op, op::kTirPtxWaitGroup);
  if (!context_.Since(TextVersion::kV0_27) || call->args.size() != (waits ? 1 : 0)) return false;
  out_.Append("T.ptx.cp(");
  if (waits) {
    prim_.Print(call->args[0]);
    out_.Append(", ");
  }
  out_.Append(waits ? "\"async\", \"wait_group\", \"\")" : "\"async\", \"commit_group\", \"\")");
  return true;
}

// T.nki.load(A[0], B[0])
bool FormPrinter::PrintDeviceCall(const tir::Call* call) {
  const std::string_view name = NameOperand(call);
  const OpId group = CopyGroupOf(call);
  if (group != op::kTirDeviceCall && !context_.Since(TextVersion::kV0_27)) {
    PrintScriptName(*GetOp(group)->info, context_);
    out_.Append('(');
    if (group == op::kTirPtxWaitGroup) prim_.Print(call->args[1]);
    out_.Append(')');
    return true;
  }
  const DeviceCallInfo* info = FindDeviceCall(name);
  if (!info) return false;
  auto operands = call->args.span().subspan(1);
  const std::optional<DataType> dtype = ResultDtypeOf(*info, operands);
  out_.Append("T.");
  const bool is_path = std::ranges::all_of(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; });
  if (is_path) {
    out_.Append(name);
  } else {
    // An instruction with modifiers that are not names.
    out_.Append("ptx[");
    PrintString(name.substr(name.find('.') + 1), out_);
    out_.Append(']');
  }
  out_.Append('(');
  const tir::StringImm* code = SourceCodeOf(call);
  PrintOperands(code ? operands.first(operands.size() - 1) : operands, true);
  if (code) {
    out_.Append(", source_code=");
    PrintString(code->value, out_);
  }
  if (dtype != call->dtype) {
    out_.Append(operands.empty() ? "" : ", ");
    out_.Append(name == "cuda.func_call" ? "return_type=" : "dtype=");
    prim_.PrintDType(call->dtype);
  }
  out_.Append(')');
  return true;
}

// T.Call("tirx.exp", [x], attrs={"key": value}, ret_ty="float32"); in 0.25, the dtype comes first.
bool FormPrinter::PrintAttributedCall(const tir::Call* call) {
  const auto* inner = call->args.size() == 2 ? As<tir::Call>(call->args[0]) : nullptr;
  const auto* op = inner ? As<Op>(inner->op) : nullptr;
  const tir::Call* dict = CallOf(call->args.size() == 2 ? call->args[1] : nullptr, op::kTirDictArg);
  if (!op || !dict || !std::ranges::all_of(dict->args, [](const PrimExpr* e) { return AsKeyword(e).value; }))
    return false;
  // The name of an instruction is its first operand.
  const bool is_device_call = IsOneOf(*op, op::kTirDeviceCall, op::kTirPureDeviceCall);
  const std::string_view name =
      is_device_call ? NameOperand(inner) : op->info->name.substr(op->info->name.find('.') + 1);
  const bool is_first = context_.version == TextVersion::kV0_25;
  out_.Append("T.Call(");
  if (is_first) {
    prim_.PrintDType(call->dtype);
    out_.Append(", ");
  }
  out_.Append("\"tirx.");
  out_.Append(name);
  out_.Append("\", [");
  PrintOperands(inner->args.span().subspan(is_device_call ? 1 : 0), true);
  out_.Append("], attrs=");
  PrintDict(dict->args);
  if (is_first) return out_.Append(')'), true;
  out_.Append(", ret_ty=");
  if (call->dtype.is_handle()) {
    out_.Append("T.handle().ty");
  } else {
    prim_.PrintDType(call->dtype);
  }
  out_.Append(')');
  return true;
}

bool FormPrinter::PrintAssertMessage(const tir::Call* call) {
  if (NameOperand(call).empty()) return false;
  out_.Append('(');
  prim_.Print(call->args[0]);
  out_.Append(", ");
  prim_.PrintList(call->args.span().subspan(1));
  out_.Append(')');
  return true;
}

// T.ComposeLayout(3, 3, 3, T.TileLayout(...)); in 0.25, the numbers are a layout of their own.
bool FormPrinter::PrintComposeLayout(const tir::Call* call) {
  if (call->args.size() != 5 || !Is<tir::IntImm>(call->args[4]) || !AsTileLayout(call->args[3])) return false;
  const bool is_inner = arith::IsInt(call->args[4], 1);
  out_.Append("T.ComposeLayout(");
  if (context_.version != TextVersion::kV0_25) {
    prim_.PrintItems(call->args.span().first(4));
    out_.Append(is_inner ? ")" : ", swizzle_inner=False)");
    return true;
  }
  out_.Append("T.SwizzleLayout(");
  prim_.PrintItems(call->args.span().first(3));
  out_.Append(is_inner ? ", swizzle_inner=True), " : ", swizzle_inner=False), ");
  prim_.Print(call->args[3]);
  out_.Append(')');
  return true;
}

bool FormPrinter::PrintTileCall(const tir::Call* call) {
  if (NameOperand(call).empty()) return false;
  out_.Append("T.");
  out_.Append(NameOperand(call));
  out_.Append('(');
  PrintOperands(call->args.span().subspan(1), false);
  out_.Append(')');
  return true;
}

bool FormPrinter::Print(const tir::Call* call) {
  const auto* op = As<Op>(call->op);
  if (!op) return false;
  if (IsOneOf(*op, op::kTirPtxCommitGroup, op::kTirPtxWaitGroup)) return PrintCopyGroup(call);
  if (op->id < op::kTirAssertMessage || op->id > op::kTirTileLayout) return false;
  switch (op->id) {
    case op::kTirAssertMessage: return PrintAssertMessage(call);
    case op::kTirAttributedCall: return PrintAttributedCall(call);
    case op::kTirBufferArg: {
      const auto* load = call->args.size() == 1 ? As<tir::BufferLoad>(call->args[0]) : nullptr;
      if (load) prim_.PrintBuffer(load->buffer);
      return load != nullptr;
    }
    case op::kTirComposeLayout: return PrintComposeLayout(call);
    case op::kTirPureDeviceCall:
    case op::kTirDeviceCall: return PrintDeviceCall(call);
    case op::kTirDictArg: return PrintDict(call->args);
    case op::kTirLambdaArg: return PrintLambdaOperand(call);
    case op::kTirListArg:
      out_.Append('[');
      PrintOperands(call->args, false);
      return out_.Append(']'), true;
    case op::kTirNoneArg: return out_.Append("None"), true;
    case op::kTirRegionArg: return PrintRegionOperand(call);
    case op::kTirTileCall: return PrintTileCall(call);
    case op::kTirTileLayout: {
      const auto layout = AsTileLayout(call);
      if (layout) PrintTileLayout(*layout);
      return layout.has_value();
    }
    default: return false;
  }
}

void PrimPrinter::PrintOperands(std::span<const PrimExpr* const> operands, bool typed) {
  FormPrinter(*this, context_).PrintOperands(operands, typed);
}

const tir::StringImm* SourceCodeOf(const tir::Call* call) {
  if (CallOf(call, op::kTirDeviceCall) == nullptr || call->args.size() < 3) return nullptr;
  return NameOperand(call) == "cuda.func_call" ? As<tir::StringImm>(call->args.back()) : nullptr;
}

}  // namespace iropt
