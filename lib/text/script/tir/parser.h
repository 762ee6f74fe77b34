// Reads PrimFuncs: statements, headers, bodies.
//
// Scripts build functions as a sequence of calls: `A = T.allocate(...)` opens a statement whose body is the rest of the
// enclosing block, T.reads(...) adds to the innermost block. The reader keeps the statements that are still open on a
// stack and closes them where their text ends.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/tir/builder.h"
#include "iropt/support/lookup.h"
#include "scalar_parser.h"
#include "targets.h"
#include "text/script/macro.h"

namespace iropt::text {

// A function header that was read: everything that callers of the function need to know.
struct TirSignature {
  std::string_view name;
  Span name_span;
  bool is_private = false;
  const DictAttr* attrs = DictAttr::Empty();  // those that the decorator says
  bool is_s_tir = false;                      // T.prim_func(s_tir=True)
  std::vector<const tir::Var*> params;
  std::vector<const tir::Buffer*> buffers;  // of the parameters; null if a parameter is not a buffer
  std::vector<tir::Var*> pointers;          // those of the parameters that are pointers without a type
  const Type* ret_type = nullptr;
  std::vector<const tir::Var*> symbols;  // symbolic variables that the signature introduces and that are not parameters
};

class TirParser : public ScalarParser {
 public:
  explicit TirParser(Shared shared) : ScalarParser(shared), targets_(shared, scratch_), build_(ws_) {
    own_pointer_ = [this](const tir::Buffer* buffer) { return OwnPointer(buffer); };
  }

  // ---- names (targets.cpp)
  enum class Naming : uint8_t {
    kAssignment,  // an expression is bound by a LetStmt
    kDirect,      // `with ... as`: there are variables and buffers only
    kLoop         // the variables of loops
  };
  // Binds the name to the value.
  bool AssignTo(const Target& target, const PyValue& value, Naming naming);
  const Node* NodeOf(const PyValue& value);
  // Defines a name whose definition failed, so that its uses are not errors, too.
  void Poison(const Target& target);

  // ---- statements (stmt.cpp)
  // Reads the suite after a colon.
  bool ParseSuite();
  // Reads the suite after a colon, with names of its own, as one statement. Null without a suite.
  const tir::Stmt* ParseBranch();
  void ParseStatements();
  bool ParseStatement();
  bool ParseSimpleStatement();
  bool ParseWhile();
  bool ParseIf();
  bool ParseWith();
  bool ParseAssert();
  bool ParseReturn();
  bool ParseJump();
  // The macro of that name, of the function or of the module. Null if there is none.
  const Macro* FindMacro(std::string_view name) const;
  bool ParseLocalMacro();
  bool ExpandMacro(const Macro& macro);
  bool ParseAssignment();
  bool ParseRightHandSide(const Target& target, PyValue& out);
  bool ParseAnnotated(const Target& target);
  // The type of a name: a variable of it, or the shape and dtype of a buffer; neither for T.let.
  struct Annotation {
    const tir::Var* var = nullptr;
    bool is_let = false;
    DataType dtype;
    const PyValue* shape = nullptr;
  };
  bool ParseAnnotation(Annotation& annotation, std::string_view name);
  bool BindLet(const Target& target, const PyValue& value);
  bool ParseScalar(const Target& target, const Annotation& annotation);
  // name = value for a scalar: a store. `known` says whether the name is that of one.
  bool StoreToScalar(std::string_view name, Span span, const PyValue& value, bool& known);
  bool ParseElementStatement(const tir::Buffer* buffer);
  bool ParseAugmented(const tir::Buffer* buffer, std::span<const text::Subscript> indices, uint32_t begin);
  bool ParseVectorStore(const tir::Buffer* buffer);
  bool AtAugmented() const;
  bool ParseNameUpdate(const Token& name, const PyValue& value);
  bool EmitStore(const tir::Stmt* store);
  bool EmitValue(const PyValue& value);
  void OpenLet(const tir::Var* var, const PrimExpr* value, Span span);
  // ---- buffers over the memory of others (views.cpp)
  void OpenDeclaration(const tir::Buffer* buffer, Span span);
  const tir::Var* OwnPointer(const tir::Buffer* buffer);
  const PrimExpr* LetValue(const PyValue& value, const tir::Var* var);
  bool EndOfStatement();

  // Closes statements of build_, and reports an If without branches.
  void CloseTo(size_t depth);

  // ---- T.name(...) as a statement (statements.cpp). `known` says whether the name is that of one; if it is not,
  // nothing was read. `result` is what an assignment or `as` gives a name to.
  bool ParseTirStatement(PyValue& result, bool& known);
  // A call of a name that T does not have (unknown_calls.cpp), if ParseOptions allow it.
  bool ParseUnknownCall(bool& known);

  TargetReader targets_;
  TirSignature* signature_ = nullptr;
  const DictAttr* func_attrs_ = DictAttr::Empty();
  // The variable of the last pragma, and the numbers of statements that were read and are open after it.
  struct Pragma {
    const tir::Var* var = nullptr;
    size_t stmts = 0;
    size_t depth = 0;
  };
  Pragma pragma_;
  tir::StmtStack build_;                                              // the statements read so far
  std::vector<std::pair<const tir::Var*, const tir::Range*>> loops_;  // enclosing loops, outermost first
  std::vector<tir::IterVar*> env_threads_;
  MacroBudget macros_;
  LookupMap<const Node*, Macro> local_macros_;  // by what their names stand for; expansions refer to them
  // Buffers on a pointer that has another name, too, until they get one of their own.
  LookupMap<const tir::Buffer*, const tir::DeclBuffer*> declarations_;
  std::vector<const tir::Buffer*> hinted_buffers_;  // see RecoverHints
  uint32_t statement_vars_ = 0;                     // variables from here on were made by the current statement
  bool meta_ = false;                               // T.meta_var: the name stands for the expression itself
};

// At `for`: the loops and their statements (loop.cpp). False after an error, as for ParseView.
bool ParseFor(TirParser& p);
// A.view(16) and other views of a buffer (views.cpp).
bool AtView(const TirParser& p);
bool ParseView(TirParser& p, PyValue& out);
// The buffer of T.Buffer(...) that a declaration of `buffer` declares, or null (views.cpp).
const tir::Buffer* TakeUndeclared(TirParser& p, const tir::Buffer* buffer);

// Whole functions.
class TirFunctionParser : public TirParser {
 public:
  using TirParser::TirParser;

  // Reads `@T.prim_func(private=True)`, and the line break after it.
  bool ParseDecorator(TirSignature& signature);
  // Reads `def name(params) -> type`; the parameters are defined in the current scope. False after an error from which
  // the body can't be read.
  bool ParseSignature(TirSignature& signature);
  // A function without a body, which stands in the module until the body was read.
  static PrimFunc* MakeHeader(const TirSignature& signature, Workspace& workspace);
  // Reads the colon and the indented body. Null after errors.
  const PrimFunc* ParseBody(TirSignature& signature);

 private:
  void EnterFlavour(const TirSignature& signature);
  bool ParseParams(TirSignature& signature);
  bool ParseParam(TirSignature& signature);
  const tir::Var* Introduce(std::string_view name, DataType dtype, Span span, TirSignature& signature);
  DataType TypeOfParam(std::string_view name) const;
  std::optional<DataType> TypeOfDeclaration(std::string_view name, uint32_t body) const;
  const PrimExpr* ParseQuoted(const PyValue& value, TirSignature& signature);
  bool IsQuoted(std::string_view name, Span span) const;
  bool ParseReturnType(TirSignature& signature);

  uint32_t params_begin_ = 0;  // of the signature
};

// Adds the statement that returns a value.
bool EmitReturn(TirParser& p, const PyValue& value, Span span);

}  // namespace iropt::text
