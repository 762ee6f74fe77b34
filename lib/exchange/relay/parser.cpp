#include "parser.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "constants.h"
#include "graph_builder.h"
#include "infix.h"
#include "iropt/support/stack.h"
#include "names.h"
#include "ops/op_table.h"
#include "parser_core.h"

namespace iropt::relay {

namespace {

// Sequence of expressions with names: a function body, a branch, parentheses around a let.
struct BlockState {
  std::vector<NodeId> let_vars;
  std::vector<NodeId> values;
};

// v0.0.4, with which TVM 0.6 begins texts.
bool SkipOldVersion(ParserCore& core) {
  if (!core.IsName("v0")) return false;
  core.lex.Next();
  return core.Skip(TokenKind::kDot) && core.Skip(TokenKind::kFloat);
}

void SkipToDefinition(ParserCore& core) {
  while (!core.Is(TokenKind::kEnd) && !core.IsName("def")) core.lex.Next();
}

// Up to the token outside of brackets, or the end of the block around it.
void SkipTo(ParserCore& core, TokenKind stop) {
  for (size_t depth = 0; !core.Is(TokenKind::kEnd); core.lex.Next()) {
    const TokenKind kind = core.lex.token().kind;
    if (depth == 0 && (kind == stop || kind == TokenKind::kRBrace)) return;
    if (kind == TokenKind::kLParen || kind == TokenKind::kLBrace || kind == TokenKind::kLBracket) ++depth;
    if (kind == TokenKind::kRParen || kind == TokenKind::kRBrace || kind == TokenKind::kRBracket)
      depth -= depth > 0 ? 1 : 0;
  }
}

// At an argument that is a variable, which most are.
bool IsVariableAlone(ParserCore& core) {
  if (!core.Is(TokenKind::kLocal) && !core.Is(TokenKind::kGraph)) return false;
  const TokenKind next = core.lex.PeekKind();
  return next == TokenKind::kComma || next == TokenKind::kRParen;
}

NodeId NoCounterpart(ParserCore& core, Token token, std::string_view what) {
  core.Error(core.lex.SpanOf(token), "no-counterpart", fmt::format("Relax has no counterpart for {}", what));
  return kNoNode;
}

class Parser {
 public:
  explicit Parser(ParserCore& core)
      : core_(core), lex_(core.lex), graph_(core.graph), nodes_(core.graph), names_(core) {}

  void Run() {
    while (!lex_is(TokenKind::kEnd)) {
      if (core_.Skip(TokenKind::kHash) || SkipOldVersion(core_)) continue;
      if (!ParseDefinition() && !core_.diagnostics.error_limit_reached()) SkipToDefinition(core_);
      if (core_.diagnostics.error_limit_reached()) return;
    }
  }

 private:
  bool lex_is(TokenKind kind) const { return core_.Is(kind); }

  // ---- Nodes

  // The text goes on after a name that was reported.
  NodeId OrError(NodeId id, Token token) { return id == kNoNode ? nodes_.AddError(lex_.SpanOf(token)) : id; }

  NodeId AddVar(std::string_view name, SourceSpan span, const Type* type) {
    name = core_.Keep(name);
    graph_.vars.push_back({Names::InScript(name, graph_.arena), span, type, kNoNode});
    const NodeId var = nodes_.Add(GraphKind::kVar, static_cast<uint32_t>(graph_.vars.size() - 1), span, {});
    names_.vars().Define(name, var);
    return var;
  }

  NodeId AddGlobal(Token token) {
    return nodes_.Add(GraphKind::kGlobal, names_.IndexOfGlobal(lex_.Text(token).substr(1)), lex_.SpanOf(token), {});
  }

  // ---- Definitions

  bool ParseDefinition() {
    if (core_.IsName("def")) return ParseFunctionDefinition();
    if (core_.IsName("type") || core_.IsName("extern")) {
      const Token token = lex_.Next();
      core_.Error(lex_.SpanOf(token), "no-counterpart", "Relax has no counterpart for data types");
      return false;
    }
    if (core_.IsName("import")) {
      const Token token = lex_.Next();
      return core_.Error(lex_.SpanOf(token), "no-counterpart", "modules of Relay's library cannot be imported");
    }
    return ParseExpressionAsMain();
  }

  // A text that is one expression with free variables is the function main of them; if it is a function, it is main.
  bool ParseExpressionAsMain() {
    const VarScopes::Mark mark = names_.vars().Enter();
    std::vector<NodeId> params;
    const uint32_t begin = lex_.token().begin;
    const auto first_node = static_cast<NodeId>(graph_.nodes.size());
    while (core_.IsName("free_var")) {
      lex_.Next();
      const std::optional<NodeId> param = ParseParam();
      if (!param || !core_.Expect(TokenKind::kSemicolon)) return false;
      params.push_back(*param);
    }
    GraphFunction function;
    function.name = "main";
    function.name_span = lex_.SpanOf(lex_.token());
    function.first_node = first_node;
    function.params = List<NodeId>(graph_.arena.Copy(params));
    function.body = ParseBlock(TokenKind::kEnd);
    names_.vars().Leave(mark);
    // One of another function of the text, by its number, is not.
    const bool is_own = function.body != kNoNode && function.body >= first_node;
    if (params.empty() && is_own && graph_[function.body].kind == GraphKind::kFunction) {
      const uint32_t index = graph_[function.body].index;
      graph_.functions[index].name = function.name;
      graph_.functions[index].first_node = first_node;
      graph_.definitions.push_back(index);
    } else {
      nodes_.AddFunction(function, lex_.SpanFrom(begin), true);
    }
    return true;
  }

  bool ParseFunctionDefinition() {
    const uint32_t begin = lex_.Next().begin;
    const Token name = lex_.token();
    const std::optional<std::string_view> text = core_.ExpectName(TokenKind::kGlobal);
    if (!text) return false;
    GraphFunction function;
    function.name = Names::InScript(core_.Keep(*text), graph_.arena);
    function.name_span = lex_.SpanOf(name);
    function.first_node = static_cast<NodeId>(graph_.nodes.size());
    if (core_.Skip(TokenKind::kAssign)) return ParseDeclaration(function, begin);
    return ParseFunctionRest(function) && (nodes_.AddFunction(function, lex_.SpanFrom(begin), true), true);
  }

  // def @f = meta[ExternalFunc][0]
  bool ParseDeclaration(GraphFunction& function, uint32_t begin) {
    if (!core_.IsName("meta")) return core_.Unexpected("'meta'");
    const MetadataEntry* entry = ParseMetadataReference(core_);
    if (!entry) return false;
    function.extern_symbol = entry->value.is(PyValue::Kind::kString) ? entry->value.string() : function.name;
    nodes_.AddFunction(function, lex_.SpanFrom(begin), true);
    return true;
  }

  // Type parameters, parameters, result type and body.
  bool ParseFunctionRest(GraphFunction& function) {
    const VarScopes::Mark mark = names_.vars().Enter();
    const size_t outer = core_.type_params.size();
    function.is_generic = lex_is(TokenKind::kLBracket);
    const bool ok = ParseTypeParams(core_) && ParseParams(function) && ParseResult(function) && ParseBody(function);
    names_.vars().Leave(mark);
    core_.type_params.resize(outer);
    return ok;
  }

  bool ParseParams(GraphFunction& function) {
    if (!core_.Expect(TokenKind::kLParen)) return false;
    std::vector<NodeId> params;
    std::vector<Attribute> attributes;
    while (!lex_is(TokenKind::kRParen)) {
      if (lex_is(TokenKind::kName) && lex_.PeekKind() == TokenKind::kAssign) {
        if (!ParseAttribute(attributes)) return false;
      } else {
        const std::optional<NodeId> param = ParseParam();
        if (!param) return false;
        params.push_back(*param);
      }
      if (!core_.Skip(TokenKind::kComma)) break;
    }
    function.params = List<NodeId>(graph_.arena.Copy(params));
    function.attributes = List<Attribute>(graph_.arena.Copy(attributes));
    return core_.Expect(TokenKind::kRParen);
  }

  std::optional<NodeId> ParseParam() {
    const Token token = lex_.token();
    const std::optional<std::string_view> name = core_.ExpectName(TokenKind::kLocal);
    if (!name) return std::nullopt;
    const Type* type = nullptr;
    const size_t errors = core_.diagnostics.error_count();
    if (core_.Skip(TokenKind::kColon) && !(type = ParseType(core_))) return std::nullopt;
    const NodeId var = AddVar(*name, lex_.SpanOf(token), type);
    // Nothing more is said of values whose type was reported.
    if (core_.diagnostics.error_count() != errors)
      names_.vars().Define(core_.Keep(*name), nodes_.AddError(lex_.SpanOf(token)));
    return var;
  }

  bool ParseResult(GraphFunction& function) {
    if (!core_.Skip(TokenKind::kArrow)) return true;
    const uint32_t begin = lex_.token().begin;
    function.result = ParseType(core_);
    function.result_span = lex_.SpanFrom(begin);
    return function.result != nullptr;
  }

  bool ParseBody(GraphFunction& function) {
    if (!core_.Expect(TokenKind::kLBrace)) return false;
    function.body = ParseBlock(TokenKind::kRBrace);
    return core_.Expect(TokenKind::kRBrace);
  }

  // ---- Blocks

  // Graph bindings and lets, then an expression; up to the closing token, which stays.
  NodeId ParseBlock(TokenKind close) {
    return WithStack([&] { return ParseBlockRest(close); });
  }

  NodeId ParseBlockRest(TokenKind close) {
    const VarScopes::Mark mark = names_.vars().Enter();
    const uint32_t begin = lex_.token().begin;
    BlockState block;
    NodeId body = kNoNode;
    while (body == kNoNode) {
      if (core_.IsName("let")) {
        lex_.Next();
        if (!ParseLet(block)) Recover();
      } else if (lex_is(TokenKind::kLocal) && lex_.PeekKind() == TokenKind::kAssign) {
        const Token name = lex_.token();
        core_.Error(lex_.SpanOf(name), "syntax", fmt::format("expected 'let' before '{}'", lex_.Text(name)));
        if (!ParseLet(block)) Recover();
      } else if (lex_is(TokenKind::kGraph) && lex_.PeekKind() == TokenKind::kAssign) {
        if (!ParseGraphBinding()) Recover();
      } else {
        body = ParseResultOfBlock(close);
      }
    }
    names_.vars().Leave(mark);
    if (block.values.empty()) return body;
    block.values.push_back(body);
    return nodes_.AddLets(block.let_vars, block.values, lex_.SpanFrom(begin));
  }

  NodeId ParseResultOfBlock(TokenKind close) {
    if (lex_is(close) || lex_is(TokenKind::kEnd)) {
      core_.Unexpected("an expression");
      return nodes_.AddError(lex_.SpanOf(lex_.token()));
    }
    const uint32_t begin = lex_.token().begin;
    NodeId body = ParseExpr();
    if (close != TokenKind::kSemicolon) core_.Skip(TokenKind::kSemicolon);
    if (body != kNoNode && (lex_is(close) || lex_is(TokenKind::kEnd))) return body;
    if (body != kNoNode) core_.Unexpected(TokenKindName(close));
    body = nodes_.AddError(lex_.SpanFrom(begin));
    SkipTo(core_, close);
    return body;
  }

  // After an error in a statement: goes on after the next semicolon of the block.
  void Recover() {
    SkipTo(core_, TokenKind::kSemicolon);
    core_.Skip(TokenKind::kSemicolon);
  }

  bool ParseGraphBinding() {
    const Token name = lex_.Next();
    lex_.Next();
    const uint32_t begin = lex_.token().begin;
    NodeId value = ParseExpr();
    const bool ok = value != kNoNode;
    if (!ok) value = nodes_.AddError(lex_.SpanFrom(begin));
    names_.DefineGraphVar(name, value);
    return ok && core_.ExpectSemicolon();
  }

  // Behind the 'let'. The variable is in scope in its value if that is a function.
  bool ParseLet(BlockState& block) {
    const Token name = lex_.token();
    const std::optional<std::string_view> text = core_.ExpectName(TokenKind::kLocal);
    if (!text) return false;
    const Type* type = nullptr;
    if (core_.Skip(TokenKind::kColon) && !(type = ParseType(core_))) return false;
    if (!core_.Expect(TokenKind::kAssign)) return false;
    const bool recursive = core_.IsName("fn");
    std::optional<NodeId> var;
    if (recursive) var = AddVar(*text, lex_.SpanOf(name), type);
    const uint32_t begin = lex_.token().begin;
    NodeId value = core_.IsName("let") ? ParseBlockInLet() : ParseExpr();
    const bool ok = value != kNoNode;
    if (!ok) value = nodes_.AddError(lex_.SpanFrom(begin));
    if (!var) var = AddVar(*text, lex_.SpanOf(name), type);
    graph_.vars[graph_[*var].index].value = value;
    block.let_vars.push_back(*var);
    block.values.push_back(value);
    return ok && core_.ExpectSemicolon();
  }

  // TVM prints a let as the value of a let without parentheses.
  NodeId ParseBlockInLet() { return ParseBlock(TokenKind::kSemicolon); }

  // ---- Expressions. kNoNode after an error.

  NodeId ParseExpr() {
    return WithStack([this] { return ParseInfix(0); });
  }

  NodeId ParseInfix(int least) {
    const uint32_t begin = lex_.token().begin;
    NodeId left = ParsePostfix();
    while (left != kNoNode) {
      const InfixOperator* op = FindInfix(lex_.token().kind);
      if (op == nullptr || op->precedence <= least) return left;
      lex_.Next();
      const NodeId right = WithStack([&] { return ParseInfix(op->precedence); });
      if (right == kNoNode) return kNoNode;
      left = nodes_.AddSign(op->name, {{left, right}}, lex_.SpanFrom(begin));
    }
    return left;
  }

  NodeId ParsePostfix() {
    const uint32_t begin = lex_.token().begin;
    NodeId value = ParsePrimary();
    while (value != kNoNode) {
      if (core_.Skip(TokenKind::kDot)) {
        const Token index = lex_.token();
        if (!core_.Expect(TokenKind::kInt)) return kNoNode;
        const auto number = ParseNumber(lex_.Text(index), TokenKind::kInt);
        if (!number || number->integer < 0 || number->integer > INT32_MAX) {
          core_.Error(lex_.SpanOf(index), "bad-number", "the index of a field is out of range");
          return kNoNode;
        }
        value = nodes_.Add(GraphKind::kItem, static_cast<uint32_t>(number->integer), lex_.SpanFrom(begin), {{value}});
      } else if (lex_is(TokenKind::kLParen)) {
        std::vector<NodeId> operands{value};
        std::vector<Attribute> attributes;
        if (!ParseArguments(operands, attributes)) return kNoNode;
        value = nodes_.Add(GraphKind::kCall, 0, lex_.SpanFrom(begin), operands);
      } else {
        return value;
      }
    }
    return kNoNode;
  }

  NodeId ParsePrimary() {
    const Token token = lex_.token();
    switch (token.kind) {
      case TokenKind::kLocal: lex_.Next(); return OrError(names_.FindVar(token), token);
      case TokenKind::kGraph: lex_.Next(); return OrError(names_.FindGraphVar(token), token);
      case TokenKind::kGlobal: lex_.Next(); return AddGlobal(token);
      case TokenKind::kInt:
      case TokenKind::kFloat: return ParseConstant();
      case TokenKind::kLParen: return ParseParentheses();
      case TokenKind::kLBrace: {
        lex_.Next();
        const NodeId block = ParseBlock(TokenKind::kRBrace);
        return core_.Expect(TokenKind::kRBrace) ? block : kNoNode;
      }
      case TokenKind::kMinus: {
        lex_.Next();
        const NodeId operand = WithStack([this] { return ParsePostfix(); });
        if (operand == kNoNode) return kNoNode;
        return nodes_.AddSign("negative", {{operand}}, lex_.SpanFrom(token.begin));
      }
      case TokenKind::kName: return ParseNamed();
      default: core_.Unexpected("an expression"); return kNoNode;
    }
  }

  NodeId ParseNamed() {
    const Token token = lex_.token();
    const std::string_view name = lex_.Text(token);
    if (const Operator* op = FindOperator(name)) return ParseOperatorCall(op);
    if (name == "True" || name == "False") {
      lex_.Next();
      return nodes_.AddConstant(MakeScalar(DataType::Bool(), static_cast<int64_t>(name == "True"), core_.workspace),
                                lex_.SpanOf(token));
    }
    if (name == "if") return ParseIf();
    if (name == "fn") return ParseLocalFunction();
    if (name == "let") return ParseBlock(TokenKind::kSemicolon);
    if (name == "meta") return ParseMetaConstant();
    if (name == "match") return NoCounterpart(core_, token, "match");
    if (name == "ref" || name == "ref_read" || name == "ref_write") return NoCounterpart(core_, token, "references");
    return ParseOperatorCall(nullptr);
  }

  NodeId ParseConstant() {
    const Token token = lex_.Next();
    const auto number = ParseNumber(lex_.Text(token), token.kind);
    if (!number) {
      core_.Error(lex_.SpanOf(token), "bad-number", fmt::format("'{}' is not a number", lex_.Text(token)));
      return kNoNode;
    }
    const Expr* constant = number->is_integer ? MakeScalar(number->dtype, number->integer, core_.workspace)
                                              : MakeScalar(number->dtype, number->real, core_.workspace);
    return nodes_.AddConstant(constant, lex_.SpanOf(token));
  }

  NodeId ParseMetaConstant() {
    const uint32_t begin = lex_.token().begin;
    const MetadataEntry* entry = ParseMetadataReference(core_);
    if (!entry) return kNoNode;
    if (!entry->value.is(PyValue::Kind::kExpr)) {
      core_.Error(lex_.SpanFrom(begin), "bad-expression", "the entry of the metadata section is not a constant");
      return kNoNode;
    }
    return nodes_.AddConstant(entry->value.expr, lex_.SpanFrom(begin));
  }

  NodeId ParseParentheses() {
    const uint32_t begin = lex_.Next().begin;
    if (core_.IsName("let") || (lex_is(TokenKind::kGraph) && lex_.PeekKind() == TokenKind::kAssign)) {
      const NodeId block = ParseBlock(TokenKind::kRParen);
      return core_.Expect(TokenKind::kRParen) ? block : kNoNode;
    }
    std::vector<NodeId> fields;
    bool is_tuple = lex_is(TokenKind::kRParen);
    while (!lex_is(TokenKind::kRParen)) {
      const NodeId field = ParseExpr();
      if (field == kNoNode) return kNoNode;
      fields.push_back(field);
      if (!core_.Skip(TokenKind::kComma)) break;
      is_tuple = true;
    }
    if (!core_.Expect(TokenKind::kRParen)) return kNoNode;
    return is_tuple ? nodes_.Add(GraphKind::kTuple, 0, lex_.SpanFrom(begin), fields) : fields.front();
  }

  NodeId ParseIf() {
    const uint32_t begin = lex_.Next().begin;
    if (!core_.Expect(TokenKind::kLParen)) return kNoNode;
    const NodeId condition = ParseExpr();
    if (condition == kNoNode || !core_.Expect(TokenKind::kRParen) || !core_.Expect(TokenKind::kLBrace)) return kNoNode;
    const NodeId then = ParseBlock(TokenKind::kRBrace);
    if (!core_.Expect(TokenKind::kRBrace)) return kNoNode;
    if (!core_.IsName("else")) return core_.Unexpected("'else'"), kNoNode;
    lex_.Next();
    NodeId otherwise = kNoNode;
    if (core_.IsName("if")) {
      otherwise = WithStack([this] { return ParseIf(); });
    } else {
      if (!core_.Expect(TokenKind::kLBrace)) return kNoNode;
      otherwise = ParseBlock(TokenKind::kRBrace);
      if (!core_.Expect(TokenKind::kRBrace)) return kNoNode;
    }
    if (otherwise == kNoNode) return kNoNode;
    return nodes_.Add(GraphKind::kIf, 0, lex_.SpanFrom(begin), {{condition, then, otherwise}});
  }

  NodeId ParseLocalFunction() {
    const uint32_t begin = lex_.Next().begin;
    GraphFunction function;
    function.name_span = lex_.SpanFrom(begin);
    return ParseFunctionRest(function) ? nodes_.AddFunction(function, lex_.SpanFrom(begin), false) : kNoNode;
  }

  // With null, the name is that of no operator.
  NodeId ParseOperatorCall(const Operator* op) {
    const Token token = lex_.Next();
    if (op == nullptr) {
      names_.ReportUnknownOperator(token);
      if (!lex_is(TokenKind::kLParen)) return kNoNode;
    }
    std::vector<NodeId> args;
    args.reserve(4);
    std::vector<Attribute> attributes;
    if (!ParseArguments(args, attributes)) return kNoNode;
    if (op == nullptr) return nodes_.AddError(lex_.SpanFrom(token.begin));
    return nodes_.AddOperator(op, args, attributes, lex_.SpanFrom(token.begin));
  }

  // Expressions, then attributes: name=value, or the record of all of them in the metadata section.
  bool ParseArguments(std::vector<NodeId>& args, std::vector<Attribute>& attributes) {
    if (!core_.Expect(TokenKind::kLParen)) return false;
    while (!lex_is(TokenKind::kRParen)) {
      if (lex_is(TokenKind::kName) && lex_.PeekKind() == TokenKind::kAssign) {
        if (!ParseAttribute(attributes)) return false;
      } else if (core_.IsName("meta")) {
        if (!ParseMetaArgument(args, attributes)) return false;
      } else {
        const NodeId arg = IsVariableAlone(core_) ? ParsePrimary() : ParseExpr();
        if (arg == kNoNode) return false;
        args.push_back(arg);
      }
      if (!core_.Skip(TokenKind::kComma)) break;
    }
    return core_.Expect(TokenKind::kRParen);
  }

  bool ParseAttribute(std::vector<Attribute>& attributes) {
    const Token name = lex_.token();
    if (!core_.Expect(TokenKind::kName) || !core_.Expect(TokenKind::kAssign)) return false;
    const std::optional<PyValue> value = ParseValue(core_);
    if (!value) return false;
    attributes.push_back({core_.Keep(lex_.Text(name)), lex_.SpanOf(name), *value});
    return true;
  }

  bool ParseMetaArgument(std::vector<NodeId>& args, std::vector<Attribute>& attributes) {
    const uint32_t begin = lex_.token().begin;
    const MetadataEntry* entry = ParseMetadataReference(core_);
    if (!entry) return false;
    const SourceSpan span = lex_.SpanFrom(begin);
    if (entry->value.is(PyValue::Kind::kExpr)) {
      args.push_back(nodes_.AddConstant(entry->value.expr, span));
    } else {
      for (const PyKeyword& field : entry->fields) attributes.push_back({field.name, span, field.value});
    }
    return true;
  }

  ParserCore& core_;
  Lexer& lex_;
  Graph& graph_;
  GraphBuilder nodes_;
  Names names_;
};

}  // namespace

Graph ParseText(std::string_view text, uint32_t base, Workspace& workspace, DiagnosticEngine& diagnostics) {
  Graph graph;
  const size_t end = FindMetadata(text);
  MetadataEntries entries;
  if (end != text.size()) {
    const std::string_view section = text.substr(end);
    Result<MetadataEntries> loaded = LoadMetadata(section, workspace);
    if (loaded.ok()) {
      entries = *std::move(loaded);
    } else {
      const auto begin = base + static_cast<uint32_t>(end);
      const auto header = static_cast<uint32_t>(MetadataHeaderSize(section));
      diagnostics.Error({begin, begin + header}, "bad-metadata",
                        fmt::format("the metadata section cannot be read: {}", loaded.error().message));
    }
  }
  // Short operators take about this many bytes; memory that is not needed is not touched.
  constexpr size_t kBytesPerNode = 20;
  graph.nodes.reserve(end / kBytesPerNode);
  ParserCore core(text.substr(0, end), base, std::move(entries), workspace, graph, diagnostics);
  Parser(core).Run();
  return graph;
}

}  // namespace iropt::relay
