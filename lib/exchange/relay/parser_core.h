// The state that the parsers of the parts of a Relay text share: the tokens, the graph that they make, and errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "lexer.h"
#include "metadata.h"

namespace iropt::relay {

// The span of a node, whose length is limited.
inline Span NodeSpan(SourceSpan span) { return Span::Of(span.begin, span.end); }

class ParserCore {
 public:
  ParserCore(std::string_view text, uint32_t base, MetadataEntries entries, Workspace& workspace, Graph& graph,
             DiagnosticEngine& diagnostics)
      : lex(text, base, diagnostics),
        metadata(std::move(entries)),
        workspace(workspace),
        graph(graph),
        diagnostics(diagnostics) {}

  bool Is(TokenKind kind) const { return lex.token().kind == kind; }
  bool IsName(std::string_view name) const { return Is(TokenKind::kName) && lex.Text(lex.token()) == name; }
  // Skips a token of the kind, if it is the next one.
  bool Skip(TokenKind kind) { return Is(kind) ? (lex.Next(), true) : false; }
  // Skips a token of the kind; any other one is an error.
  bool Expect(TokenKind kind) { return Skip(kind) || Unexpected(TokenKindName(kind)); }
  // Skips a semicolon. One that is missing at the end of a line is an error, after which the text goes on.
  bool ExpectSemicolon();
  // Reports that something else stands where `expected` should. False.
  bool Unexpected(std::string_view expected);
  // Reads the name of a variable or a global function, and returns it without its sigil. A missing sigil is an error,
  // but the name is still returned; std::nullopt for any other token, which is an error as well.
  std::optional<std::string_view> ExpectName(TokenKind kind);
  bool Error(SourceSpan span, DiagId kind, std::string message);
  std::string_view Keep(std::string_view text) { return graph.arena.CopyString(text); }

  Lexer lex;
  std::vector<std::string_view> type_params;  // in scope
  const MetadataEntries metadata;
  Workspace& workspace;
  Graph& graph;
  DiagnosticEngine& diagnostics;
};

// A number with its suffix.
struct Literal {
  DataType dtype;
  bool is_integer = false;
  int64_t integer = 0;
  double real = 0;
};
std::optional<Literal> ParseNumber(std::string_view text, TokenKind kind);

// A reference meta[Key][index]; null after an error.
const MetadataEntry* ParseMetadataReference(ParserCore& core);
// A value of an attribute; nothing after an error.
std::optional<PyValue> ParseValue(ParserCore& core);
// Type parameters in brackets, if there are some. They are in scope until the caller removes them.
bool ParseTypeParams(ParserCore& core);
// A type. Each ? is a new symbolic variable. Null after an error in the syntax.
const Type* ParseType(ParserCore& core);

}  // namespace iropt::relay
