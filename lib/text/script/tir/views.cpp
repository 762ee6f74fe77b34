// Views of buffers, which TVM 0.25 writes as methods: A.view(16), A.local(), A.permute(1, 0).
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/op/tile_layout.h"
#include "layouts.h"
#include "parser.h"
#include "tile_calls.h"

namespace iropt::text {

using Kind = PyValue::Kind;

void TirParser::OpenDeclaration(const tir::Buffer* buffer, Span span) {
  const auto* decl = build_.Open<tir::DeclBuffer>(span, buffer, nullptr);
  if (state_.is_tirx) declarations_.try_emplace(buffer, decl);
}

// In newer versions the pointer of a buffer is an expression on the buffer, also where its memory has other names:
// A_1.data for A_1 = T.decl_buffer((4,), data=A.data). It becomes a variable that is bound to the given pointer before
// the declaration.
const tir::Var* TirParser::OwnPointer(const tir::Buffer* buffer) {
  const auto* found = declarations_.Find(buffer);
  if (!found) return buffer->data;
  const tir::DeclBuffer* decl = *found;
  declarations_.erase(buffer);
  tir::Var* var = ws_.NewPrimVar(fmt::format("{}_data", buffer->name), DataType::Handle(), buffer->data->pointer);
  var->set_span(decl->span());
  var->flags |= tir::Var::kBufferPointer;
  auto* let = ws_.New<tir::LetStmt>(var, buffer->data, decl);
  let->set_span(decl->span());
  if (!build_.Enclose(decl, let)) return buffer->data;
  const_cast<tir::Buffer*>(buffer)->data = var;
  return var;
}

namespace {

// As many bytes of another type: the last dimension has more or fewer elements.
bool CastSpec(TirParser& p, const tir::Buffer* buffer, DataType dtype, Span span, tir::BufferSpec& spec) {
  spec.dtype = dtype;
  spec.shape.assign(buffer->shape.begin(), buffer->shape.end());
  // A truth value has a byte in memory.
  const auto bits_of = [](DataType type) { return (type.is_bool() ? 8 : type.bits) * type.lanes; };
  const int from = bits_of(buffer->dtype), to = bits_of(dtype);
  if (from == to || spec.shape.empty() || from <= 0 || to <= 0) return true;
  const NodeKind op = from > to ? NodeKind::kMul : NodeKind::kFloorDiv;
  const int ratio = from > to ? from / to : to / from;
  const auto scale = [&](const PrimExpr* e) {
    return e ? p.ops_.Make(op, e, p.ops_.Int(ratio, e->dtype, span), span) : nullptr;
  };
  spec.shape.back() = scale(spec.shape.back());
  spec.elem_offset = scale(spec.elem_offset);
  if (!spec.shape.back() || !spec.elem_offset) return false;
  const auto tile = AsTileLayout(buffer->layout);
  if (!tile) return true;
  // Each stride counts elements of the new type; the elements that one becomes lie side by side.
  std::vector<const PrimExpr*> iters;
  for (size_t i = 0; i < tile->shard.size(); ++i) {
    const bool packed = from < to && i + 1 == tile->shard.size();
    const auto& [extent, stride, axis] = tile->shard[i];
    iters.push_back(MakeLayoutIter(p, packed ? scale(extent) : extent, packed ? stride : scale(stride), axis, span));
  }
  if (from > to) {
    const PrimExpr* one = p.ops_.Int(1, DataType::Int(32), span);
    iters.push_back(MakeLayoutIter(p, p.ops_.Int(ratio, DataType::Int(32), span), one, "m", span));
  }
  const auto operands = To<tir::Call>(buffer->layout)->args;
  spec.layout = p.MakeCall("tir.TileLayout", DataType::Handle(),
                           {ListOperand(p, "tir.list_arg", iters, span), operands[1], operands[2]}, span);
  return true;
}

// A.view(16, layout=...), A.view("int32"): a buffer of another shape or dtype over the memory of A.
bool ViewSpec(TirParser& p, const tir::Buffer* buffer, const PyArgs& args, tir::BufferSpec& spec) {
  const PyValue* layout = nullptr;
  for (const PyKeyword& keyword : args.keywords) {
    if (keyword.name != "layout")
      return p.Error(keyword.span, "unknown-argument", fmt::format("view has no argument '{}'", keyword.name));
    layout = p.Given(&keyword.value);
  }
  DataType dtype = buffer->dtype;
  for (const PyValue& dim : args.positional) {
    if (dim.is(Kind::kString) || dim.is(Kind::kDType)) {
      if (!p.ToDType(dim, dtype)) return false;
    } else if (const PrimExpr* e = p.ToPrim(dim)) {
      spec.shape.push_back(e);
    } else {
      return false;
    }
  }
  if (spec.shape.empty()) return CastSpec(p, buffer, dtype, args.span, spec);
  // One dimension may be left to follow from the others: -1.
  const auto open = std::ranges::find_if(spec.shape, [](const PrimExpr* dim) { return arith::IsInt(dim, -1); });
  if (open != spec.shape.end()) {
    const PrimExpr* all = p.ops_.Int(1, DataType::Int(32), args.span);
    for (const PrimExpr* dim : buffer->shape) all = all ? p.ops_.Make(NodeKind::kMul, all, dim, args.span) : nullptr;
    const PrimExpr* others = p.ops_.Int(1, DataType::Int(32), args.span);
    for (auto it = spec.shape.begin(); it != spec.shape.end(); ++it) {
      if (it != open && others) others = p.ops_.Make(NodeKind::kMul, others, *it, args.span);
    }
    *open = all && others ? p.ops_.Make(NodeKind::kFloorDiv, all, others, args.span) : nullptr;
    if (!*open) return false;
  }
  spec.dtype = dtype;
  if (!layout) return true;
  spec.layout = nullptr;
  return p.ReadLayout(layout, args.span, spec);
}

// The number of places that a thread has of the buffer: from the first to the last one, or, with `size`, those in use.
const PrimExpr* StorageSpan(TirParser& p, const tir::Buffer* buffer, bool size, Span span) {
  const auto tile = AsTileLayout(buffer->layout);
  if (!tile && !CallOf(buffer->layout, op::kTirDefaultLayout))
    return p.Error(span, "bad-expression", fmt::format("the shape is needed, since '{}' has no layout", buffer->name));
  const PrimExpr* one = p.ops_.Int(1, DataType::Int(32), span);
  const PrimExpr* result = one;
  const auto make = [&](NodeKind op, const PrimExpr* a, const PrimExpr* b) {
    return a && b ? p.ops_.Make(op, a, b, span) : nullptr;
  };
  if (!tile) {
    for (const PrimExpr* dim : buffer->shape) result = make(NodeKind::kMul, result, dim);
    return result;
  }
  for (const auto* iters : {&tile->shard, &tile->replica}) {
    for (const auto& [extent, stride, axis] : *iters) {
      if (IsThreadAxis(axis) || (size && iters == &tile->replica)) continue;
      result = size ? make(NodeKind::kMul, result, extent)
                    : make(NodeKind::kAdd, result, make(NodeKind::kMul, make(NodeKind::kSub, extent, one), stride));
    }
  }
  for (const auto& [extent, stride, axis] : tile->offset) {
    if (!size && !IsThreadAxis(axis)) result = make(NodeKind::kAdd, result, stride);
  }
  return result ? p.Simplify(result) : nullptr;
}

// A.local(4, 8, layout=...): what the thread itself has of a buffer that lies with several threads.
bool LocalSpec(TirParser& p, const tir::Buffer* buffer, const PyArgs& args, tir::BufferSpec& spec) {
  const PyValue* layout = nullptr;
  for (const PyKeyword& keyword : args.keywords) {
    if (keyword.name != "layout")
      return p.Error(keyword.span, "unknown-argument", fmt::format("local has no argument '{}'", keyword.name));
    layout = p.Given(&keyword.value);
  }
  for (const PyValue& dim : args.positional) {
    spec.shape.push_back(p.ToPrim(dim));
    if (!spec.shape.back()) return false;
  }
  if (spec.shape.empty()) spec.shape.push_back(StorageSpan(p, buffer, layout != nullptr, args.span));
  if (!spec.shape[0]) return false;
  spec.layout = nullptr;
  return p.ReadLayout(layout, args.span, spec);
}

// A.permute(1, 0): the dimensions in another order.
bool PermutedSpec(TirParser& p, const tir::Buffer* buffer, const PyArgs& args, tir::BufferSpec& spec) {
  const size_t rank = buffer->shape.size();
  if (!p.CountArgs(args, "permute", rank, rank)) return false;
  const auto tile = AsTileLayout(buffer->layout);
  if (tile ? tile->shard.size() != rank : !CallOf(buffer->layout, op::kTirDefaultLayout)) {
    return p.Error(args.span, "bad-expression",
                   fmt::format("the layout of '{}' has not one stride for each dimension", buffer->name));
  }
  std::vector<bool> used(rank);
  std::vector<const PrimExpr*> iters;
  for (const PyValue& value : args.positional) {
    int64_t dim = 0;
    if (!p.ToInteger(value, dim)) return false;
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || used[static_cast<size_t>(dim)])
      return p.Error(value.span, "index-out-of-range", "the arguments of permute are the dimensions in a new order");
    const auto i = static_cast<size_t>(dim);
    used[i] = true;
    spec.shape.push_back(buffer->shape[static_cast<uint32_t>(i)]);
    const PrimExpr* stride = tile ? tile->shard[i].stride : p.CompactStride(buffer->shape.span(), i, args.span);
    if (!stride) return false;
    iters.push_back(MakeLayoutIter(p, tile ? tile->shard[i].extent : spec.shape.back(), stride,
                                   tile ? tile->shard[i].axis : "m", args.span));
  }
  const PrimExpr* none = ListOperand(p, "tir.list_arg", {}, args.span);
  const auto rest = tile ? To<tir::Call>(buffer->layout)->args : List<const PrimExpr*>();
  spec.layout = p.MakeCall(
      "tir.TileLayout", DataType::Handle(),
      {ListOperand(p, "tir.list_arg", iters, args.span), tile ? rest[1] : none, tile ? rest[2] : none}, args.span);
  return true;
}

}  // namespace

// Before TVM 0.24 a text cannot declare a view before T.reads(...) names it. It is printed there as T.Buffer(...), and
// T.decl_buffer(...) of the same name and memory declares that buffer.
const tir::Buffer* TakeUndeclared(TirParser& p, const tir::Buffer* buffer) {
  const auto* named = As<tir::Buffer>(p.symbols_.Find(buffer->name));
  const bool is_same = named && named->data == buffer->data && StructuralEqual(named, buffer);
  return is_same && p.TakeView(named) ? named : nullptr;
}

bool AtView(const TirParser& p) {
  if (!p.At(TokenKind::kName)) return false;
  static constexpr std::string_view kViewMethods[] = {"local", "permute", "view"};
  const std::string_view rest = p.lex_.buffer().substr(p.lex_.peek().end);
  const bool is_method = std::ranges::any_of(kViewMethods, [&](std::string_view method) {
    return rest.starts_with('.') && rest.substr(1).starts_with(method) &&
           rest.substr(1 + method.size()).starts_with('(');
  });
  const Node* node = is_method ? p.symbols_.Find(p.lex_.text()) : nullptr;
  return node && Is<tir::Buffer>(node);
}

bool ParseView(TirParser& p, PyValue& out) {
  const auto* buffer = To<tir::Buffer>(p.symbols_.Find(p.lex_.text()));
  const uint32_t begin = p.lex_.Next().begin;
  p.lex_.Next();
  const std::string_view method = p.lex_.text(p.lex_.Next());
  PyArgs args;
  if (!p.ParseArguments(args, begin)) return false;
  tir::BufferSpec spec{.dtype = buffer->dtype,
                       .data = p.PointerOf(buffer),
                       .strides = {buffer->strides.begin(), buffer->strides.end()},
                       .elem_offset = buffer->elem_offset,
                       .scope = buffer->scope(),
                       .align = buffer->data_alignment,
                       .offset_factor = buffer->offset_factor,
                       .layout = buffer->layout,
                       .allocated_addr = {buffer->allocated_addr.begin(), buffer->allocated_addr.end()}};
  const bool ok = method == "view"    ? ViewSpec(p, buffer, args, spec)
                  : method == "local" ? LocalSpec(p, buffer, args, spec)
                                      : PermutedSpec(p, buffer, args, spec);
  if (!ok) return false;
  const tir::Buffer* view = tir::MakeBuffer(p.ws_, spec, p.pending_name(), args.span);
  p.OpenDeclaration(view, args.span);
  out = PyValue(view, args.span);
  return true;
}

}  // namespace iropt::text
