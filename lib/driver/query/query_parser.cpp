#include "query_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "iropt/ir/location.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/support/stack.h"
#include "iropt/text/script/parser.h"

namespace iropt {

QueryParser::QueryParser(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics)
    : text_(text),
      base_(base),
      diagnostics_(diagnostics),
      lexer_(text, base, static_cast<uint32_t>(std::min(text.find_first_not_of(" \t\r\n"), text.size())),
             static_cast<uint32_t>(text.size()), diagnostics) {}

SourceSpan QueryParser::Here() const { return Location(lexer_.SpanOf(lexer_.peek())); }

std::nullopt_t QueryParser::Fail(SourceSpan span, DiagId kind, std::string message) {
  diagnostics_.Error(span, kind, std::move(message));
  return std::nullopt;
}

std::nullopt_t QueryParser::Unexpected(std::string_view expected) {
  // The lexer has reported what is not a token.
  if (lexer_.kind() == TokenKind::kError) return std::nullopt;
  return Fail(Here(), "syntax",
              fmt::format("expected {} in a query, found {}", expected, TokenKindName(lexer_.kind())));
}

std::optional<Pattern> QueryParser::Parse() {
  std::optional<Pattern> pattern = ParseChoice();
  while (lexer_.kind() == TokenKind::kNewline) lexer_.Next();
  if (pattern && lexer_.kind() != TokenKind::kEnd) return Unexpected("the end");
  if (pattern && pattern->node().kind != PatternKind::kCall && pattern->node().kind != PatternKind::kTupleGetItem &&
      pattern->node().kind != PatternKind::kOr && pattern->node().kind != PatternKind::kTuple)
    return Fail({base_, base_ + static_cast<uint32_t>(text_.size())}, "syntax",
                "a query is a call of an operator, an item of a result, or a tuple");
  return pattern;
}

std::optional<Pattern> QueryParser::ParseChoice() {
  std::optional<Pattern> pattern = ParseOperand();
  while (pattern && lexer_.kind() == TokenKind::kPipe) {
    lexer_.Next();
    const std::optional<Pattern> other = ParseOperand();
    if (!other) return std::nullopt;
    pattern = *pattern | *other;
  }
  return pattern;
}

std::optional<Pattern> QueryParser::ParseOperand() {
  return WithStack([&]() -> std::optional<Pattern> {
    std::optional<Pattern> pattern;
    if (lexer_.kind() == TokenKind::kLParen) {
      pattern = ParseTuple();
    } else if (lexer_.kind() == TokenKind::kName) {
      const SourceSpan begin = Here();
      const std::string_view name = DottedName();
      const SourceSpan span{begin.begin, base_ + lexer_.previous_end()};
      if (name.empty()) return std::nullopt;
      if (lexer_.kind() == TokenKind::kLParen) {
        pattern = ParseCall(name, span);
      } else if (name.find('.') != std::string_view::npos) {
        return Fail(span, "syntax", fmt::format("expected the operands of '{}'", name));
      } else {
        pattern = name == "_" ? Wildcard() : name == "const" ? IsConstant() : Named(name);
      }
    } else {
      return Unexpected("an operand: a call, a name, '_' or 'const'");
    }
    while (pattern && lexer_.kind() == TokenKind::kLBracket) pattern = ParseItem(*std::move(pattern));
    return pattern;
  });
}

// Parentheses around one operand are ignored, as in Python.
std::optional<Pattern> QueryParser::ParseTuple() {
  lexer_.Next();
  std::vector<Pattern> fields;
  bool comma = false;
  while (lexer_.kind() != TokenKind::kRParen) {
    const std::optional<Pattern> field = ParseChoice();
    if (!field) return std::nullopt;
    fields.push_back(*field);
    comma = lexer_.kind() == TokenKind::kComma;
    if (!comma) break;
    lexer_.Next();
  }
  if (lexer_.kind() != TokenKind::kRParen) return Unexpected("')'");
  lexer_.Next();
  return fields.size() == 1 && !comma ? fields[0] : IsTuple(fields);
}

std::optional<Pattern> QueryParser::ParseItem(Pattern tuple) {
  lexer_.Next();
  int index = 0;
  const std::string_view digits = lexer_.kind() == TokenKind::kInt ? lexer_.text() : std::string_view();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return Unexpected("an index");
  lexer_.Next();
  if (lexer_.kind() != TokenKind::kRBracket) return Unexpected("']'");
  lexer_.Next();
  return IsTupleGetItem(std::move(tuple), index);
}

std::string_view QueryParser::DottedName() {
  const uint32_t begin = lexer_.peek().begin;
  lexer_.Next();
  while (lexer_.kind() == TokenKind::kDot) {
    lexer_.Next();
    if (lexer_.kind() != TokenKind::kName) {
      static_cast<void>(Unexpected("a name after '.'"));
      return {};
    }
    lexer_.Next();
  }
  return text_.substr(begin, lexer_.previous_end() - begin);
}

Pattern QueryParser::Named(std::string_view name) {
  for (const auto& [known, pattern] : names_) {
    if (known == name) return pattern;
  }
  return names_.emplace_back(name, Wildcard()).second;
}

// By the name in scripts, or by the end of it if only one operator has it.
const OpInfo* QueryParser::FindOperator(std::string_view name, SourceSpan span) {
  if (name.starts_with("R.")) name.remove_prefix(2);
  if (const OpInfo* op = FindGraphOpByScript(name)) return op;
  std::vector<const OpInfo*> ends;
  const std::string end = fmt::format(".{}", name);
  for (const OpInfo& op : AllOps()) {
    if (op.is_graph_level() && op.script.ends_with(end)) ends.push_back(&op);
  }
  if (ends.size() == 1) return ends[0];
  if (ends.size() > 1) {
    static_cast<void>(
        Fail(span, "unknown-operator",
             fmt::format("'{}' is '{}' or '{}': write the whole name", name, ends[0]->script, ends[1]->script)));
    return nullptr;
  }
  const std::string_view near = NearestGraphOpScript(name);
  static_cast<void>(Fail(span, "unknown-operator",
                         near.empty() ? fmt::format("unknown operator '{}'", name)
                                      : fmt::format("unknown operator '{}'; did you mean '{}'?", name, near)));
  return nullptr;
}

std::optional<Pattern> QueryParser::ParseCall(std::string_view name, SourceSpan span) {
  const OpInfo* op = FindOperator(name, span);
  if (!op) return std::nullopt;
  lexer_.Next();
  std::vector<Pattern> operands;
  std::vector<Pattern::Predicate> conditions;
  while (lexer_.kind() != TokenKind::kRParen) {
    const std::string_view rest = text_.substr(lexer_.peek().end);
    const size_t next = rest.find_first_not_of(' ');
    if (lexer_.kind() == TokenKind::kName && next != std::string_view::npos && rest[next] == '=') {
      if (!ParseAttribute(*op, conditions)) return std::nullopt;
    } else {
      const std::optional<Pattern> operand = ParseChoice();
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    }
    if (lexer_.kind() != TokenKind::kComma) break;
    lexer_.Next();
  }
  if (lexer_.kind() != TokenKind::kRParen) return Unexpected("')' after the operands");
  lexer_.Next();
  if (operands.size() > op->args.size() && !op->variadic)
    return Fail(span, "syntax", fmt::format("{} has only {} operands", op->script, op->args.size()));
  Pattern pattern = IsCall(op->op, operands).AnyMoreArgs();
  if ((op->id == op::kAdd || op->id == op::kMultiply) && operands.size() == 2) pattern = pattern.Commutative();
  for (Pattern::Predicate& condition : conditions) pattern = pattern.Where(std::move(condition));
  return pattern;
}

namespace {

// Returns whether a text that names an attribute means the value: numbers count without their dtypes, one number stands
// for a list of such, and data types are written as strings.
bool MeansValue(const Attr* text, const Attr* value) {
  if (text == value) return true;
  if (const auto* list = As<ListAttr>(value)) {
    const auto* items = As<ListAttr>(text);
    if (items && items->values.size() != list->values.size()) return false;
    for (uint32_t i = 0; i < list->values.size(); ++i) {
      if (!MeansValue(items ? items->values[i] : text, list->values[i])) return false;
    }
    return true;
  }
  const auto number = [](const Attr* attr) -> std::optional<double> {
    if (const auto* integer = As<IntAttr>(attr)) return static_cast<double>(integer->value);
    const auto* real = As<FloatAttr>(attr);
    return real ? std::optional(real->value) : std::nullopt;
  };
  if (number(text)) return number(text) == number(value);
  const auto* string = As<StrAttr>(text);
  if (const auto* dtype = As<DTypeAttr>(value)) return string && dtype->value.ToString() == string->value;
  const auto* other = As<StrAttr>(value);
  return string && other && string->value == other->value;
}

// The text of a value up to the ',' or ')' that ends it.
uint32_t EndOfValue(Lexer& lexer) {
  int depth = 0;
  for (;; lexer.Next()) {
    switch (lexer.kind()) {
      case TokenKind::kLParen:
      case TokenKind::kLBracket:
      case TokenKind::kLBrace: ++depth; break;
      case TokenKind::kRParen:
      case TokenKind::kRBracket:
      case TokenKind::kRBrace:
        if (depth-- == 0) return lexer.previous_end();
        break;
      case TokenKind::kComma:
        if (depth == 0) return lexer.previous_end();
        break;
      case TokenKind::kEnd:
      case TokenKind::kError: return lexer.previous_end();
      default: break;
    }
  }
}

}  // namespace

// name=value, where the value is one that scripts have.
bool QueryParser::ParseAttribute(const OpInfo& op, std::vector<Pattern::Predicate>& conditions) {
  const SourceSpan span = Here();
  const std::string_view name = lexer_.text(lexer_.Next());
  if (!op.FindAttr(name)) {
    static_cast<void>(Fail(span, "unknown-argument", fmt::format("{} has no attribute '{}'", op.script, name)));
    return false;
  }
  lexer_.Next();
  const uint32_t begin = lexer_.peek().begin;
  const std::string_view value = text_.substr(begin, EndOfValue(lexer_) - begin);
  const Attr* attr = ::iropt::ParseAttribute(value, base_ + begin, {empty_}, *attributes_, diagnostics_);
  if (!attr) return false;
  conditions.push_back([keep = attributes_, name = std::string(name), attr](const Expr* expr) {
    const auto* call = As<Call>(expr);
    const auto* attrs = call && call->attrs ? As<ObjectAttr>(call->attrs) : nullptr;
    const Attr* found = attrs ? attrs->Find(name) : nullptr;
    return found && MeansValue(attr, found);
  });
  return true;
}

}  // namespace iropt
