#include "tirx_statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocations.h"
#include "iropt/op/op.h"
#include "tile_calls.h"

namespace iropt::text {

using Kind = PyValue::Kind;

namespace {

const PrimExpr* Zero(TirParser& p, Span span) { return p.ops_.Int(0, DataType::Int(32), span); }

// The word after T. in the call.
std::string_view ScopeName(TirParser& p, const PyArgs& args) {
  const std::string_view name = p.CalledName(args);
  return p.ws_.arena().CopyString(name.substr(name.find('.') + 1));
}

}  // namespace

bool DeviceEntry(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  if (!p.CountArgs(args, "T.device_entry", 0, 0)) return false;
  p.build_.Open<tir::AttrStmt>(args.span, Zero(p, args.span), attr::kDeviceEntry, p.True(args.span), nullptr);
  return true;
}

bool Hint(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  if (!p.CountArgs(args, "T.hint", 0, 1)) return false;
  std::vector<const PrimExpr*> operands;
  if (!ToOperands(p, args, operands)) return false;
  p.build_.Open<tir::AttrStmt>(args.span, NoneAttr::Get(), attr::kHint,
                               ListOperand(p, "tir.list_arg", operands, args.span), nullptr);
  return true;
}

bool ComposeOp(TirParser& p, PyArgs& args, const PyValue* const*, PyValue&) {
  if (!p.CountArgs(args, "T.tile.compose_op", 0, 0)) return false;
  const PrimExpr* call = MakeTileCall(p, "tile.compose_op", args);
  if (!call) return false;
  p.build_.Open<tir::AttrStmt>(args.span, NoneAttr::Get(), attr::kComposeOp, call, nullptr);
  return true;
}

bool ScopeIds(TirParser& p, PyArgs& args, PyValue& result) {
  const std::string_view name = ScopeName(p, args);
  const std::string what = fmt::format("T.{}", name);
  const PyValue* v[3];
  if (name == "cta_id_in_pair" && !p.CountArgs(args, what, 0, 0)) return false;
  if (!p.Bind(args, what, {"extents", "preferred", "dtype"}, 0, v)) return false;
  DataType dtype = DataType::Int(32);
  std::vector<const PrimExpr*> extents, preferred;
  if ((v[2] && !p.ToDType(*v[2], dtype)) || (p.Given(v[0]) && !p.ToPrims(*v[0], extents)) ||
      (p.Given(v[1]) && !p.ToPrims(*v[1], preferred)))
    return false;
  if (!preferred.empty() && preferred.size() != extents.size())
    return p.Error(v[1]->span, "bad-expression", "there is one preferred extent for each extent");
  if (!dtype.is_integer()) return p.WrongValue(*v[2], "an integer type");
  const size_t count = std::max<size_t>(extents.size(), 1);
  PyValues vars;
  for (size_t i = 0; i < count; ++i) {
    tir::Var* var = p.ws_.NewPrimVar(p.pending_name(), dtype);
    var->set_span(args.span);
    const tir::Range* dom = nullptr;
    if (!extents.empty()) dom = p.ws_.New<tir::Range>(p.ops_.Int(0, extents[i]->dtype, args.span), extents[i]);
    auto* thread = p.ws_.New<tir::IterVar>(dom, var, tir::IterVarType::kThreadIndex, name);
    thread->set_span(args.span);
    // The number of variables of the statement from this one on.
    const PrimExpr* rest = p.ops_.Int(static_cast<int64_t>(count - i), DataType::Int(32), args.span);
    if (!preferred.empty())
      rest = p.MakeCall("tir.preferred_extent", DataType::Int(32), {rest, preferred[i]}, args.span);
    p.build_.Open<tir::AttrStmt>(args.span, thread, attr::kScopeId, rest, nullptr);
    vars.push_back(PyValue(static_cast<const PrimExpr*>(var)));
  }
  result = count == 1 ? vars[0] : p.ListOf(Kind::kTvmArray, vars, args.span);
  return true;
}

const PrimExpr* OpenScalar(TirParser& p, std::string_view name, DataType dtype, std::string_view scope, Span span) {
  // A scalar has the compact layout in functions of both flavours: that tells it from other buffers of one element.
  tir::BufferSpec spec{.shape = {p.ops_.Int(1, DataType::Int(32), span)},
                       .dtype = dtype,
                       .scope = scope,
                       .layout = p.DefaultLayout(span)};
  const tir::Buffer* buffer = tir::MakeBuffer(p.ws_, spec, name, span);
  OpenAllocation(p, buffer, DictAttr::Empty(), span);
  const PrimExpr* const index[] = {Zero(p, span)};
  return p.MakeLoad(buffer, index, nullptr, span);
}

bool DeclScalar(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  const PyValue one = PyValue::Int(1, args.span);
  PyArgs decl;
  decl.span = args.span;
  decl.positional.push_back(p.ListOf(Kind::kTuple, std::span(&one, 1), args.span));
  decl.positional.push_back(*v[0]);
  decl.keywords.push_back({"data", args.span, *v[1]});
  if (v[2]) decl.keywords.push_back({"scope", args.span, *v[2]});
  if (v[3]) decl.keywords.push_back({"elem_offset", args.span, *v[3]});
  PyValue buffer;
  if (!Declare(p, decl, "T.decl_scalar", "global", buffer)) return false;
  const PrimExpr* const index[] = {Zero(p, args.span)};
  const PrimExpr* scalar = p.MakeLoad(buffer.buffer, index, nullptr, args.span);
  if (!scalar) return false;
  result = PyValue(scalar);
  p.meta_ = true;  // the name stands for the element
  return true;
}

bool AllocScalar(TirParser& p, PyArgs& args, std::string_view scope, PyValue& result) {
  const PyValue* v[2];
  DataType dtype = DataType::Float(32);
  if (!p.Bind(args, p.CalledName(args), {"dtype", "scope"}, 0, v) || (v[0] && !p.ToDType(*v[0], dtype)) ||
      (v[1] && !p.ToString(*v[1], scope)))
    return false;
  const PrimExpr* scalar = OpenScalar(p, p.pending_name(), dtype, scope, args.span);
  if (!scalar) return false;
  result = PyValue(scalar);
  p.meta_ = true;  // the name stands for the element
  return true;
}

}  // namespace iropt::text
