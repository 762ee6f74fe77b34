// Reads Relax functions: headers, statements, bodies.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "anf_builder.h"
#include "expr_parser.h"
#include "text/script/macro.h"

namespace iropt::text {

// A function header that was read: everything that callers of the function need.
struct RelaxSignature {
  std::string_view name;
  Span name_span;
  std::vector<const Var*> params;
  const Type* ret_annotation = nullptr;  // null if none was written
  bool pure = true;
  bool is_private = false;
};

class RelaxFunctionParser : public ParserCore {
 public:
  explicit RelaxFunctionParser(Shared shared)
      : ParserCore(shared), anf_(ws_, state_.module, diag_), exprs_(shared, anf_), types_(exprs_.types()) {
    exprs_.set_expand_macro(
        [this](const Macro& macro, uint32_t begin, PyValue& out) { return ExpandMacro(macro, begin, out); });
  }
  RelaxFunctionParser(const RelaxFunctionParser&) = delete;
  RelaxFunctionParser& operator=(const RelaxFunctionParser&) = delete;

  // Reads `def name(params) -> type:`; the decorator was read. The parameters are defined in the current scope, and so
  // are the symbolic variables that the annotations name first. False after an error from which the body can't be read.
  bool ParseSignature(RelaxSignature& signature);
  // Reads the indented body after the signature. Null after errors.
  const Function* ParseBody(const RelaxSignature& signature);
  // Reads `@R.function(pure=False, private=True)` and the end of its line.
  bool ParseDecorator(RelaxSignature& signature);
  // The type that the function has for its callers before its body was read.
  const FuncType* DeclaredType(const RelaxSignature& signature);

  // Reads a type as in a signature: a name that is not in scope becomes a new symbolic variable. Null after an error.
  const Type* ParseSignatureType();
  // Reads an expression. Null after an error.
  const Expr* ParseExpr() { return exprs_.ParseExpr(); }

 private:
  using Kind = PyValue::Kind;
  using Sequence = AnfBuilder::Sequence;
  struct Branch {
    const SeqExpr* seq = nullptr;
    std::string_view name;  // of the variable that its last binding binds
    Span name_span;
    const Type* type = nullptr;  // of this variable: the annotation may say less than the value
  };

  // ---- statements (stmt_parser.cpp)
  bool ParseStatement();
  bool AtLineStart() const;
  bool ParseSuite();
  // Several statements of a line have a semicolon between them.
  bool EndOfStatement() {
    if (!Accept(TokenKind::kSemicolon)) return Expect(TokenKind::kNewline, "a statement");
    if (At(TokenKind::kNewline)) lex_.Next();
    return true;
  }
  bool ParseBinding();
  bool ParseUnpacking();
  bool Unpack(const PyValue& value, std::vector<PyValue>& items);
  // The type that a binding states for its variable; null if it states none.
  struct Annotation {
    const Type* type = nullptr;
    Span span;
    bool is_scalar = false;  // T.int64, as from TVM 0.26 on
  };
  bool BindValue(const Token& name, const Annotation& stated, const PyValue& value);
  bool ParseExprStatement();
  bool ParseRelaxStatement(bool& handled);
  bool ParseWith();
  bool ParseOutput();
  void HideLocalShapes(const Var& output);
  bool ParseIf();
  bool ParseBranches(const Expr* cond, Span span);
  bool ParseBranch(std::string_view suffix, Branch& branch);
  const Expr* BranchValue(std::string_view suffix);
  bool ParseReturn();
  bool ParseFuncAttr();
  bool ExpandMacro(const Macro& macro, uint32_t begin, PyValue& out);
  bool ParseMacroBody(const Macro& macro, PyValue& out);
  const MatchCast* ParseMatchCast(const Token& name, const Type* annotation);
  void DefineFallback(std::string_view name, const Type* annotation);

  // ---- functions (function_parser.cpp)
  bool ParseParam(RelaxSignature& signature);
  const tir::Var* SymbolOfParam(std::string_view name);
  bool ParseNestedFunction();
  bool SkipNestedFunction();
  const Function* MakeFunction(const RelaxSignature& signature, const Expr* body);
  Sequence& sequence() { return *anf_.sequence(); }

  AnfBuilder anf_;
  RelaxExprParser exprs_;
  RelaxTypeParser& types_;
  const DictAttr* func_attrs_ = nullptr;
  MacroBudget macros_;
};

}  // namespace iropt::text
