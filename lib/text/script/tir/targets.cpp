// Targets of assignments: a name, or a list of targets that unpacks a list as in Python.
#include <fmt/format.h>

#include <algorithm>

#include "hints.h"
#include "iropt/support/stack.h"
#include "parser.h"
#include "tirx_statements.h"

namespace iropt::text {

using Kind = PyValue::Kind;
using Naming = TirParser::Naming;

void TirParser::Poison(const Target& target) {
  if (!target.is_list) return symbols_.Define(lex_.text(target.name), poison());
  WithStack([&] {
    for (const Target& item : target.items) Poison(item);
  });
}

// ---- Reading

bool TargetReader::AtTarget() const {
  if (At(TokenKind::kName)) return !AtName("in");
  return At(TokenKind::kStar) || At(TokenKind::kLParen) || At(TokenKind::kLBracket);
}

bool TargetReader::AtTargetList() {
  const Lexer::State start = lex_.Save();
  int depth = 0;
  bool found = false;
  while (!found && !At(TokenKind::kNewline) && !At(TokenKind::kEnd)) {
    if (At(TokenKind::kLParen) || At(TokenKind::kLBracket) || At(TokenKind::kLBrace)) ++depth;
    if (At(TokenKind::kRParen) || At(TokenKind::kRBracket) || At(TokenKind::kRBrace)) --depth;
    found = At(TokenKind::kAssign) && depth == 0;
    lex_.Next();
  }
  lex_.Restore(start);
  return found;
}

bool TargetReader::ParseAny(Target& target) {
  const uint32_t begin = lex_.peek().begin;
  target.star = Accept(TokenKind::kStar);
  if (At(TokenKind::kLParen) || At(TokenKind::kLBracket)) {
    const bool brackets = At(TokenKind::kLBracket);
    lex_.Next();
    const TokenKind close = brackets ? TokenKind::kRBracket : TokenKind::kRParen;
    target.is_list = brackets;
    Targets items;
    while (!At(close)) {
      if (!WithStack([&] { return ParseAny(items.emplace_back()); })) return false;
      if (!Accept(TokenKind::kComma)) break;
      target.is_list = true;
    }
    if (!Expect(close, "a list of names")) return false;
    // Parentheses around one target are ignored.
    if (!target.is_list && items.size() == 1 && !items[0].star) {
      const bool star = target.star;
      target = items[0];
      target.star = star;
    } else {
      target.is_list = true;
      target.items = arena_.Copy<Target>(items);
    }
  } else if (At(TokenKind::kName)) {
    target.name = lex_.Next();
  } else {
    return Unexpected("a name");
  }
  target.span = lex_.SpanFrom(begin);
  return true;
}

bool TargetReader::ParseTarget(Target& target) {
  return ParseAny(target) && (!target.is_list || CheckDistinct(target));
}

bool TargetReader::ParseTargets(Target& target) {
  const uint32_t begin = lex_.peek().begin;
  if (!ParseAny(target)) return false;
  if (!At(TokenKind::kComma)) {
    if (target.star) return Error(target.span, "syntax", "a target with '*' is only allowed in a list of targets");
    return !target.is_list || CheckDistinct(target);
  }
  Targets items{target};
  while (Accept(TokenKind::kComma) && AtTarget()) {
    if (!ParseAny(items.emplace_back())) return false;
  }
  target = {};
  target.is_list = true;
  target.items = arena_.Copy<Target>(items);
  target.span = lex_.SpanFrom(begin);
  return CheckDistinct(target);
}

// A list of targets contains each name once, and at most one starred target.
bool TargetReader::CheckDistinct(const Target& target) {
  const bool distinct = AddNames(target);
  while (names_.size() > 0) names_.PopBack();
  return distinct;
}

bool TargetReader::AddNames(const Target& target) {
  if (!target.is_list) {
    const std::string_view name = lex_.text(target.name);
    return names_.Insert(name, {}).second ||
           Error(lex_.SpanOf(target.name), "syntax", fmt::format("'{}' occurs twice among the targets", name));
  }
  bool star = false;
  for (const Target& item : target.items) {
    if (item.star && star) return Error(item.span, "syntax", "a list of targets has one '*'");
    star |= item.star;
    if (!WithStack([&] { return AddNames(item); })) return false;
  }
  return true;
}

// ---- Naming

namespace {

// Takes the items of a list, and of the lists in it, from the room. False if there are more.
bool FitsInto(size_t& room, const PyValue& value) {
  if (!value.is_list()) return true;
  if (value.items().size() > room) return false;
  room -= value.items().size();
  return WithStack(
      [&] { return std::ranges::all_of(value.items(), [&](const PyValue& v) { return FitsInto(room, v); }); });
}

bool AssignItems(TirParser& p, const Target& target, const PyValue& value, Naming naming) {
  const size_t n = target.items.size();
  const auto star = std::find_if(target.items.begin(), target.items.end(), [](const Target& t) { return t.star; });
  const bool has_star = star != target.items.end();
  const size_t found = value.is_list() ? value.items().size() : 1;
  const Span span = value.span.known() ? value.span : target.span;
  if (!value.is_list() && n == 1) return p.Error(span, "bad-expression", "cannot unpack a value that is not a list");
  if (!value.is_list() || (has_star ? found + 1 < n : found != n)) {
    const std::string values = naming == Naming::kLoop && !value.is(Kind::kList)
                                   ? Counted(found, "loop variable", "loop variables")
                                   : Counted(found, "value", "values");
    return p.Error(span, "bad-expression",
                   fmt::format("cannot unpack {} into {}", values, Counted(n, "name", "names")));
  }
  const std::span<const PyValue> items = value.items();
  const size_t before = static_cast<size_t>(star - target.items.begin());
  const size_t rest = found + 1 - n;  // that the star takes
  for (size_t i = 0; i < n; ++i) {
    if (has_star && i == before) {
      if (!p.AssignTo(target.items[i], p.ListOf(Kind::kList, items.subspan(i, rest), value.span), naming)) return false;
    } else if (!p.AssignTo(target.items[i], items[has_star && i > before ? i + rest - 1 : i], naming)) {
      return false;
    }
  }
  return true;
}

void Rename(TirParser& p, const tir::Var* var, std::string_view name) {
  if (var->context_owned() || var->id < p.statement_vars_ || var->name == name) return;
  // Made by this statement and not shared yet.
  const_cast<tir::Var*>(var)->name = p.ws_.arena().CopyString(name);
}

void Rename(TirParser& p, const tir::Buffer* buffer, std::string_view name) {
  if (buffer->id < p.statement_vars_ || buffer->name == name) return;
  const_cast<tir::Buffer*>(buffer)->name = p.ws_.arena().CopyString(name);
  Rename(p, buffer->data, name);
}

// n = T.int32() for a variable that the signature uses before: that variable.
const tir::Var* SymbolOfSignature(const TirParser& p, std::string_view name, DataType dtype) {
  if (!p.signature_) return nullptr;
  const auto found = std::ranges::find(p.signature_->symbols, name, &tir::Var::name);
  return found != p.signature_->symbols.end() && (*found)->dtype == dtype ? *found : nullptr;
}

// Binds the name to the value. The items of a list are called name_0, name_1 and so on, but only the list's name is in
// scope.
bool NameValue(TirParser& p, std::string_view name, Span span, const PyValue& value, Naming naming,
               const Node*& meaning) {
  if (p.meta_) {
    meaning = p.NodeOf(value);
    return true;
  }
  if (value.is_list()) {
    if (value.is(Kind::kTvmArray) && naming == Naming::kAssignment) {
      return p.Error(
          value.span, "bad-expression",
          fmt::format("a list of TVM gets a name for each item here; one name is {} = T.meta_var(...)", name));
    }
    for (size_t i = 0; i < value.items().size(); ++i) {
      const Node* item = nullptr;
      const std::string item_name = fmt::format("{}_{}", name, i);
      if (!WithStack([&] { return NameValue(p, item_name, span, value.items()[i], naming, item); })) return false;
    }
    meaning = p.NodeOf(value);
    return true;
  }
  const auto* var = value.is(Kind::kPrim) ? As<tir::Var>(value.prim) : nullptr;
  if (value.is(Kind::kBuffer)) {
    Rename(p, value.buffer, name);
    if (value.buffer->id >= p.statement_vars_ && NumberAfterData(value.buffer) > 0)
      p.hinted_buffers_.push_back(value.buffer);
  } else if (value.is(Kind::kIterVar)) {
    Rename(p, value.iter_var->var, name);
  } else if (var && (naming == Naming::kDirect || naming == Naming::kLoop ||
                     (!var->context_owned() && var->id >= p.statement_vars_))) {
    if (const tir::Var* known = SymbolOfSignature(p, name, var->dtype); known && naming == Naming::kAssignment) {
      meaning = known;
      return true;
    }
    Rename(p, var, name);
    if (naming == Naming::kLoop) const_cast<tir::Var*>(var)->set_span(span);
  } else if (naming != Naming::kAssignment) {
    return p.WrongValue(value, "a variable or buffer");
  } else {
    const PrimExpr* bound = p.ToPrim(value);
    if (!bound) return false;
    if (p.state_.has_layouts && bound->dtype.is_scalar() && !bound->dtype.is_handle() && !bound->dtype.is_void()) {
      // Since TVM 0.25 such a name can be assigned again.
      const PrimExpr* scalar = OpenScalar(p, name, bound->dtype, "local", span);
      const PrimExpr* const index[] = {p.ops_.Int(0, DataType::Int(32), span)};
      const tir::Stmt* store =
          scalar ? p.MakeStore(To<tir::BufferLoad>(scalar)->buffer, index, PyValue(bound), nullptr, span) : nullptr;
      if (store) p.build_.Emit(store);
      meaning = scalar;
      return store != nullptr;
    }
    tir::Var* let = p.ws_.NewPrimVar(name, bound->dtype);
    let->set_span(span);
    p.OpenLet(let, bound, p.lex_.SpanFrom(span.begin - p.lex_.base()));
    meaning = let;
    return true;
  }
  meaning = p.NodeOf(value);
  return true;
}

}  // namespace

// The node for the value in the symbol table.
const Node* TirParser::NodeOf(const PyValue& value) {
  switch (value.kind) {
    case Kind::kPrim: return value.prim;
    case Kind::kBuffer: return value.buffer;
    case Kind::kIterVar: return value.iter_var;
    default: return scratch_.New<ValueSymbol>(value);
  }
}

bool TirParser::AssignTo(const Target& target, const PyValue& value, Naming naming) {
  if (target.is_list) return WithStack([&] { return AssignItems(*this, target, value, naming); });
  if (size_t room = kMostItems; !FitsInto(room, value)) return TooLong(value.span);
  const std::string_view name = lex_.text(target.name);
  const Node* meaning = nullptr;
  if (!NameValue(*this, name, lex_.SpanOf(target.name), value, naming, meaning)) return false;
  symbols_.Define(name, meaning);
  return true;
}

}  // namespace iropt::text
