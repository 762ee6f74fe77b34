// Reads scalar expressions and attribute values, which are the same in TIR and in Relax functions.
#pragma once

#include <string_view>
#include <vector>

#include "buffers.h"
#include "iropt/support/lookup.h"
#include "text/script/expr_grammar.h"

namespace iropt {

struct IntrinsicInfo;

namespace text {

class ScalarParser : public ExprGrammar<ScalarParser>, public BufferValues {
 public:
  explicit ScalarParser(Shared shared, int int_bits = 32)
      : ExprGrammar(shared), BufferValues(shared.workspace, shared.diagnostics, int_bits) {}

  // Reads one scalar expression whose operators bind as tightly as `least`. Null after an error, as for all of them.
  const PrimExpr* ParseScalar(Precedence least);
  // Reads one attribute value (attr_reader.cpp).
  const Attr* ParseAttribute(ScriptDialect mode, Precedence least);
  bool AtAttribute() const;

  // The function as the text calls it: "T.max".
  std::string_view CalledName(const PyArgs& args) const {
    const std::string_view text = lex_.buffer().substr(args.span.begin - lex_.base());
    return text.substr(0, text.find_first_of(" \t("));
  }
  // T.if_then_else(condition, a, b)
  const PrimExpr* MakeChoice(const PyValue& condition, const PyValue& a, const PyValue& b, Span span);

  // T.name that is not an expression.
  Failed UnknownTir(std::string_view name, Span span);
  static bool IsTirName(std::string_view name);
  // The keys of the dictionary that was read last, in the order of the text.
  const std::vector<std::string_view>& dict_keys() const { return dict_keys_; }
  // The name that the statement gives to its result.
  std::string_view pending_name() const { return pending_name_; }
  // T.Buffer(..., data=...), which no statement has declared so far.
  void NoteView(const tir::Buffer* buffer) { undeclared_views_.insert(buffer); }
  // Returns whether there is such a view, which is declared from now on.
  bool TakeView(const tir::Buffer* buffer) { return undeclared_views_.erase(buffer); }

 protected:
  friend ExprGrammar<ScalarParser>;

  // ---- functions required by the grammar
  bool Choice(const PyValue& condition, const PyValue& a, const PyValue& b, Span span, PyValue& out);
  bool Unary(TokenKind op, const PyValue& operand, Span span, PyValue& out);
  bool Binary(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
    return ops_.Binary(op, a, b, span, out);
  }
  bool Logic(NodeKind kind, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
    return ops_.Logic(kind, a, b, span, out);
  }
  bool Subscript(PyValue& out, uint32_t begin);
  bool Member(PyValue& out, uint32_t begin);
  bool Call(PyValue& out, uint32_t begin);
  static constexpr bool kIsPrimFunc = true;
  bool Named(const Node* node, const Token& token, PyValue& out);
  bool Undefined(PyValue& out);
  bool Prefixed(Prefix prefix, PyValue& out);
  bool Dict(PyValue& out);
  bool Lambda(PyValue& out);
  bool Metadata(const Node* node, Span span, PyValue& out);
  // TVM 0.26 calls the data type of a variable `ty`.
  static std::string_view Keyword(std::string_view name) { return name == "ty" ? "dtype" : name; }

  // ---- after a value
  bool ParseSubscripts(Subscripts& subscripts);
  bool ListItem(PyValue& out, uint32_t begin);
  bool BufferMember(const tir::Buffer* buffer, std::string_view name, uint32_t begin, PyValue& out);

  // ---- T.name(...) that is not a function of its arguments (members.cpp)
  bool ParseTirMember(PyValue& out);
  bool ParseDTypeMember(DataType dtype, uint32_t begin, PyValue& out);
  bool ParseBracketed(PyArgs& args, uint32_t begin);
  bool ParseBufferItems(PyArgs& args, uint32_t begin);
  bool ParseHandle(uint32_t begin, PyValue& out);
  bool ParseTensorMap(uint32_t begin, PyValue& out);
  bool ParseLet(uint32_t begin, PyValue& out);

  // ---- I.vdevice(...), R.device_mesh(...), T.target(...) (attr_reader.cpp)
  const Attr* ParseConstructed();
  const Attr* ParseDeviceMesh(uint32_t begin);
  bool ParsePlainArguments(PyArgs& args, uint32_t begin);

  // A name whose definition failed stands for this, so that its uses are not errors, too.
  static const Node* poison();

  ScriptDialect attr_mode_ = ScriptDialect::kTir;
  std::string_view pending_name_;
  LookupSet<const tir::Buffer*> undeclared_views_;
  std::vector<std::string_view> dict_keys_;
  // Strings of the metadata section, copied into the function; two uses of an entry stay the same node.
  LookupMap<const tir::StringImm*, const tir::StringImm*> strings_;
};

// Reads T.name(...) with its subscripts and members as one scalar, of 64 bits if it has no type. Null after an error.
inline const PrimExpr* ParseScalarExpr(ParserCore::Shared shared) {
  return ScalarParser(shared, 64).ParseScalar(Precedence::kAtom);
}

// A call of an intrinsic: brings the operands to the form that its row asks for (intrinsics.cpp). False after an error.
bool MakeIntrinsicCall(ScalarParser& p, const IntrinsicInfo& info, PyArgs& args, PyValue& out);
// A target of its first argument, in dictionary or string form, and its host, which may be null (attr_reader.cpp). Null
// after an error.
const TargetAttr* MakeTarget(ScalarParser& p, const PyValue& value, const PyValue* host);
// An operand of such a call. Null after an error.
const PrimExpr* IntrinsicOperand(ScalarParser& p, const IntrinsicInfo& info, const PyValue& value);

}  // namespace text

}  // namespace iropt
