// TIR operators: facts about T.name(...) beyond the operands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "iropt/op/op.h"

namespace iropt {

// The position of the call's dtype among the printed arguments. A reader also takes it as dtype="..." for every
// operator; if an operator that is printed with a dtype has another rule than kGiven, the dtype may be left out.
enum class DtypePrint : uint8_t { kNone, kFirst, kLast };

// TVM's CallEffectKind, from least to most.
enum class CallEffect : uint8_t {
  kExprAnnotation,  // a marker around its operand
  kPure,
  kReadState,
  kUpdateState,
  kOpaque,
  kSpecialCallArg,  // only makes sense as an operand of another call
  kEmbedInfo,       // carries information, computes nothing
  kControlJump,
};

// The dtype of a call that is printed without one.
enum class ResultDtype : uint8_t {
  kFixed,     // `dtype`
  kOperand0,  // that of the operand
  kOperand1,
  kBoolLanes,  // bool with the lanes of the first operand
  kGiven,      // the script must state it; if dtype_print is kNone, as dtype="..."
};

struct IntrinsicInfo {
  const OpInfo* op = nullptr;
  int8_t num_args = -1;  // -1: any number
  CallEffect effect = CallEffect::kOpaque;
  DtypePrint dtype_print = DtypePrint::kNone;
  ResultDtype result = ResultDtype::kFixed;
  DataType dtype;  // for kFixed
  bool vectorizable = false;
  bool match_dtypes = false;  // the script function brings the operands from `match_from` on to one dtype
  uint8_t match_from = 0;
  bool packs_buffers = false;         // an operand that is a buffer stands for the DLTensor made of it
  std::span<const int32_t> defaults;  // of the last operands, as constants of dtype int32
};

// Null for Relax operators. O(1).
inline const IntrinsicInfo* IntrinsicOf(const Op* op) { return op->info->intrinsic; }
inline CallEffect EffectOf(const Op* op) { return op->info->intrinsic->effect; }

// The dtype of a call with these operands if the script states none; nullopt if it must, or if the operand that decides
// is missing.
std::optional<DataType> ResultDtypeOf(const IntrinsicInfo& info, std::span<const PrimExpr* const> args);

}  // namespace iropt
