// The reader of loop-level functions: signatures, statements and scalar expressions.
//
// Scripts build functions as a sequence of calls: `A = T.allocate(...)` opens a statement whose body is the rest of the
// block it stands in, T.reads(...) adds to the innermost block. A tir::StmtBuilder keeps the statements that are still
// open; the reader closes them where their text ends.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attr_text.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/analysis/tir/block_access.h"
#include "iropt/ir/tir/builder.h"
#include "text/script/parser_core.h"
#include "prim_ops.h"
#include "value.h"

namespace iropt {
struct IntrinsicInfo;
}

namespace iropt::text {

// A function header that was read: everything that callers of the function need to know.
struct TirSignature {
  std::string_view name;
  Span name_span;
  bool is_private = false;
  std::vector<const tir::Var*> params;
  std::vector<const tir::Buffer*> buffers;  // of the parameters; null where a parameter is no buffer
  const Type* ret_type = nullptr;
};

// The arguments of a call in the text.
struct TirArgs {
  struct Keyword {
    std::string_view name;
    Span span;
    Value value;
  };
  std::vector<Value> positional;
  std::vector<Keyword> keywords;
  Span span;  // of the whole call
};

class TirParser : public ParserCore {
 public:
  explicit TirParser(Shared shared, int int_bits = 32)
      : ParserCore(shared), ops_(shared.workspace, shared.diagnostics, int_bits), build_(shared.workspace) {}

  // Reads `@T.prim_func(private=True)`, and the line break after it.
  bool ParseDecorator(TirSignature& signature);
  // Reads `def name(params) -> type`; the parameters are defined in the current scope. False after an error from which
  // the body can't be read.
  bool ParseSignature(TirSignature& signature);
  // A function without a body, which stands in the module until the body was read.
  static PrimFunc* MakeHeader(const TirSignature& signature, Workspace& workspace);
  // Reads the colon and the indented body. Null after errors.
  const PrimFunc* ParseBody(TirSignature& signature);

  // Reads one scalar expression.
  const PrimExpr* ParseScalar();
  // Reads one attribute value (attr_reader.cpp).
  // A lambda from indices to indices. Null after an error.
  const IndexMapAttr* ParseMapping(DataType dtype, const IndexMapAttr* inverse);
  const Attr* ParseAttribute(AttrMode mode);
  bool AtAttribute() const;

 private:
  friend struct TirFunctions;  // the tables of what T.name means
  friend struct TirConstructs;

  // ---- expressions (expr.cpp)
  bool ParseExpr(Value& out, Precedence least = Precedence::kLambda);
  bool ParsePrefix(Value& out);
  // After a first operand: what operators follow it.
  bool ParseInfix(Value& out, uint32_t begin, Precedence least);
  bool ParseChoice(Value& out);
  bool ParsePostfix(Value& out, uint32_t begin);
  bool ParseAtom(Value& out);
  bool ParseNumber(Value& out, bool negative);
  bool ParseName(Value& out);
  bool ParseModuleMember(const Token& alias, Value& out);
  bool ParseParenthesized(Value& out);
  bool ParseItems(TokenKind close, std::vector<Value>& items, bool* trailing_comma = nullptr);
  // x, or *list for all items of the list.
  bool ParseItem(std::vector<Value>& items);
  bool AddItem(const Value& item, bool star, std::vector<Value>& items);
  bool ParseMember(Value& out, uint32_t begin);
  bool ParseBufferMember(const tir::Buffer* buffer, std::string_view name, Span span, Value& out);
  bool ParseMetadata(Value& out);
  bool ParseArguments(TirArgs& args, uint32_t begin);
  Value ListOf(Value::Kind kind, std::span<const Value> items, Span span);
  bool Operand(Value& value);
  bool CallOf(const GlobalVar* func, const TirArgs& args, Value& out);

  // ---- arguments (args.cpp). The converting functions report what they found where it does not fit.
  template <size_t N>
  bool Bind(const TirArgs& args, std::string_view what, const std::string_view (&names)[N], size_t required,
            const Value* (&out)[N]) {
    return BindTo(args, what, names, required, out);
  }
  bool BindTo(const TirArgs& args, std::string_view what, std::span<const std::string_view> names, size_t required,
              std::span<const Value*> out);
  // The function as the text calls it: "T.max".
  std::string_view CalledName(const TirArgs& args) const {
    const std::string_view text = lex_.buffer().substr(args.span.begin - lex_.base());
    return text.substr(0, text.find_first_of(" \t("));
  }
  bool CountArgs(const TirArgs& args, std::string_view what, size_t least, size_t most);
  Failed WrongValue(const Value& value, std::string_view expected);
  const PrimExpr* ToPrim(const Value& value);
  const PrimExpr* ToBool(const Value& value);
  // What `if` and `while` ask: a truth value or, as in Python, whether a number is not 0.
  const PrimExpr* ToCondition(const Value& value);
  // A number becomes a constant of the dtype, an expression must have it.
  const PrimExpr* ToPrimOf(const Value& value, DataType dtype);
  bool ToPrims(const Value& value, std::vector<const PrimExpr*>& out);
  List<const PrimExpr*> CopyPrims(const std::vector<const PrimExpr*>& exprs) { return ws_.Copy(exprs); }
  const tir::Var* ToVar(const Value& value);
  const tir::Range* ToRange(const Value& value);
  bool ToDType(const Value& value, DataType& out);
  bool ToInteger(const Value& value, int64_t& out);
  bool ToString(const Value& value, std::string_view& out);
  const DictAttr* ToDict(const Value* value);
  const PrimExpr* Simplify(const PrimExpr* expr);
  const PrimExpr* True(Span span) { return ops_.Int(1, DataType::Bool(), span); }

  // ---- T.name(...) as an expression (call.cpp)
  bool ParseTirMember(Value& out);
  bool ParseDTypeMember(DataType dtype, uint32_t begin, Value& out);
  bool ParseBracketed(TirArgs& args, uint32_t begin);
  bool ParseBufferItems(TirArgs& args, uint32_t begin);
  bool ParseHandle(uint32_t begin, Value& out);
  bool ParseIndexMap(uint32_t begin, Value& out);

  bool ParseReducer(uint32_t begin, Value& out);
  bool ParseLambda(std::vector<std::string_view>& params, uint32_t& body);
  bool ParseLet(uint32_t begin, Value& out);
  bool ParseIntrinsic(const IntrinsicInfo& info, uint32_t begin, Value& out);
  bool MakeIntrinsic(const IntrinsicInfo& info, TirArgs& args, Value& out);
  bool TakeDType(const IntrinsicInfo& info, TirArgs& args, std::optional<DataType>& dtype);
  const PrimExpr* IntrinsicArg(const IntrinsicInfo& info, const Value& value);
  const PrimExpr* MakeCall(std::string_view op, DataType dtype, std::initializer_list<const PrimExpr*> args, Span span);
  Failed UnknownTir(std::string_view name, Span span);
  static bool IsTirName(std::string_view name);

  // ---- attribute values (attr_reader.cpp)
  const Attr* ToAttr(const Value& value);
  const Attr* ParseDict();
  const Attr* ParseConstructed();
  const TargetAttr* ParseTarget(uint32_t begin);
  const Attr* ParseVDevice(uint32_t begin);
  const Attr* ParseDeviceMesh(uint32_t begin);
  const DictAttr* TargetConfig(const Value& value);
  bool ToIntegers(const Value& value, std::vector<int64_t>& out);

  // ---- what of Python itself scripts use (python.cpp)
  bool ParseListItem(Value& out, uint32_t begin);
  bool Extreme(bool most, const TirArgs& args, Value& out);
  bool ParsePythonCall(Value& out);
  static bool IsPythonFunction(std::string_view name);

  // ---- buffers (buffer.cpp)
  struct Index {
    Value start, stop, step;  // kNone where absent
    bool slice = false;
  };
  bool ParseIndices(std::vector<Index>& indices);
  // A[...] as a value: a load, or a region where there are slices without a step.
  bool AccessOf(const tir::Buffer* buffer, std::vector<Index>& indices, Span span, Value& out);
  bool VectorIndices(const tir::Buffer* buffer, std::span<const Index> indices, std::vector<const PrimExpr*>& out);
  Failed WrongIndexCount(const tir::Buffer* buffer, size_t found, Span span);
  const tir::BufferRegion* RegionOf(const tir::Buffer* buffer, std::span<const Index> indices, Span span);
  const PrimExpr* SlicedIndex(const tir::Buffer* buffer, size_t i, const Index& index);
  const PrimExpr* LoadRegion(const tir::BufferRegion* region, Span span);
  const tir::BufferRegion* ToRegion(const Value& value);
  const PrimExpr* MakeLoad(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                           const PrimExpr* predicate, Span span);
  const tir::Stmt* MakeStore(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices, const Value& value,
                             const Value* predicate, Span span);
  bool CheckIndices(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices, Span span, DataType& element);
  // How a buffer is declared: T.Buffer, T.match_buffer, T.alloc_buffer and T.decl_buffer differ in what stands before
  // the shape.
  bool ReadBufferSpec(const TirArgs& args, std::string_view what, bool has_source, const Value** source,
                      tir::BufferSpec& spec);
  bool ReadStrides(const Value& value, tir::BufferSpec& spec, std::string_view name);
  const tir::Buffer* DeclareBuffer(const TirArgs& args, std::string_view what);
  const PrimExpr* PackBuffer(const tir::Buffer* buffer, Span span);
  bool AccessPointer(const tir::Buffer* buffer, const TirArgs& args, Value& out);
  bool VectorLoad(const tir::Buffer* buffer, const TirArgs& args, Value& out);

  // ---- what a statement gives names to (targets.cpp)
  // x, (x, y), [x, *rest]: a name, or a list of targets for the items of a list.
  struct Target {
    Token name;
    bool star = false;
    bool is_list = false;
    std::vector<Target> items;
    Span span;
  };
  enum class Naming : uint8_t {
    kAssignment,  // an expression is bound by a LetStmt
    kDirect,      // `with ... as`: there are variables and buffers only
    kLoop         // the variables of loops
  };
  // Everything up to `=` or `in`: with commas, a list without brackets.
  bool ParseTargets(Target& target);
  bool ParseTarget(Target& target);
  bool AtTarget() const;
  bool CheckDistinct(const Target& target);
  bool AtTargetList();
  // A list that has a name may stand in a list twice, and that one again: what is meant to be short could fill the
  // memory.
  static constexpr size_t kMostItems = 1 << 18;
  static bool FitsInto(size_t& room, const Value& value);
  bool TooLong(Span span);
  // Names a value: what was made for the name is what the name means.
  bool AssignTo(const Target& target, const Value& value, Naming naming);
  bool AssignItems(const Target& target, const Value& value, Naming naming);
  bool NameValue(std::string_view name, Span span, const Value& value, Naming naming, const Node*& meaning);
  void Rename(const tir::Var* var, std::string_view name);
  void Rename(const tir::Buffer* buffer, std::string_view name);
  const Node* NodeOf(const Value& value);
  // So that the uses of a name whose definition failed are not errors, too.
  void Poison(const Target& target);
  static const Node* poison();

  // ---- statements (stmt.cpp)
  // Reads what stands after a colon; the statements go to the list of open ones.
  bool ParseSuite();
  // The same with names of its own; gives the body as one statement. Null where the suite does not begin.
  const tir::Stmt* ParseBranch();
  void ParseStatements();
  bool ParseStatement();
  bool ParseSimpleStatement();
  bool ParseFor();
  bool ParseWhile();
  bool ParseIf();
  bool ParseWith();
  bool NoConstruct(Span span);
  bool ParseAssert();
  bool ParseReturn();
  bool ParseAssignment();
  bool ParseRightHandSide(const Target& target, Value& out);
  bool ParseAnnotated(const Target& target);
  bool ParseAnnotation(const tir::Var*& var, std::string_view name);
  bool ParseElementStatement(const tir::Buffer* buffer);
  bool ParseAugmented(const tir::Buffer* buffer, std::vector<Index>& indices, uint32_t begin);
  bool ParseVectorStore(const tir::Buffer* buffer);
  bool EmitValue(const Value& value);
  bool ParseNameUpdate(const Token& name, const Value& value);
  void OpenLet(const tir::Var* var, const PrimExpr* value, Span span);
  const PrimExpr* LetValue(const Value& value, const tir::Var* var);
  bool EndOfStatement();
  // The first character after the current name that is no blank.
  char CharAfterName() const;

  // ---- loops (loop.cpp)
  struct LoopHeader {
    tir::ForKind kind = tir::ForKind::kSerial;
    std::vector<const tir::Range*> domains;
    std::vector<DataType> dtypes;  // of the loop variables
    const DictAttr* annotations = DictAttr::Empty();
    std::string_view thread;
  };
  bool ParseLoopHeader(LoopHeader& header);
  bool ReadLoop(const TirArgs& args, std::string_view what, LoopHeader& header);
  bool AddLoop(const Value& start, const Value* stop, LoopHeader& header);
  void OpenLoops(const LoopHeader& header, std::span<const tir::Var* const> vars, Span span);

  // ---- T.name(...) as a statement (tir_constructs.cpp). `known` says whether the name is that of such a construct; if
  // it is not, nothing was read. `result` is what an assignment or `as` gives a name to.
  bool ParseConstruct(Value& result, bool& known);

  // Closes statements of build_, and reports an If without branches.
  void CloseTo(size_t depth);

  // ---- the function as a whole (tir_parser.cpp)
  bool ParseParam(TirSignature& signature);
  bool ParseReturnType(TirSignature& signature);

  PrimOps ops_;
  Arena scratch_;  // lists of values, until the function was read
  AttrMode attr_mode_ = AttrMode::kTir;
  TirSignature* signature_ = nullptr;
  const DictAttr* func_attrs_ = DictAttr::Empty();
  tir::StmtBuilder build_;                                            // the statements read so far
  std::vector<std::pair<const tir::Var*, const tir::Range*>> loops_;  // enclosing loops, outermost first
  std::vector<tir::IterVar*> env_threads_;
  std::string_view pending_name_;  // that the statement gives to what it makes
  uint32_t statement_vars_ = 0;    // variables from here on were made by the current statement
  bool meta_ = false;              // T.meta_var: the name stands for the expression itself
};

// Reads one scalar expression at the current token. Null after an error.
inline const PrimExpr* ParseScalarExpr(ParserCore::Shared shared) { return TirParser(shared, 64).ParseScalar(); }

}  // namespace iropt::text
