#include "call_form.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"

namespace iropt {
namespace {

// With operands of one dtype.
bool KeepsBits(const tir::Call& call, arith::BitOp op) {
  const PrimExpr* a = call.args[0];
  const PrimExpr* b = call.args[1];
  if (arith::CheckBitwise(op, a, b)) return false;
  Arena scratch;
  const PrimExpr* made = arith::PrimBuilder(scratch, TextVersion::kV0_18).Bitwise(op, a, b);
  return made != a && Is<tir::Call>(made);  // a shift by 0 is its operand
}

// The statement T.prefetch(address, ...) has the dtype of the element at the address.
DataType PrefetchedType(const tir::Call& call) {
  const tir::Call* address = call.args.empty() ? nullptr : CallOf(call.args[0], op::kTirAddressOf);
  return address && address->args.size() == 1 ? address->args[0]->dtype : DataType::Handle();
}

// Returns whether the function of the script makes a call of these operands at all. There are as many as it takes.
bool KeepsCall(const tir::Call& call, OpId id) {
  switch (id) {
    case op::kTirCeil:
    case op::kTirFloor:
    case op::kTirNearbyint:
    case op::kTirRound:
    case op::kTirTrunc: return !call.args[0]->dtype.is_integer() && !IsConstantNumber(call.args[0]);
    case op::kTirFabs: return call.args[0]->dtype.is_floating() && !IsConstantNumber(call.args[0]);
    case op::kTirIsNan: {
      const DataType dtype = call.args[0]->dtype;
      return !dtype.is_integer() && !IsConstantNumber(call.args[0]) && dtype.bits != 16;
    }
    case op::kTirLikely: return !Is<tir::IntImm>(call.args[0]);
    case op::kTirIfThenElse: return !Is<tir::IntImm>(call.args[0]) && call.args[0]->dtype.is_bool();
    case op::kTirReinterpret: return call.args[0]->dtype != call.dtype;
    case op::kTirBitwiseAnd: return KeepsBits(call, arith::BitOp::kAnd);
    case op::kTirBitwiseOr: return KeepsBits(call, arith::BitOp::kOr);
    case op::kTirBitwiseXor: return KeepsBits(call, arith::BitOp::kXor);
    case op::kTirShiftLeft: return KeepsBits(call, arith::BitOp::kShiftLeft);
    case op::kTirShiftRight: return KeepsBits(call, arith::BitOp::kShiftRight);
    default: return true;
  }
}

}  // namespace

bool ReadsBackByName(const tir::Call& call) {
  const auto* op = As<Op>(call.op);
  if (!op) return true;
  const IntrinsicInfo& info = *IntrinsicOf(op);
  if (info.num_args >= 0 && call.args.size() != static_cast<size_t>(info.num_args)) return false;
  if (info.match_dtypes) {
    const auto operands = call.args.span().subspan(info.match_from);
    if (std::ranges::any_of(operands, [&](const PrimExpr* e) { return e->dtype != operands[0]->dtype; })) return false;
  }
  if (!KeepsCall(call, op->info->id)) return false;
  if (op->info->id == op::kTirPrefetch) return call.dtype == PrefetchedType(call);
  // Otherwise the text names the dtype.
  const bool has_own_dtype =
      info.dtype_print == DtypePrint::kNone && info.result != ResultDtype::kGiven && !info.packs_buffers;
  return !has_own_dtype || call.dtype == ResultDtypeOf(info, call.args.span());
}

}  // namespace iropt
