// The reader of graph-level functions: types, expressions, statements.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "iropt/infer/script_value.h"
#include "text/script/parser_core.h"
#include "type_cache.h"

namespace iropt::text {

// A function header that was read: everything that callers of the function need to know.
struct RelaxSignature {
  std::string_view name;
  Span name_span;
  std::vector<const Var*> params;
  const Type* ret_annotation = nullptr;  // null where none was written
  bool pure = true;
  bool is_private = false;
};

// An expression as an argument.
inline ScriptValue ExprValue(const Expr* expr) {
  ScriptValue v;
  v.kind = ScriptValue::Kind::kExpr;
  v.expr = expr;
  v.span = expr->span();
  return v;
}

class RelaxParser : public ParserCore {
 public:
  explicit RelaxParser(Shared shared) : ParserCore(shared) {}

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
  // Reads an expression and converts it to a graph-level one. Null after an error.
  const Expr* ParseExpr();

 private:
  // ---- types (relax_types.cpp)
  const Type* ParseType();
  const Type* ParseTypeUncached();
  const Type* ParseTypeOfValue();
  const Type* ParseTensorType(Span span);
  const Type* ParseDTensorType(Span span);
  const Type* ParseShapeType();
  const Type* ParseTupleType();
  const Type* ParsePrimTypeArgs();
  const Type* ParseCallableType();
  const Type* MakeTensorType(const struct TensorSpec& spec, Span span);
  bool ParseTypeList(TokenKind close, std::vector<const Type*>& types);
  bool ParseTensorArgument(struct TensorSpec& spec, std::string_view keyword, int position);
  bool ParseDims(std::vector<const PrimExpr*>& dims);
  const PrimExpr* ParseDim();
  const PrimExpr* ParseQuotedDim();
  const PrimExpr* ParseQuotedDim(Lexer inner);
  const VDeviceAttr* FindVDevice(std::string_view name, Span span);
  const TupleType* MakeTupleType(std::span<const Type* const> fields);
  const FuncType* MakeFuncType(std::span<const Type* const> params, const Type* ret, bool purity);

  // ---- expressions (relax_expr.cpp). Each reads one construct into `out`; false after an error.
  bool ParseValue(ScriptValue& out, int min_precedence = 0);
  bool ParseUnary(ScriptValue& out);
  bool ParsePostfix(ScriptValue& out);
  bool ParsePrimary(ScriptValue& out);
  bool ParseNumber(ScriptValue& out);
  bool FitsInt64(const ScriptValue& value);
  bool ParseNameValue(ScriptValue& out);
  bool ParseParenthesized(ScriptValue& out);
  bool ParseItems(TokenKind close, ScriptValue& out, bool* trailing_comma);
  bool ParseRelaxMember(ScriptValue& out);
  bool ParseTirMember(ScriptValue& out);
  bool ParseIrMember(ScriptValue& out);
  bool ParseMetadata(ScriptValue& out);
  bool ParseDict(ScriptValue& out);
  bool ParseConst(uint32_t begin, ScriptValue& out);
  bool ParseSubscript(ScriptValue& out);
  bool MakeProjection(const ScriptValue& index, Span span, ScriptValue& out);
  bool ParseMember(ScriptValue& out);
  bool ParseInspection(const struct Inspection& inspection, uint32_t begin, ScriptValue& out);
  bool ParseIndexMap(ScriptValue& out);
  bool ParseFloatCall(ScriptValue& out);
  bool MakeOpCall(const OpInfo& op, std::span<const ScriptValue> positional, std::span<const ScriptKeyword> keywords,
                  uint32_t begin, ScriptValue& out);
  bool ParseArguments(std::vector<ScriptValue>& positional, std::vector<ScriptKeyword>& keywords);
  bool ParseOpCall(const OpInfo& op, uint32_t begin, ScriptValue& out);
  bool ParseSimpleArguments(const OpInfo& op, uint32_t begin, ScriptValue& out);
  bool ParseConstructor(std::string_view name, uint32_t begin, ScriptValue& out, bool& known);
  bool ParseCallOf(const Expr* callee, uint32_t begin, ScriptValue& out);
  bool ParseCallPacked(uint32_t begin, ScriptValue& out);
  bool MakeLeaf(std::string_view name, std::span<const ScriptValue> args, Span span, ScriptValue& out);
  bool MakeDistConst(std::span<const ScriptValue> args, Span span, ScriptValue& out);
  bool MakeDevice(std::span<const ScriptValue> args, std::span<const ScriptKeyword> keywords, ScriptValue& out);
  bool MakeLinear(std::span<const ScriptValue> args, std::span<const ScriptKeyword> keywords, uint32_t begin,
                  ScriptValue& out);
  std::shared_ptr<NDArray> ConstArray(const ScriptValue& value, DataType dtype);
  const TupleType* TypeArguments(const ScriptValue& value);
  bool BinaryValue(TokenKind op, const ScriptValue& a, const ScriptValue& b, Span span, ScriptValue& out);
  const Expr* ToExpr(const ScriptValue& value);
  const PrimExpr* ToDim(const ScriptValue& value);

  // ---- A-normal form and types (relax_normalize.cpp)
  // The expression with every operand a leaf; what is nested is bound to new variables in the current block.
  const Expr* Flatten(const Expr* expr);
  const Expr* FlattenOperand(const Expr* expr);
  // Infers the type of an expression that has none. Null after an error.
  const Expr* Typed(const Expr* expr);

  // ---- statements (relax_stmt.cpp)
  struct Branch {
    const SeqExpr* seq = nullptr;
    std::string_view name;  // of the variable that its last binding binds
    Span name_span;
  };
  bool ParseStatement();
  bool AtLineStart() const;
  bool ParseSuite();
  bool ParseBinding();
  bool ParseTupleTail(ScriptValue& value);
  bool ParseTargets(std::vector<Token>& names);
  bool ParseUnpacking();
  bool Unpack(const ScriptValue& value, std::vector<ScriptValue>& items);
  bool BindValue(const Token& name, const Type* annotation, Span annotation_span, const ScriptValue& value);
  bool ParseSymbolicVars(std::span<const Token> names);
  bool ParseSymbolicVar(const Token& name);
  bool ParseExprStatement();
  bool ParseRelaxStatement(bool& handled);
  bool ParseWith();
  bool ParseOutput();
  bool ParseIf();
  bool ParseBranches(const Expr* cond, Span span);
  bool ParseBranch(std::string_view suffix, Branch& branch);
  const Expr* BranchValue(std::string_view suffix);
  bool ParseNestedFunction();
  bool SkipNestedFunction();
  bool ParseReturn();
  bool ParseFuncAttr();
  const MatchCast* ParseMatchCast(const Token& name, const Type* annotation);
  void ScanPrelude();
  void DefineFallback(std::string_view name, const Type* annotation);
  // Adds a binding to the current block and names its variable.
  Var* NewBoundVar(std::string_view name, const Type* type);
  void EmitBinding(const Binding* binding) { scope_->bindings.push_back(binding); }
  const Var* EmitTemporary(const Expr* value);
  void EndBlock();
  const Function* MakeFunction(const RelaxSignature& signature, const Expr* body);

  // A sequence of binding blocks that is being read: a function body or a branch.
  struct SeqScope {
    std::vector<const BindingBlock*> blocks;
    std::vector<const Binding*> bindings;  // of the current block
    std::vector<Var*> dataflow_vars;       // bound in the current dataflow block, in order
    bool in_dataflow = false;
    bool output_seen = false;
    bool is_branch = false;
    const Expr* result = nullptr;  // of `return`
    Span last_span;
  };

  SeqScope* scope_ = nullptr;
  const DictAttr* func_attrs_ = nullptr;
  bool in_constant_ = false;          // within R.const, whose elements may be any that its type has
  bool in_signature_ = false;         // strings in annotations may name new symbolic variables
  bool type_names_variable_ = false;  // the type that is being read depends on a graph-level variable
  TypeCache types_;
  Arena scratch_;  // lists of literals, until the function was read
};

}  // namespace iropt::text
