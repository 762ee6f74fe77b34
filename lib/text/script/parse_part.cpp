// Reading parts of a module: an expression, a type, an attribute value.
#include <algorithm>
#include <string>

#include "attr_text.h"
#include "iropt/text/script/parser.h"
#include "text/script/relax/function_parser.h"

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
