// Scalar expressions: names, subscripts, members and calls.
#include "scalar_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "functions.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"

namespace iropt::text {

const PrimExpr* ScalarParser::ParseScalar(Precedence least) {
  PyValue value;
  return ParseValue(value, least) ? ToPrim(value) : nullptr;
}

const Node* ScalarParser::poison() {
  static const NoneAttr marker;
  return &marker;
}

bool ScalarParser::Unary(TokenKind op, const PyValue& operand, Span span, PyValue& out) {
  return op == TokenKind::kName ? ops_.Not(operand, span, out) : ops_.Unary(op, operand, span, out);
}

bool ScalarParser::Named(const Node* node, const Token& token, PyValue& out) {
  const Span span = lex_.SpanOf(token);
  if (node == poison()) return false;
  if (const auto* scalar = As<tir::BufferLoad>(node)) {
    // A scalar of TVM 0.25, whose value is loaded where it is used.
    out = PyValue(ws_.New<tir::BufferLoad>(scalar->dtype, scalar->buffer, scalar->indices, scalar->predicate));
  } else if (PrimExpr::ClassOf(node->kind)) {
    out = PyValue(static_cast<const PrimExpr*>(node));
  } else if (const auto* buffer = As<tir::Buffer>(node)) {
    out = PyValue(buffer, span);
  } else if (const auto* iter_var = As<tir::IterVar>(node)) {
    out.kind = Kind::kIterVar;
    out.iter_var = iter_var;
  } else if (node->kind == NodeKind::kNoneAttr) {
    out = static_cast<const ValueSymbol*>(node)->value;
  } else {
    return Error(span, "bad-expression", fmt::format("'{}' is neither a scalar nor a buffer", lex_.text(token)));
  }
  out.span = span;
  return true;
}

const PrimExpr* ScalarParser::MakeChoice(const PyValue& condition, const PyValue& a, const PyValue& b, Span span) {
  const PrimExpr* decides = ToBool(condition);
  const PrimExpr* first = decides ? ToPrim(a) : nullptr;
  const PrimExpr* second = first ? ToPrim(b) : nullptr;
  if (!second || !ops_.MatchDtypes(first, second, span)) return nullptr;
  if (const int64_t* known = arith::AsInt(decides)) return *known ? first : second;
  return MakeCall("tir.if_then_else", first->dtype, {decides, first, second}, span);
}

bool ScalarParser::Choice(const PyValue& condition, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
  const PrimExpr* value = MakeChoice(condition, a, b, span);
  if (value) out = PyValue(value);
  return value != nullptr;
}

bool ScalarParser::Prefixed(Prefix prefix, PyValue& out) {
  if (prefix == Prefix::kTir) return ParseTirMember(out);
  const uint32_t begin = lex_.peek().begin;
  const Attr* attr = ParseConstructed();
  out = PyValue(attr, lex_.SpanFrom(begin));
  return attr != nullptr;
}

bool ScalarParser::Metadata(const Node* node, Span span, PyValue& out) {
  if (const auto* string = As<tir::StringImm>(node)) {  // one of several lines
    const tir::StringImm*& copy = strings_[string];
    if (copy == nullptr) copy = ws_.New<tir::StringImm>(ws_.arena().CopyString(string->value));
    out = PyValue(copy);
    out.span = span;
    return true;
  }
  if (!Attr::ClassOf(node->kind))
    return Error(span, "bad-expression", "this metadata entry is not a value in a PrimFunc");
  out = PyValue(static_cast<const Attr*>(node), span);
  return true;
}

// ---- After a value

bool ScalarParser::Call(PyValue& out, uint32_t begin) {
  if (!out.is(Kind::kExpr)) return ErrorHere("bad-expression", "this can't be called");
  const auto* func = To<GlobalVar>(out.expr);
  PyArgs args;
  if (!ParseArguments(args, begin)) return false;
  if (!args.keywords.empty())
    return Error(args.keywords[0].span, "unknown-argument", "a function of the module is called by position");
  std::vector<const PrimExpr*> operands;
  for (const PyValue& v : args.positional) {
    operands.push_back(ToPrim(v));
    if (!operands.back()) return false;
  }
  const ModuleEntry* entry = state_.module->Find(func);
  const auto* callee = entry ? As<PrimFunc>(entry->func) : nullptr;
  const auto* result = callee ? As<PrimType>(callee->ret_type) : nullptr;
  return Give(
      Spanned(ws_.New<tir::Call>(result ? result->dtype : DataType::Void(), func, CopyPrims(operands)), args.span),
      out);
}

bool ScalarParser::Subscript(PyValue& out, uint32_t begin) {
  if (out.is(Kind::kDType)) {
    // T.float32[4, 8] as the type of a name: a buffer of this shape.
    lex_.Next();
    PyValues items;
    const PyValue dtype = out;
    if (!ParseItems(TokenKind::kRBracket, items)) return false;
    const PyValue pair[] = {dtype, ListOf(Kind::kTuple, items, lex_.SpanFrom(begin))};
    out = ListOf(Kind::kTuple, pair, lex_.SpanFrom(begin));
    return true;
  }
  if (!out.is(Kind::kBuffer)) return ListItem(out, begin);
  const tir::Buffer* buffer = out.buffer;
  Subscripts indices;
  if (!ParseSubscripts(indices)) return false;
  const Span span = lex_.SpanFrom(begin);
  // Since TVM 0.25, A[i] of a matrix is a row of it.
  while (state_.has_layouts && !indices.empty() && indices.size() < buffer->shape.size()) {
    text::Subscript& whole = indices.emplace_back();
    whole.slice = true;
    whole.start.span = whole.stop.span = whole.step.span = span;
  }
  return AccessOf(buffer, indices, span, out);
}

bool ScalarParser::ParseSubscripts(Subscripts& indices) {
  lex_.Next();
  const auto operand = [&](PyValue& value) { return value.is(Kind::kNone) || Operand(value); };
  while (!At(TokenKind::kRBracket)) {
    if (At(TokenKind::kStar)) {
      PyValues items;
      if (!ParseItem(items)) return false;
      for (const PyValue& item : items) indices.push_back({item, {}, {}, false});
      if (!Accept(TokenKind::kComma)) break;
      continue;
    }
    text::Subscript& index = indices.emplace_back();
    // Absent parts have the span of the colon.
    index.start.span = index.stop.span = index.step.span = SpanHere();
    if (!At(TokenKind::kColon) && !ParseValue(index.start)) return false;
    if (Accept(TokenKind::kColon)) {
      index.slice = true;
      if (!At(TokenKind::kColon) && !At(TokenKind::kComma) && !At(TokenKind::kRBracket) && !ParseValue(index.stop))
        return false;
      if (Accept(TokenKind::kColon) && !ParseValue(index.step)) return false;
      if (!operand(index.start) || !operand(index.stop) || !operand(index.step)) return false;
    }
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRBracket, "a subscript")) return false;
  // A[()] and A[(i, j)]: the indices as a tuple.
  if (indices.size() == 1 && !indices[0].slice && indices[0].start.is_list()) {
    const std::span<const PyValue> items = indices[0].start.items();
    indices.clear();
    for (const PyValue& item : items) indices.push_back({item, {}, {}, false});
  }
  return true;
}

// list[i], list[begin:end]
bool ScalarParser::ListItem(PyValue& out, uint32_t begin) {
  if (!out.is_list()) return ErrorHere("bad-expression", "this can't be indexed");
  const std::span<const PyValue> items = out.items();
  const auto n = static_cast<int64_t>(items.size());
  Subscripts indices;
  if (!ParseSubscripts(indices)) return false;
  const Span span = lex_.SpanFrom(begin);
  if (indices.size() != 1) return Error(span, "bad-expression", "a list takes one index");
  const auto& [start, stop, step, slice] = indices[0];
  int64_t first = 0;
  int64_t last = n;
  if (!start.is(Kind::kNone) && !ToInteger(start, first)) return false;
  if (!slice) {
    const int64_t i = first < 0 ? first + n : first;
    if (start.is(Kind::kNone) || i < 0 || i >= n) {
      return Error(start.span, "index-out-of-range", fmt::format("the index is out of range for {} items", n));
    }
    out = items[static_cast<size_t>(i)];
    return true;
  }
  if (!stop.is(Kind::kNone) && !ToInteger(stop, last)) return false;
  if (!step.is(Kind::kNone)) return Error(span, "bad-expression", "a part of a list has no step");
  const auto clamp = [&](int64_t i) { return static_cast<size_t>(std::clamp<int64_t>(i < 0 ? i + n : i, 0, n)); };
  const size_t from = clamp(first);
  out = ListOf(out.kind, items.subspan(from, std::max(clamp(last), from) - from), span);
  return true;
}

bool ScalarParser::Member(PyValue& out, uint32_t begin) {
  lex_.Next();
  if (!At(TokenKind::kName)) return Unexpected("a name after '.'");
  const Token token = lex_.Next();
  const std::string_view name = lex_.text(token);
  if (out.is(Kind::kBuffer)) return BufferMember(out.buffer, name, begin, out);
  if (out.is(Kind::kIterVar) && name == "var") return Operand(out);
  if (const auto* load = out.is(Kind::kPrim) ? As<tir::BufferLoad>(out.prim) : nullptr; load && name == "buffer") {
    out = PyValue(load->buffer, lex_.SpanFrom(begin));
    return true;
  }
  if ((out.is(Kind::kPrim) || out.is(Kind::kIterVar) || out.is(Kind::kRegion)) && Operand(out)) {
    if (name == "ty") {
      const auto* var = As<tir::Var>(out.prim);
      const bool is_typed = var && var->pointer && !(var->pointer->elem.is_void() && !var->pointer->nested);
      const Span span = lex_.SpanFrom(begin);
      out = is_typed ? PyValue(var->pointer, span) : PyValue(out.prim->dtype, span);
      return true;
    }
    if (name == "dtype") {
      out = PyValue::String(scratch_.CopyString(out.prim->dtype.ToString()), lex_.SpanFrom(begin));
      return true;
    }
    if (name == "astype" && At(TokenKind::kLParen)) {
      const PrimExpr* value = out.prim;
      PyArgs args;
      const PyValue* v[1];
      DataType dtype;
      return ParseArguments(args, begin) && Bind(args, "astype", {"dtype"}, 1, v) && ToDType(*v[0], dtype) &&
             Give(ops_.MakeCast(dtype, value, args.span), out);
    }
  }
  return Error(lex_.SpanOf(token), "unknown-member", fmt::format("{} has no member '{}'", KindName(out.kind), name));
}

bool ScalarParser::BufferMember(const tir::Buffer* buffer, std::string_view name, uint32_t begin, PyValue& out) {
  const Span span = lex_.SpanFrom(begin);
  const auto list = [&](List<const PrimExpr*> exprs) {
    PyValues items;
    for (const PrimExpr* e : exprs) items.push_back(PyValue(e));
    out = ListOf(Kind::kTvmArray, items, span);
    return true;
  };
  const auto expr = [&](const PrimExpr* e) {
    out = PyValue(e);
    out.span = span;
    return true;
  };
  const auto string = [&](std::string_view text) {
    out = PyValue::String(scratch_.CopyString(text), lex_.SpanFrom(begin));
    return true;
  };
  if (name == "data") return expr(PointerOf(buffer));
  // Of TVM 0.26: A.ty.shape is A.shape.
  if ((name == "buffer" && has_elements_) || (name == "ty" && At(TokenKind::kDot))) {
    out = PyValue(buffer, span);
    return true;
  }
  if (name == "elem_offset") return expr(buffer->elem_offset);
  if (name == "shape") return list(buffer->shape);
  if (name == "strides") return list(buffer->strides);
  if (name == "name") return string(buffer->name);
  if (name == "dtype") return string(buffer->dtype.ToString());
  PyArgs args;
  if (At(TokenKind::kLParen) && (name == "scope" || name == "vload" || name == "access_ptr" || name == "ptr_to")) {
    if (!ParseArguments(args, begin)) return false;
    if (name == "ptr_to") return Give(ElementPointer(buffer, args), out);
    if (name == "scope") return CountArgs(args, "scope", 0, 0) && string(buffer->scope());
    return Give(name == "vload" ? VectorLoad(buffer, args) : AccessPointer(buffer, args), out);
  }
  static constexpr std::string_view kMembers[] = {"access_ptr", "data",  "dtype",   "elem_offset", "name",  "ptr_to",
                                                  "scope",      "shape", "strides", "vload",       "vstore"};
  return UnknownMember(buffer->name, name, span, kMembers);
}

}  // namespace iropt::text
