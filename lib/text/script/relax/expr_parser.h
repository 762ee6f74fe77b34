// Reads expressions of Relax functions. Python's operators on numbers and scalars make scalars; on tensors they make
// operator calls.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "anf_builder.h"
#include "text/script/expr_grammar.h"
#include "text/script/tir/prim_ops.h"
#include "type_parser.h"

namespace iropt::text {

class RelaxExprParser : public ExprGrammar<RelaxExprParser> {
 public:
  // `anf` takes the bindings of nested expressions.
  RelaxExprParser(Shared shared, AnfBuilder& anf)
      : ExprGrammar(shared), anf_(anf), types_(shared, *this), ops_(shared.workspace, shared.diagnostics, 64) {}

  // Reads an expression, and converts it to a Relax one. Null after an error.
  const Expr* ParseExpr();
  // Reads a value, or several with commas, which are a tuple. False after an error.
  bool ParseValues(PyValue& value) {
    const uint32_t begin = lex_.peek().begin;
    return ParseValue(value) && (!At(TokenKind::kComma) || ParseTupleTail(value, false, begin));
  }
  const Expr* ToExpr(const PyValue& value);
  // A dimension. Null after an error.
  const PrimExpr* ToDim(const PyValue& value);

  RelaxTypeParser& types() { return types_; }
  AnfBuilder& anf() { return anf_; }
  // Reads the call of a macro, whose name was read, and the body of the macro.
  using ExpandMacroFn = std::function<bool(const Macro&, uint32_t begin, PyValue& out)>;
  void set_expand_macro(ExpandMacroFn expand) { expand_macro_ = std::move(expand); }
  // The node that a name with this value is defined as: a variable or PrimExpr itself, otherwise a ValueSymbol.
  const Node* NodeOf(const PyValue& value);
  // In a signature, a name that is not in scope becomes a new symbolic variable.
  bool in_signature() const { return in_signature_; }
  void set_in_signature(bool in) { in_signature_ = in; }

  static std::string_view Keyword(std::string_view name);
  // A call of the operator that began at the offset. False after an error, as for the next.
  bool MakeOpCall(const OpInfo& op, std::span<const PyValue> positional, std::span<const PyKeyword> keywords,
                  uint32_t begin, PyValue& out);
  // The field of a tuple, `out`, at an index; as in Python, negative ones count from the end.
  bool MakeProjection(const PyValue& index, Span span, PyValue& out);

 private:
  friend ExprGrammar<RelaxExprParser>;

  // ---- functions required by the grammar
  bool Choice(const PyValue& condition, const PyValue&, const PyValue&, Span, PyValue&) {
    return Error(condition.span, "bad-expression",
                 "a choice between values is written R.where(...), or as an if statement");
  }
  bool Operand(PyValue&) { return true; }
  bool Unary(TokenKind op, const PyValue& operand, Span span, PyValue& out);
  bool Binary(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out);
  bool Logic(NodeKind kind, const PyValue& a, const PyValue& b, Span span, PyValue& out);
  bool Subscript(PyValue& out, uint32_t begin);
  bool Member(PyValue& out, uint32_t begin);
  bool Call(PyValue& out, uint32_t begin);
  static constexpr bool kIsPrimFunc = false;
  bool Named(const Node* node, const Token& token, PyValue& out);
  bool Undefined(PyValue& out);
  bool Prefixed(Prefix prefix, PyValue& out);
  bool Dict(PyValue& out);
  bool Lambda(PyValue& out);
  bool Metadata(const Node* node, Span span, PyValue& out);

  // ---- operators (expr.cpp)
  bool Scalar(bool ok, Span span, PyValue& out);
  bool ParseTirMember(PyValue& out);
  bool ParseRelaxMember(PyValue& out);
  bool ParseOpCall(const OpInfo& op, uint32_t begin, PyValue& out);

  // ---- members of values (members.cpp)
  bool CastScalar(const PrimExpr* scalar, uint32_t begin, PyValue& out);
  bool ParseInspection(const struct Inspection& inspection, uint32_t begin, PyValue& out);

  AnfBuilder& anf_;
  RelaxTypeParser types_;
  PrimOps ops_;
  bool in_signature_ = false;
  ExpandMacroFn expand_macro_;
};

}  // namespace iropt::text
