#include "layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/tile_layout.h"
#include "iropt/support/stack.h"
#include "tile_calls.h"

namespace iropt::text {
namespace {

// The axes that a stride may lie on.
constexpr std::string_view kAxes[] = {"Bank", "F",         "P",   "TCol",   "TLane", "bx",
                                      "by",   "bz",        "cbx", "cby",    "cbz",   "laneid",
                                      "m",    "tid_in_wg", "tx",  "warpid", "wgid",  "wid_in_wg"};

struct LayoutParts {
  std::vector<const PrimExpr*> shard, replica, offset;
};

}  // namespace

const PrimExpr* MakeLayoutIter(ScalarParser& p, const PrimExpr* extent, const PrimExpr* stride, std::string_view axis,
                               Span span) {
  return p.MakeCall("tir.layout_iter", DataType::Handle(), {extent, stride, p.ToPrim(PyValue::String(axis, span))},
                    span);
}

namespace {

// value, value @ Axis.F, or value @ F if the axis is imported. Operators of `value` bind at least as tightly as
// `least`.
bool ParseOnAxis(ScalarParser& p, Precedence least, const PrimExpr*& value, std::string_view& axis) {
  PyValue read;
  if (!p.ParseValue(read, least)) return false;
  axis = "m";
  value = p.ToPrim(read);
  if (!value) return false;
  if (!p.Accept(TokenKind::kAt)) return true;
  if (p.AcceptName("Axis") && !p.Expect(TokenKind::kDot, "an axis")) return false;
  if (!p.At(TokenKind::kName)) return p.Unexpected("an axis such as Axis.F");
  axis = p.lex_.text();
  if (std::ranges::find(kAxes, axis) == std::end(kAxes)) return p.UnknownMember("Axis", axis, p.SpanHere(), kAxes);
  p.lex_.Next();
  return true;
}

// After `S` or `R`: [extents:strides], or [extents], whose strides are those of a compact layout.
bool ParseLayoutIters(ScalarParser& p, std::vector<const PrimExpr*>& iters) {
  if (!p.Expect(TokenKind::kLBracket, "a layout")) return false;
  PyValue first;
  const uint32_t begin = p.lex_.peek().begin;
  if (!p.ParseValue(first) || (p.At(TokenKind::kComma) && !p.ParseTupleTail(first, false, begin))) return false;
  std::vector<const PrimExpr*> extents;
  if (!p.ToPrims(first, extents)) return false;
  const Span span = p.lex_.SpanFrom(begin);
  if (!p.Accept(TokenKind::kColon)) {
    for (size_t i = 0; i < extents.size(); ++i) {
      iters.push_back(MakeLayoutIter(p, extents[i], p.CompactStride(extents, i, span), "m", span));
    }
    return p.Expect(TokenKind::kRBracket, "a layout");
  }
  const bool list = p.Accept(TokenKind::kLParen);
  size_t count = 0;
  do {
    if (count == extents.size() || (list && p.At(TokenKind::kRParen))) break;
    const PrimExpr* stride = nullptr;
    std::string_view axis;
    if (!ParseOnAxis(p, Precedence::kLambda, stride, axis)) return false;
    iters.push_back(MakeLayoutIter(p, extents[count++], stride, axis, stride->span()));
  } while (list && p.Accept(TokenKind::kComma));
  if (count != extents.size()) {
    return p.Error(span, "bad-expression",
                   fmt::format("a layout has a stride for each of its {} extents, found {}", extents.size(), count));
  }
  return (!list || p.Expect(TokenKind::kRParen, "the strides of a layout")) &&
         p.Expect(TokenKind::kRBracket, "a layout");
}

// Adds a term of an offset to those of the same axis.
bool AddOffset(ScalarParser& p, const PrimExpr* value, std::string_view axis, std::vector<const PrimExpr*>& offsets) {
  const PrimExpr* one = p.ops_.Int(1, DataType::Int(32), value->span());
  for (const PrimExpr*& offset : offsets) {
    const List<const PrimExpr*> known = To<tir::Call>(offset)->args;
    if (To<tir::StringImm>(known[2])->value != axis) continue;
    value = p.ops_.Make(NodeKind::kAdd, known[1], value, value->span());
    if (value) offset = MakeLayoutIter(p, one, value, axis, value->span());
    return value != nullptr;
  }
  offsets.push_back(MakeLayoutIter(p, one, value, axis, value->span()));
  return true;
}

// T.S[...] + T.R[...] + 3 @ Axis.laneid + 4
bool ParseLayoutSum(ScalarParser& p, LayoutParts& parts) {
  do {
    const Lexer::State start = p.lex_.Save();
    if (p.AtPrefix() == Prefix::kTir) {
      p.lex_.Next();
      p.lex_.Next();
    }
    if ((p.AtName("S") || p.AtName("R")) && p.lex_.next_char() == '[') {
      auto& iters = p.AtName("S") ? parts.shard : parts.replica;
      p.lex_.Next();
      if (!ParseLayoutIters(p, iters)) return false;
      continue;
    }
    p.lex_.Restore(start);
    if (p.Accept(TokenKind::kLParen)) {
      // The offsets of several axes are in parentheses, and so may a value be that is on an axis.
      LayoutParts sum = parts;
      if (!WithStack([&] { return ParseLayoutSum(p, sum); }) || !p.Expect(TokenKind::kRParen, "an offset"))
        return false;
      if (!p.At(TokenKind::kAt)) {
        parts = std::move(sum);
        continue;
      }
      p.lex_.Restore(start);
    }
    const PrimExpr* value = nullptr;
    std::string_view axis;
    if (!ParseOnAxis(p, Precedence::kMul, value, axis) || !AddOffset(p, value, axis, parts.offset)) return false;
  } while (p.Accept(TokenKind::kPlus));
  return true;
}

// After T.TileLayout.from_iters, which TVM prints for a layout without axes: (offset={"m": 3})
bool ParseBareLayout(ScalarParser& p, LayoutParts& parts) {
  if (!p.Expect(TokenKind::kLParen, "a layout")) return false;
  if (p.AcceptKeyword("offset")) {
    if (!p.Expect(TokenKind::kLBrace, "the offset of a layout")) return false;
    while (!p.At(TokenKind::kRBrace)) {
      PyValue axis, value;
      std::string_view name;
      if (!p.ParseValue(axis) || !p.ToString(axis, name) || !p.Expect(TokenKind::kColon, "an offset") ||
          !p.ParseValue(value))
        return false;
      const PrimExpr* offset = p.ToPrim(value);
      if (!offset || !AddOffset(p, offset, name, parts.offset)) return false;
      if (!p.Accept(TokenKind::kComma)) break;
    }
    if (!p.Expect(TokenKind::kRBrace, "the offset of a layout")) return false;
  }
  return p.ExpectClose("a layout");
}

// T.SwizzleLayout(3, 3, 3, swizzle_inner=True), the first operand of T.ComposeLayout in 0.25.
bool ParseSwizzleLayout(ScalarParser& p, uint32_t begin, PyValue& out) {
  PyArgs args;
  const PyValue* v[4];
  if (!p.ParseArguments(args, begin) ||
      !p.Bind(args, "T.SwizzleLayout", {"per_element", "swizzle_len", "atom_len", "swizzle_inner"}, 3, v))
    return false;
  const PrimExpr* operands[4];
  for (size_t i = 0; i < 3; ++i) {
    operands[i] = p.ToPrim(*v[i]);
    if (!operands[i]) return false;
    if (!Is<tir::IntImm>(operands[i])) return p.WrongValue(*v[i], "an integer");
  }
  operands[3] = v[3] ? p.ToBool(*v[3]) : p.True(args.span);
  if (!operands[3]) return false;
  out = PyValue(ListOperand(p, "tir.list_arg", operands, args.span));
  return true;
}

// T.ComposeLayout(3, 3, 3, T.TileLayout(...)), or T.ComposeLayout(T.SwizzleLayout(3, 3, 3), T.TileLayout(...))
bool ParseComposeLayout(ScalarParser& p, uint32_t begin, PyValue& out) {
  PyArgs args;
  const PyValue* v[5];
  if (!p.ParseArguments(args, begin)) return false;
  if (args.positional.size() == 2 && args.keywords.empty()) {
    const PrimExpr* swizzle = p.ToPrim(args.positional[0]);
    const PrimExpr* tile = swizzle ? p.ToPrim(args.positional[1]) : nullptr;
    if (!tile) return false;
    const tir::Call* numbers = CallOf(swizzle, op::kTirListArg);
    if (!numbers || numbers->args.size() != 4) return p.WrongValue(args.positional[0], "T.SwizzleLayout(...)");
    if (!CallOf(tile, op::kTirTileLayout)) return p.WrongValue(args.positional[1], "T.TileLayout(...)");
    const PrimExpr* const operands[] = {numbers->args[0], numbers->args[1], numbers->args[2], tile, numbers->args[3]};
    out = PyValue(ListOperand(p, "tir.ComposeLayout", operands, args.span));
    return true;
  }
  if (!p.Bind(args, "T.ComposeLayout", {"per_element", "swizzle_len", "atom_len", "tile_layout", "swizzle_inner"}, 4,
              v))
    return false;
  const PrimExpr* operands[5];
  for (size_t i = 0; i < 4; ++i) {
    operands[i] = p.ToPrim(*v[i]);
    if (!operands[i]) return false;
    if (i < 3 && !Is<tir::IntImm>(operands[i])) return p.WrongValue(*v[i], "an integer");
  }
  if (!CallOf(operands[3], op::kTirTileLayout)) return p.WrongValue(*v[3], "T.TileLayout(...)");
  operands[4] = v[4] ? p.ToBool(*v[4]) : p.True(args.span);
  if (!operands[4]) return false;
  out = PyValue(ListOperand(p, "tir.ComposeLayout", operands, args.span));
  return true;
}

}  // namespace

// TileLayout(...) without a prefix, as scripts that import it write it; or a dimension of a signature.
bool ScalarParser::Undefined(PyValue& out) {
  const Token name = lex_.Next();
  const std::string_view text = lex_.text(name);
  if (const tir::Var* var = read_introduced_ ? read_introduced_(text, lex_.SpanOf(name)) : nullptr) {
    out = PyValue(static_cast<const PrimExpr*>(var));
    out.span = lex_.SpanOf(name);
    return true;
  }
  const bool is_layout = state_.is_tirx && At(TokenKind::kLParen) &&
                         (text == "TileLayout" || text == "ComposeLayout" || text == "SwizzleLayout");
  return is_layout ? ParseLayout(*this, text, name.begin, out) : UnknownName(name);
}

bool ParseLayout(ScalarParser& p, std::string_view name, uint32_t begin, PyValue& out) {
  if (name == "ComposeLayout") return ParseComposeLayout(p, begin, out);
  if (name == "SwizzleLayout") return ParseSwizzleLayout(p, begin, out);
  LayoutParts parts;
  if (name == "TileLayout.from_iters") {
    if (!ParseBareLayout(p, parts)) return false;
  } else if (!p.Expect(TokenKind::kLParen, "a layout") || !ParseLayoutSum(p, parts) || !p.ExpectClose("a layout")) {
    return false;
  }
  const Span span = p.lex_.SpanFrom(begin);
  out = PyValue(p.MakeCall(
      "tir.TileLayout", DataType::Handle(),
      {ListOperand(p, "tir.list_arg", parts.shard, span), ListOperand(p, "tir.list_arg", parts.replica, span),
       ListOperand(p, "tir.list_arg", parts.offset, span)},
      span));
  return true;
}

// ---- As the argument of a declaration

const PrimExpr* BufferValues::CompactStride(std::span<const PrimExpr* const> shape, size_t dim, Span span) {
  const DataType dtype = shape.empty() ? DataType::Int(32) : shape[dim]->dtype;
  const PrimExpr* stride = ops_.Int(1, dtype, span);
  for (size_t i = shape.size(); stride && i-- > dim + 1;) stride = ops_.Make(NodeKind::kMul, stride, shape[i], span);
  return stride;
}

// Returns whether the layout is that which a buffer of this shape has by default.
bool BufferValues::IsCompactLayout(const PrimExpr* layout, std::span<const PrimExpr* const> shape) {
  const auto tile = AsTileLayout(layout);
  if (!tile || tile->shard.size() != shape.size() || !tile->replica.empty() || !tile->offset.empty()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto& [extent, stride, axis] = tile->shard[i];
    const PrimExpr* compact = CompactStride(shape, i, layout->span());
    if (axis != "m" || !compact || !DeepEqual(extent, shape[i]) || !DeepEqual(stride, compact)) return false;
  }
  return true;
}

const PrimExpr* BufferValues::DefaultLayout(Span span) {
  return MakeCall("tir.default_layout", DataType::Handle(), {}, span);
}

// "PF": the dimensions that are partitions of Trainium and free elements, each kind row by row. One dimension of more
// partitions than the memory has continues with free elements. A bank of psum holds 512 of them.
const PrimExpr* BufferValues::TrainiumLayout(std::string_view kinds, const tir::BufferSpec& spec, Span span) {
  constexpr int64_t kPartitions = 128;
  constexpr int64_t kBankElements = 512;
  struct Factor {
    int64_t extent, stride;
    std::string_view axis;
  };
  const auto wrong = [&](std::string_view what) {
    return Report(span, "bad-expression", fmt::format("a layout {}", what));
  };
  if (kinds.size() != spec.shape.size()) return wrong("such as \"PF\" has a letter for each dimension");
  std::vector<Factor> factors;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const int64_t* extent = arith::AsInt(spec.shape[i]);
    if (!extent) return wrong("such as \"PF\" needs a constant shape");
    const bool is_partition = kinds[i] == 'P';
    const bool is_split = is_partition && *extent > kPartitions && std::ranges::count(kinds, 'P') == 1;
    if (is_split && *extent % kPartitions != 0) return wrong("has at most 128 partitions, or a multiple of them");
    if (is_split) factors.push_back({*extent / kPartitions, 0, "F"});
    factors.push_back({is_split ? kPartitions : *extent, 0, is_partition ? "P" : "F"});
  }
  // The free elements of a split dimension are the outermost ones.
  int64_t free = 1, partitions = 1;
  const auto split = std::ranges::find_if(factors, [&](const Factor& f) {
    return f.axis == "F" && &f != &factors.back() && factors.size() > kinds.size() && (&f + 1)->axis == "P";
  });
  for (size_t i = factors.size(); i-- > 0;) {
    if (factors.begin() + static_cast<std::ptrdiff_t>(i) == split) continue;
    int64_t& step = factors[i].axis == "P" ? partitions : free;
    factors[i].stride = step;
    step *= factors[i].extent;
  }
  if (split != factors.end()) split->stride = free;
  if (partitions > kPartitions) return wrong("has at most 128 partitions");
  std::vector<const PrimExpr*> iters;
  const auto add = [&](int64_t extent, int64_t stride, std::string_view axis) {
    const DataType dtype = DataType::Int(32);
    iters.push_back(MakeCall(
        "tir.layout_iter", DataType::Handle(),
        {ops_.Int(extent, dtype, span), ops_.Int(stride, dtype, span), ToPrim(PyValue::String(axis, span))}, span));
  };
  for (const Factor& f : factors) {
    const bool banked = f.axis == "F" && spec.scope == "trn.psum";
    const int64_t in_bank = banked && f.stride < kBankElements ? kBankElements / f.stride : 0;
    if (banked && f.stride % kBankElements == 0) {
      add(f.extent, f.stride / kBankElements, "Bank");
    } else if (!banked || f.extent < in_bank) {
      add(f.extent, f.stride, f.axis);
    } else if (kBankElements % f.stride == 0 && f.extent % in_bank == 0) {
      add(f.extent / in_bank, 1, "Bank");
      add(in_bank, f.stride, "F");
    } else {
      return wrong("in psum has elements in steps that fit into banks");
    }
  }
  const auto list = [&](std::span<const PrimExpr* const> items) {
    auto* call =
        workspace_.New<tir::Call>(DataType::Handle(), GetOp(std::string_view("tir.list_arg")), workspace_.Copy(items));
    call->set_span(span);
    return call;
  };
  return MakeCall("tir.TileLayout", DataType::Handle(), {list(iters), list({}), list({})}, span);
}

bool BufferValues::ReadLayout(const PyValue* layout, Span span, tir::BufferSpec& spec) {
  const bool by_default = default_layout_ && spec.scope != "trn.sbuf" && spec.scope != "trn.psum";
  if (!layout || (layout->is(PyValue::Kind::kString) && layout->string() == "default")) {
    // In a function of the older flavour the name is only written by this printer.
    if (by_default || (layout && !is_s_tir_)) spec.layout = DefaultLayout(span);
    return true;
  }
  if (layout->is(PyValue::Kind::kNone)) return true;
  if (layout->is(PyValue::Kind::kString) && !layout->string().empty() &&
      layout->string().find_first_not_of("PF") == std::string_view::npos) {
    spec.layout = TrainiumLayout(layout->string(), spec, layout->span);
    return spec.layout != nullptr;
  }
  const PrimExpr* read = layout->is(PyValue::Kind::kPrim) ? layout->prim : nullptr;
  if (!CallOf(read, op::kTirTileLayout) && !CallOf(read, op::kTirComposeLayout))
    return Wrong(*layout, "None, \"default\" or a layout such as T.TileLayout(...)");
  spec.layout = IsCompactLayout(read, spec.shape) ? DefaultLayout(layout->span) : read;
  return true;
}

bool BufferValues::ReadAddress(const PyValue* address, tir::BufferSpec& spec) {
  return !Given(address) || ToPrims(*address, spec.allocated_addr);
}

}  // namespace iropt::text
