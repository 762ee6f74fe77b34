// The base of the readers of both levels: the token stream with error reporting, the state of the module that is being
// read, and the names in scope.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/text/script/host.h"
#include "iropt/text/script/lexer.h"
#include "symbol_table.h"

namespace iropt::text {

// The meaning of a name before a dot.
enum class Prefix : uint8_t { kNone, kIr, kTir, kRelax };

// A function that is expanded at every call: @T.macro, which makes statements, or @R.macro, which makes an expression
// (TVM 0.26 also calls the former @T.inline).
struct Macro {
  std::string_view name;
  Span name_span;
  Prefix level = Prefix::kNone;
  std::vector<std::string_view> params;
  // Names in the body are resolved in the scope of the macro, at the time of the call; else in the scope of the call.
  bool hygienic = true;
  // Of a macro in a function: the number of scopes around its definition.
  std::optional<size_t> depth;
  uint32_t body_begin = 0;  // at the colon
  uint32_t body_end = 0;
  uint32_t num_constants = 0;  // the definitions of constants before it
};

// What names stand for: T, R and I, and those that imports add. The first meaning of a name counts.
class PrefixTable {
 public:
  using Entry = std::pair<std::string_view, Prefix>;

  PrefixTable() {
    Add("T", Prefix::kTir);
    Add("R", Prefix::kRelax);
    Add("I", Prefix::kIr);
  }
  void Add(std::string_view name, Prefix prefix) {
    if (Of(name) != Prefix::kNone) return;
    entries_.emplace_back(name, prefix);
    if (name.size() == 1) letters_[static_cast<unsigned char>(name[0])] = prefix;
  }
  Prefix Of(std::string_view name) const {
    // Most are one character, and most names are not.
    if (name.size() == 1) return letters_[static_cast<unsigned char>(name[0])];
    const auto it = std::ranges::find(entries_, name, &Entry::first);
    return it == entries_.end() ? Prefix::kNone : it->second;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::array<Prefix, 256> letters_{};
};

// The shared state of the functions of one module. Filled by the module reader before any body is read, and not changed
// while bodies are read (possibly in parallel).
struct ReaderState {
  PrefixTable prefixes;
  std::string_view module_name = "Module";
  // The prefix that stands for T.tile: `from tvm.script.tirx import tile as Tx`.
  std::string_view tile_prefix;
  // Names of TypeVar("n"): in the signature of a function that uses one, a symbolic variable of type int64.
  std::vector<std::string_view> type_vars;
  // Names that stand for values in all functions (constants.h).
  ConstantMap constants;
  // The text imports tirx, as that of TVM 0.24 and newer does.
  bool is_tirx = false;
  // The text imports TypeVar, as that of TVM 0.27 does.
  bool imports_type_vars = false;
  // The text imports Axis, as that which TVM 0.25 and newer prints does.
  bool imports_axis = false;
  // Imports are comments, as in what TVM prints.
  bool is_printed = false;
  // x: T.int32 = 0 is a scalar that can be assigned again, as in TVM 0.25 and newer.
  bool has_scalars = false;
  // The functions of the text may have buffers with layouts, as those of TVM 0.25 and newer.
  bool has_layouts = false;
  // The PrimFuncs of the module are of s_tir unless they say otherwise: @I.ir_module(s_tir=True).
  bool is_s_tir = false;
  // The text imports tir, as that of TVM 0.23 and older does.
  bool is_tir = false;
  // See ParseOptions.
  bool allows_unknown_calls = false;
  // Names of the module's functions, with the types that calls need; see Module::TypeOf.
  Module* module = nullptr;
  // The program around the script; null if it has none.
  ScriptHost* host = nullptr;
  // metadata["relax.expr.Constant"][i] and other kinds, by type key.
  std::map<std::string, std::vector<const Node*>, std::less<>> metadata;

  // By name.
  std::map<std::string_view, Macro> macros;
  const Macro* FindMacro(std::string_view name, Prefix level) const {
    const auto it = macros.find(name);
    return it == macros.end() || it->second.level != level ? nullptr : &it->second;
  }

  // A marker for the name of a module in the symbol table, because a module is not an expression.
  const Node* module_alias() const { return &module_marker; }
  NoneAttr module_marker;

  // Returns whether the node of a name stands for a number, a text or a list (ValueSymbol in value_reader.h).
  bool IsValueSymbol(const Node* node) const {
    return node && node->kind == NodeKind::kNoneAttr && node != module_alias();
  }

  // Null if the metadata section has no such entry.
  const Node* Metadata(std::string_view key, int64_t index) const {
    const auto it = metadata.find(key);
    if (it == metadata.end() || index < 0 || index >= static_cast<int64_t>(it->second.size())) return nullptr;
    return it->second[static_cast<size_t>(index)];
  }
};

// Of the words that Python reserves, those that are not values.
bool IsPythonKeyword(std::string_view word);

// Base of the readers. All of them that take part in one function share one lexer, workspace and symbol table. Its
// members are public for the functions in the tables of names, which are parts of the readers.
class ParserCore {
 public:
  struct Shared {
    Lexer& lexer;
    ReaderState& state;
    Workspace& workspace;
    SymbolTable& symbols;
    DiagnosticEngine& diagnostics;
  };

  explicit ParserCore(Shared shared)
      : shared_(shared),
        lex_(shared.lexer),
        state_(shared.state),
        ws_(shared.workspace),
        symbols_(shared.symbols),
        diag_(shared.diagnostics) {}

  bool At(TokenKind kind) const { return lex_.kind() == kind; }
  bool Accept(TokenKind kind) {
    if (!At(kind)) return false;
    lex_.Next();
    return true;
  }
  // Reports "expected X in <where>, found Y" and returns false if the next token is another one.
  bool Expect(TokenKind kind, std::string_view where) { return Accept(kind) || Missing(kind, where); }
  // Expects the ')' after the last argument of a call; as in Python, a comma may stand before it.
  bool ExpectClose(std::string_view where) {
    Accept(TokenKind::kComma);
    return Expect(TokenKind::kRParen, where);
  }
  bool AtNumber() const { return At(TokenKind::kInt) || At(TokenKind::kFloat); }
  bool AtName(std::string_view word) const { return At(TokenKind::kName) && lex_.text() == word; }
  bool AcceptName(std::string_view word) {
    if (!AtName(word)) return false;
    lex_.Next();
    return true;
  }
  // `word = ` ahead: a keyword argument.
  bool AtKeyword() const;
  // Reads `word =`. The first overload accepts any word, and returns "" if there is none.
  std::string_view AcceptKeyword() {
    const std::string_view word = AtKeyword() ? lex_.text(lex_.Next()) : std::string_view();
    if (!word.empty()) lex_.Next();
    return word;
  }
  bool AcceptKeyword(std::string_view word) { return AtName(word) && !AcceptKeyword().empty(); }

  // The prefix at the current token: a name that stands for I, T or R, followed by a dot, and not hidden by a variable.
  Prefix AtPrefix() const;
  // After a prefix: reads ".a.b" and returns "a.b". Empty after an error.
  std::string_view DottedName();

  // Errors. They return nullptr or false through the converting result, so that a caller can `return Error(...)`.
  struct Failed {
    operator bool() const { return false; }  // NOLINT(google-explicit-constructor)
    template <class T>
    operator T*() const {  // NOLINT(google-explicit-constructor)
      return nullptr;
    }
  };
  Failed Error(Span span, DiagId kind, std::string message) {
    diag_.Error(Location(span), kind, std::move(message));
    return {};
  }
  Failed ErrorHere(DiagId kind, std::string message) {
    return Error(lex_.SpanOf(lex_.peek()), kind, std::move(message));
  }
  // The current token in messages.
  std::string Found() const;
  // "expected X in <where>, found Y" at the current token.
  Failed Missing(TokenKind kind, std::string_view where);
  // The ')' of a call that began at `begin` is missing at the current token.
  Failed UnclosedCall(uint32_t begin);
  // "expected X, found Y" at the current token.
  Failed Unexpected(std::string_view expected);
  // "unknown name 'x'", with the nearest name in scope.
  Failed UnknownName(const Token& name);
  // "the module has no function 'f'"; the module reader adds the nearest name.
  Failed UnknownFunction(const Token& name);
  // "unknown T.xyz", with the nearest of the candidates.
  Failed UnknownMember(std::string_view prefix, std::string_view member, Span span,
                       std::span<const std::string_view> candidates);

  // The text at a span of the lexer; empty for an unknown one.
  std::string_view TextOf(Span span) const {
    return span.known() ? lex_.buffer().substr(span.begin - lex_.base(), span.end() - span.begin) : std::string_view();
  }
  // Takes note of an operator or the like, if that is asked for.
  void Record(OccurrenceKind kind, std::string_view name) const {
    if (OccurrenceRecorder* recorder = symbols_.recorder()) recorder->Note(kind, name);
  }
  Span SpanHere() const { return lex_.SpanOf(lex_.peek()); }

  // Reads one string token or several adjacent ones; the text lives in the token or in the context.
  std::string_view ParseStringLiteral();
  // Reads an optionally negative integer literal. False after an error.
  bool ParseInteger(int64_t& value);
  // The value of an integer token: decimal, hexadecimal, octal, binary. False, with an error, if it exceeds 64 bits.
  bool IntegerValue(const Token& token, int64_t& value);
  double FloatValue(const Token& token) const;
  // Reads "float32" or T.float32-like names as a type. nullopt after an error.
  std::optional<DataType> ParseDataTypeString();

  const Shared shared_;
  Lexer& lex_;
  ReaderState& state_;
  Workspace& ws_;
  SymbolTable& symbols_;
  DiagnosticEngine& diag_;
};

}  // namespace iropt::text
