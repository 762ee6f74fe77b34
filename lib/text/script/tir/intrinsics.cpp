// Calls of intrinsics: T.exp(x), T.call_extern("int32", "f", x).
#include "iropt/op/intrinsics.h"

#include <fmt/format.h>

#include "functions.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt::text {

using Kind = PyValue::Kind;

namespace {

// Removes the dtype of the call from the arguments, if it is among them.
bool TakeDType(ScalarParser& p, const IntrinsicInfo& info, PyArgs& args, std::optional<DataType>& dtype,
               const tir::PointerInfo*& pointer) {
  const auto read = [&](const PyValue& value) {
    DataType t;
    if (!p.ToDType(value, t)) return false;
    dtype = t;
    if (value.is(Kind::kPointerType)) pointer = value.pointer;
    return true;
  };
  for (const PyKeyword& k : args.keywords) {
    if (k.name != "dtype")
      return p.Error(k.span, "unknown-argument", fmt::format("{} has no argument '{}'", info.op->script, k.name));
    if (!read(k.value)) return false;
  }
  PyValues& positional = args.positional;
  const auto is_type = [](const PyValue& v) {
    return v.is(Kind::kString) || v.is(Kind::kDType) || v.is(Kind::kPointerType);
  };
  if (info.dtype_print == DtypePrint::kNone) {
    // Older scripts repeat the dtype of calls that have no choice. A packed function may return anything.
    if (info.result != ResultDtype::kGiven && !info.packs_buffers) dtype.reset();
    return true;
  }
  if (dtype) return true;
  const bool optional = info.result != ResultDtype::kGiven;
  if (info.dtype_print == DtypePrint::kFirst) {
    if (optional && (positional.empty() || !is_type(positional[0]))) return true;
    if (positional.empty())
      return p.Error(args.span, "missing-argument", fmt::format("{} needs a data type", info.op->script));
    if (!read(positional[0])) return false;
    positional.erase(positional.begin());
    return true;
  }
  if (optional && static_cast<int>(positional.size()) <= info.num_args) return true;
  if (positional.empty())
    return p.Error(args.span, "missing-argument", fmt::format("{} needs a data type", info.op->script));
  if (!read(positional.back())) return false;
  positional.pop_back();
  return true;
}

}  // namespace

const PrimExpr* IntrinsicOperand(ScalarParser& p, const IntrinsicInfo& info, const PyValue& value) {
  if (!value.is(Kind::kBuffer) || p.IsElement(value)) return p.ToPrim(value);
  if (info.packs_buffers) return p.PackBuffer(value.buffer, value.span);
  // The address of a buffer is that of its first element.
  if (info.op->id == op::kTirAddressOf) {
    std::vector<const PrimExpr*> zeros;
    for (const PrimExpr* dim : value.buffer->shape) zeros.push_back(arith::PrimBuilder().Int(0, dim->dtype));
    return p.MakeLoad(value.buffer, zeros, nullptr, value.span);
  }
  // In the newest text, a buffer is its pointer, too.
  if (info.op->id == op::kTirTvmAccessPtr) return p.PointerOf(value.buffer);
  return p.Error(value.span, "bad-expression",
                 fmt::format("{0} takes no buffer; its pointer is '{1}.data', an element '{1}[...]'", info.op->script,
                             value.buffer->name));
}

bool MakeIntrinsicCall(ScalarParser& p, const IntrinsicInfo& info, PyArgs& args, PyValue& out) {
  std::optional<DataType> dtype;
  const tir::PointerInfo* pointer = nullptr;
  if (!TakeDType(p, info, args, dtype, pointer)) return false;
  if (info.num_args >= 0) {
    const auto most = static_cast<size_t>(info.num_args);
    if (!p.CountArgs(args, info.op->script, most - info.defaults.size(), most)) return false;
  }
  std::vector<const PrimExpr*> operands;
  for (const PyValue& v : args.positional) {
    const PrimExpr* e = IntrinsicOperand(p, info, v);
    if (!e) return false;
    operands.push_back(e);
  }
  while (info.num_args >= 0 && operands.size() < static_cast<size_t>(info.num_args)) {
    const size_t missing = static_cast<size_t>(info.num_args) - operands.size();
    operands.push_back(p.ops_.Int(info.defaults[info.defaults.size() - missing], DataType::Int(32), args.span));
  }
  if (info.match_dtypes) {
    for (size_t i = info.match_from; i + 1 < operands.size(); ++i) {
      if (!p.ops_.MatchDtypes(operands[i], operands[i + 1], args.span)) return false;
    }
  }
  if (!dtype) dtype = ResultDtypeOf(info, operands);
  if (!dtype) return p.Error(args.span, "missing-argument", fmt::format("{} needs a data type", info.op->script));
  auto* call = p.ws_.New<tir::Call>(*dtype, info.op->op, p.CopyPrims(operands), pointer);
  return Give(Spanned(call, args.span), out);
}

}  // namespace iropt::text
