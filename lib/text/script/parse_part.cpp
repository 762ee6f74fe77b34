// Reading parts of a module: an expression, a type, an attribute value.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "attr_text.h"
#include "iropt/text/script/parser.h"
#include "text/script/relax/function_parser.h"
#include "text/script/tir/scalar_parser.h"

namespace iropt {

namespace {

// The state of the readers, for a text that is a single part.
class PartReader {
 public:
  PartReader(std::string_view text, uint32_t base, Workspace& workspace, DiagnosticEngine& diagnostics)
      : diagnostics_(diagnostics),
        lexer_(text, base, Begin(text), static_cast<uint32_t>(text.size()), diagnostics),
        shared_{lexer_, state_, workspace, symbols_, diagnostics} {
    state_.module = &module_;
  }

  void Enter(const ParseScope& scope) {
    module_.mutable_global_infos() = scope.module.global_infos();
    for (const tir::Var* var : scope.variables) symbols_.Define(var->name, var);
  }

  void Define(const tir::Var* var) { symbols_.Define(var->name, var); }

  // The names that are neither members, keywords nor called, in order of occurrence; the text is read to its end.
  std::vector<std::string_view> ReadFreeNames() {
    std::vector<std::string_view> names;
    for (bool member = false; lexer_.kind() != TokenKind::kEnd; lexer_.Next()) {
      if (lexer_.kind() == TokenKind::kName && !member && IsFreeName()) names.push_back(lexer_.text());
      member = lexer_.kind() == TokenKind::kDot;
    }
    return names;
  }
  bool ReadMemberOf(text::Prefix prefix) {
    for (bool member = false; lexer_.kind() != TokenKind::kEnd; lexer_.Next()) {
      const bool is_prefix = lexer_.kind() == TokenKind::kName && state_.prefixes.Of(lexer_.text()) == prefix;
      if (is_prefix && !member && lexer_.next_char() == '.') return true;
      member = lexer_.kind() == TokenKind::kDot;
    }
    return false;
  }

  const text::ParserCore::Shared& shared() { return shared_; }

  // `part`, unless it is null or text is left over.
  template <class T>
  const T* Finish(const T* part, std::string_view what) {
    while (lexer_.kind() == TokenKind::kNewline) lexer_.Next();
    if (!part || lexer_.kind() == TokenKind::kEnd) return part;
    diagnostics_.Error(Location(lexer_.SpanOf(lexer_.peek())), "syntax",
                       "the " + std::string(what) + " ends before this");
    return nullptr;
  }

 private:
  bool IsFreeName() {
    static constexpr std::array<std::string_view, 12> kWords = {"False", "None", "True",   "and",      "else", "for",
                                                                "if",    "in",   "lambda", "metadata", "not",  "or"};
    const std::string_view name = lexer_.text();
    return lexer_.next_char() != '(' && state_.prefixes.Of(name) == text::Prefix::kNone &&
           !std::ranges::binary_search(kWords, name) && !text::ParserCore(shared_).AtKeyword();
  }

  // Space before the part is not an indentation.
  static uint32_t Begin(std::string_view text) {
    return static_cast<uint32_t>(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }

  Module module_;
  text::ReaderState state_;
  text::SymbolTable symbols_;
  DiagnosticEngine& diagnostics_;
  Lexer lexer_;
  text::ParserCore::Shared shared_;
};

}  // namespace

const Expr* ParseExpression(std::string_view text, uint32_t base, Workspace& workspace, DiagnosticEngine& diagnostics) {
  PartReader reader(text, base, workspace, diagnostics);
  return reader.Finish(text::RelaxFunctionParser(reader.shared()).ParseExpr(), "expression");
}

bool IsRelaxExpression(std::string_view text) {
  Workspace workspace;
  DiagnosticBuffer buffer;
  DiagnosticEngine ignored(&buffer);
  return PartReader(text, 0, workspace, ignored).ReadMemberOf(text::Prefix::kRelax);
}

const PrimExpr* ParseScalar(std::string_view text, uint32_t base, std::vector<const tir::Var*>& variables,
                            Workspace& workspace, DiagnosticEngine& diagnostics) {
  DiagnosticBuffer buffer;
  DiagnosticEngine ignored(&buffer);  // the errors are those of the second reading
  for (const std::string_view name : PartReader(text, base, workspace, ignored).ReadFreeNames()) {
    if (std::ranges::none_of(variables, [&](const tir::Var* var) { return var->name == name; }))
      variables.push_back(workspace.NewPrimVar(name, DataType::Int(32)));
  }
  PartReader reader(text, base, workspace, diagnostics);
  for (const tir::Var* var : variables) reader.Define(var);
  text::ScalarParser parser(reader.shared());
  parser.ChainComparisons();
  return reader.Finish(parser.ParseScalar(Precedence::kLambda), "expression");
}

std::optional<const tir::Var*> ParseDeclaration(std::string_view text, uint32_t base, Workspace& workspace,
                                                DiagnosticEngine& diagnostics) {
  PartReader reader(text, base, workspace, diagnostics);
  text::ScalarParser parser(reader.shared());
  if (!parser.At(TokenKind::kName) || parser.lex_.next_char() == '.') return std::nullopt;
  const Token name = parser.lex_.Next();
  if (!parser.Accept(TokenKind::kColon)) return std::nullopt;
  PyValue type;
  DataType dtype;
  if (!parser.ParseValue(type) || !parser.ToDType(type, dtype)) return nullptr;
  tir::Var* var = workspace.NewPrimVar(parser.lex_.text(name), dtype);
  var->set_span(parser.lex_.SpanOf(name));
  return reader.Finish<tir::Var>(var, "declaration");
}

const Type* ParseType(std::string_view text, uint32_t base, const ParseScope& scope, Workspace& workspace,
                      DiagnosticEngine& diagnostics) {
  PartReader reader(text, base, workspace, diagnostics);
  reader.Enter(scope);
  return reader.Finish(text::RelaxFunctionParser(reader.shared()).ParseSignatureType(), "type");
}

const Attr* ParseAttribute(std::string_view text, uint32_t base, const ParseScope& scope, Workspace& workspace,
                           DiagnosticEngine& diagnostics) {
  PartReader reader(text, base, workspace, diagnostics);
  reader.Enter(scope);
  return reader.Finish(text::ParseAttr(reader.shared(), ScriptDialect::kRelax), "value");
}

}  // namespace iropt
