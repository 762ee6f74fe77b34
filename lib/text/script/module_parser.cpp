// Reading a module: header, module-level statements, and the functions. The headers of all functions are read first, so
// that bodies can refer to any of them; then the bodies are read (read_bodies.h).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>

#include "attr_text.h"
#include "constants.h"
#include "iropt/support/hash.h"
#include "iropt/text/script/parser.h"
#include "metadata.h"
#include "pending_function.h"
#include "read_bodies.h"
#include "text/script/relax/tir_vars.h"
#include "text_scan.h"
#include "type_vars.h"
#include "utf8.h"
#include "version_detection.h"

namespace iropt::text {
namespace {

class ModuleParser : public ParserCore {
 public:
  ModuleParser(Shared shared, const ParseOptions& options) : ParserCore(shared), options_(options) {}

  bool Run() {
    bool ok = ReadTop();
    // Bodies are read even if a header was wrong, to report their errors, too.
    return ReadBodies(shared_, options_, pending_) && ok;
  }
  bool class_seen() const { return class_seen_; }
  // Gives functions outside of a module the names that their global symbols are, as TVM does.
  bool NameBySymbols();

 private:
  bool ReadTop();
  bool ReadImport();
  bool ReadMetadata();
  bool ReadClass();
  bool ReadMember();
  bool ReadModuleStatement();
  bool ReadExternFunc(const Token& name);
  bool ReadFunction();
  bool AtMacro() const;
  bool ReadMacro(uint32_t column);
  bool Declare(std::unique_ptr<PendingFunction> pending);
  uint32_t BodyEnd(uint32_t begin, uint32_t column) const {
    return BlockEnd(lex_.buffer().substr(0, lex_.end_offset()), begin, column);
  }
  void DefineMentioned(SymbolTable& symbols, uint32_t begin, uint32_t column) const;
  bool Skip() {
    lex_.SkipLine();
    return false;
  }

  const ParseOptions& options_;
  std::vector<std::unique_ptr<PendingFunction>> pending_;
  std::optional<TextVersion> metadata_version_;
  bool class_seen_ = false;
};

// Finds out whether the text imports tirx, as that of TVM 0.24 and newer does, whether its functions may have buffers
// with layouts, as those of TVM 0.25 and newer, and whether it declares symbolic variables, as that of 0.27. TVM prints
// its imports as comments, after the metadata section; since 0.25 one of axes is among them.
void ReadVersion(std::string_view text, ReaderState& state) {
  constexpr std::string_view kPrinted = "# from tvm.script import ";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.find("from tvm.script import tirx") != std::string_view::npos) {
      state.is_tirx = true;
      state.has_layouts |= !line.starts_with('#');
      state.is_printed |= line.starts_with(kPrinted);
    }
    if (line.find("from tvm.script import tir as ") != std::string_view::npos) {
      state.is_tir = true;
      state.is_printed |= line.starts_with(kPrinted);
    }
    state.imports_axis |= line.find("from tvm.tirx.layout import Axis") != std::string_view::npos;
    state.imports_type_vars |= line.find("from typing import TypeVar") != std::string_view::npos;
    if (line.starts_with('@') || line.starts_with("class ")) break;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  state.has_layouts |= state.imports_axis;
}

bool ModuleParser::ReadTop() {
  bool ok = true;
  ReadVersion(lex_.buffer(), state_);
  const size_t errors = diag_.error_count();
  std::string_view functions = lex_.buffer();
  while (!At(TokenKind::kEnd)) {
    // A block ends here whose beginning could not be read.
    if (At(TokenKind::kNewline) || At(TokenKind::kDedent) || (options_.may_be_indented && At(TokenKind::kIndent))) {
      lex_.Next();
    } else if (AtName("from") || AtName("import")) {
      ok = (ReadImport() || Skip()) && ok;
    } else if (AtName("metadata")) {
      // Errors about entries that it lacks then would only follow from this one.
      if (!ReadMetadata()) return false;
      functions = lex_.buffer().substr(lex_.peek().begin);
    } else if (AtTypeVar(*this)) {
      ok = (ReadTypeVar(*this) || Skip()) && ok;
    } else if (AtConstant(*this)) {
      ok = (ReadConstant(*this) || Skip()) && ok;
    } else if (AtName("class") || (At(TokenKind::kAt) && !class_seen_)) {
      ok = (ReadClass() || Skip()) && ok;
    } else if (At(TokenKind::kAt)) {
      ok = (ReadFunction() || Skip()) && ok;
    } else {
      if (At(TokenKind::kIndent)) lex_.Next();
      Unexpected("a module, a function or an import");
      ok = Skip();
    }
    if (diag_.error_limit_reached()) return false;
  }
  std::optional<TextVersion> version =
      DetectVersion({.imports_tir = state_.is_tir,
                     .imports_tirx = state_.is_tirx,
                     .imports_axis = state_.imports_axis,
                     .is_printed = state_.is_printed,
                     .has_type_vars = state_.imports_type_vars || !state_.type_vars.empty(),
                     .of_metadata = metadata_version_,
                     .functions = functions});
  if (!version) version = options_.unknown_version;
  state_.has_scalars = state_.is_tirx && version > TextVersion::kV0_24;
  if (version) state_.module->set_text_version(*version);
  if (diag_.error_count() == errors && pending_.empty() && !class_seen_ && state_.module->size() == 0) {
    return ErrorHere("empty-input", "the input holds no module and no function");
  }
  return ok;
}

// from tvm.script import relax as R
bool ModuleParser::ReadImport() {
  const auto prefix_of = [](std::string_view name) {
    if (name == "ir") return Prefix::kIr;
    if (name == "tir" || name == "tirx") return Prefix::kTir;
    return name == "relax" ? Prefix::kRelax : Prefix::kNone;
  };
  const bool from = lex_.text(lex_.Next()) == "from";
  Prefix prefix = Prefix::kNone;
  std::string_view alias;
  bool tile = false;
  while (!At(TokenKind::kNewline) && !At(TokenKind::kEnd)) {
    if (AtName("as")) {
      lex_.Next();
      if (!At(TokenKind::kName)) return Unexpected("a name after 'as'");
      alias = lex_.text();
    } else if (At(TokenKind::kName)) {
      if (const Prefix p = prefix_of(lex_.text()); p != Prefix::kNone && from) {
        prefix = p;
        alias = lex_.text();
      }
      tile |= prefix == Prefix::kTir && AtName("tile");
    }
    const bool comma = At(TokenKind::kComma);
    lex_.Next();
    if ((comma || At(TokenKind::kNewline)) && prefix != Prefix::kNone) state_.prefixes.Add(alias, prefix);
  }
  if (tile) state_.tile_prefix = alias;
  return true;
}

bool ModuleParser::ReadMetadata() {
  lex_.Next();
  if (!Expect(TokenKind::kAssign, "the metadata section")) return false;
  for (const std::string_view word : {"tvm", "ir", "load_json"}) {
    if (!AcceptName(word)) return Unexpected("tvm.ir.load_json(...)");
    if (word != "load_json" && !Expect(TokenKind::kDot, "the metadata section")) return false;
  }
  if (!Expect(TokenKind::kLParen, "the metadata section")) return false;
  if (!At(TokenKind::kString)) return Unexpected("a string with the metadata");
  const Token token = lex_.Next();
  metadata_version_ = VersionOfMetadata(lex_.text(token));
  const uint64_t key = options_.reading ? HashString(lex_.text(token)) : 0;
  if (options_.reading && options_.reading->metadata().key == key) {
    state_.metadata = options_.reading->metadata().entries;
    return ExpectClose("the metadata section");
  }
  std::string storage;
  const std::string_view json = UnescapeString(lex_.text(token), storage);
  const MetadataText text{json, lex_.text(token), Location(lex_.SpanOf(token))};
  const Status loaded = LoadMetadata(text, options_.open_tensor, diag_, state_.metadata, ws_);
  if (!loaded) {
    if (loaded.error().reported()) return false;
    return Error(lex_.SpanOf(token), "bad-metadata", "the metadata section can't be read: " + loaded.error().message);
  }
  if (options_.reading) options_.reading->metadata() = {key, state_.metadata, nullptr};
  return ExpectClose("the metadata section");
}

bool ModuleParser::ReadClass() {
  if (At(TokenKind::kAt)) {
    const Lexer::State start = lex_.Save();
    lex_.Next();
    bool module = false;
    if (At(TokenKind::kName)) {
      const Prefix prefix = AtPrefix();
      const std::string_view first = lex_.text(lex_.Next());
      const std::string_view name = first == "ir_module" && !At(TokenKind::kDot) ? first : DottedName();
      const bool is_prefixed = prefix == Prefix::kIr || first == "script";
      module = name == "script.ir_module" || name == "script.ir.ir_module" ||
               (name == "ir_module" && (is_prefixed || name.data() == first.data()));
    }
    if (!module) {
      lex_.Restore(start);
      return ReadFunction();
    }
    if (At(TokenKind::kLParen)) {
      // The other options of the decorator only affect checks of the module.
      while (lex_.bracket_depth() > 0 && !At(TokenKind::kEnd)) {
        if (AcceptKeyword("s_tir")) state_.is_s_tir = AtName("True");
        lex_.Next();
      }
      if (!Expect(TokenKind::kRParen, "the decorator of the module")) return false;
    }
    if (!Expect(TokenKind::kNewline, "the decorator of the module")) return false;
  }
  if (!AcceptName("class")) return Unexpected("'class' and the name of the module");
  if (!At(TokenKind::kName)) return Unexpected("the name of the module");
  if (class_seen_) return ErrorHere("syntax", "the input holds more than one module");
  class_seen_ = true;
  state_.module_name = lex_.text(lex_.Next());
  state_.constants.Define(state_.module_name, nullptr);
  if (Accept(TokenKind::kLParen) && !Expect(TokenKind::kRParen, "the header of the module")) return false;
  if (!Expect(TokenKind::kColon, "the header of the module") ||
      !Expect(TokenKind::kNewline, "the header of the module"))
    return false;
  if (!At(TokenKind::kIndent)) return Unexpected("an indented module body");
  lex_.Next();
  bool ok = true;
  while (!At(TokenKind::kDedent) && !At(TokenKind::kEnd)) {
    ok = (ReadMember() || Skip()) && ok;
    if (diag_.error_limit_reached()) return false;
  }
  Accept(TokenKind::kDedent);
  return ok;
}

bool ModuleParser::ReadMember() {
  if (At(TokenKind::kAt)) return ReadFunction();
  if (At(TokenKind::kNewline)) return lex_.Next(), true;
  if (At(TokenKind::kIndent)) return Unexpected("a function at the indentation of the module");
  if (AcceptName("pass")) return Expect(TokenKind::kNewline, "a statement");
  if (At(TokenKind::kString)) return ParseStringLiteral(), Expect(TokenKind::kNewline, "a statement");
  if (AtPrefix() == Prefix::kIr) return ReadModuleStatement();
  if (AtKeyword()) {
    const Token name = lex_.Next();
    lex_.Next();
    return ReadExternFunc(name);
  }
  return Unexpected("a function or a module attribute");
}

// I.module_attrs({...}) and I.module_global_infos({...})
bool ModuleParser::ReadModuleStatement() {
  const Span span = SpanHere();
  lex_.Next();
  const std::string_view name = DottedName();
  if (name != "module_attrs" && name != "module_global_infos") {
    static constexpr std::string_view kNames[] = {"module_attrs", "module_global_infos"};
    return name.empty() ? false : static_cast<bool>(UnknownMember("I", name, span, kNames));
  }
  if (!Expect(TokenKind::kLParen, "a module statement")) return false;
  const Attr* attr = ParseAttr(shared_, ScriptDialect::kTir);
  if (!attr) return false;
  const auto* dict = As<DictAttr>(attr);
  if (!dict) return Error(span, "bad-expression", fmt::format("I.{} takes a dictionary", name));
  if (name == "module_attrs") {
    state_.module->set_attrs(dict);
  } else {
    for (uint32_t i = 0; i < dict->size(); ++i) {
      const auto* list = As<ListAttr>(dict->values[i]);
      if (!list) return Error(span, "bad-expression", "the global infos of one kind are a list");
      state_.module->mutable_global_infos()[std::string(dict->keys[i])].assign(list->values.begin(),
                                                                               list->values.end());
    }
  }
  return ExpectClose("a module statement") && Expect(TokenKind::kNewline, "a statement");
}

// name = R.ExternFunc("symbol")
bool ModuleParser::ReadExternFunc(const Token& name) {
  auto pending = std::make_unique<PendingFunction>();
  RelaxFunctionParser reader({lex_, state_, pending->workspace, symbols_, diag_});
  const Expr* value = reader.ParseExpr();
  if (!value) return false;
  const auto* func = As<ExternFunc>(value);
  if (!func) return Error(lex_.SpanOf(name), "syntax", "a module holds functions and R.ExternFunc(...) only");
  pending->relax.name = lex_.text(name);
  pending->relax.name_span = lex_.SpanOf(name);
  const GlobalVar* gvar = GlobalVar::Get(lex_.text(name));
  if (state_.module->Find(gvar))
    return Error(lex_.SpanOf(name), "duplicate-function",
                 fmt::format("the module has a function '{}' already", gvar->name));
  state_.module->Set(gvar, func, pending->workspace.Finish());
  return Expect(TokenKind::kNewline, "a statement");
}

// Gives the table the constants that the text of a function mentions, so that the uses of each are of one definition.
// The function begins at its decorator.
void ModuleParser::DefineMentioned(SymbolTable& symbols, uint32_t begin, uint32_t column) const {
  if (state_.constants.num_definitions() == 0) return;
  const std::string_view text = lex_.buffer();
  uint32_t end = BodyEnd(begin, column);
  while (end + column < lex_.end_offset() && text.substr(end + column).starts_with("def "))
    end = BodyEnd(end + column, column);
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (uint32_t p = begin; p < end; ++p) {
    const uint32_t first = p;
    while (p < end && is_letter(text[p])) ++p;
    const std::string_view word = text.substr(first, p - first);
    const Node* constant = word.empty() ? nullptr : state_.constants.Find(word);
    if (constant && !symbols.Peek(word).node)
      symbols.DefineAs(word, constant, symbols.recorder()->Define({}, constant));
  }
}

bool ModuleParser::ReadFunction() {
  const uint32_t at = lex_.peek().begin;
  const size_t line = lex_.buffer().rfind('\n', at);
  const uint32_t column = at - (line == std::string_view::npos ? 0 : static_cast<uint32_t>(line) + 1);
  const Lexer::State start = lex_.Save();
  lex_.Next();
  if (AtMacro()) return ReadMacro(column);
  auto pending = std::make_unique<PendingFunction>();
  pending->is_prim_func = AtPrefix() == Prefix::kTir;
  pending->begin = at;
  if (options_.reading) pending->Record(lex_.buffer().substr(at));
  lex_.Restore(start);
  pending->symbols->set_constants(&state_.constants, state_.constants.num_definitions());
  if (pending->recorder) DefineMentioned(*pending->symbols, at, column);
  const Shared shared{lex_, state_, pending->workspace, *pending->symbols, diag_};
  bool ok;
  if (pending->is_prim_func) {
    TirFunctionParser reader(shared);
    ok = reader.ParseDecorator(pending->tir) && reader.ParseSignature(pending->tir);
  } else {
    RelaxFunctionParser reader(shared);
    ok = reader.ParseDecorator(pending->relax) && reader.ParseSignature(pending->relax);
  }
  if (!ok) {
    // The indentation determines the end of the body, even if the header is malformed.
    const uint32_t end = BodyEnd(std::max(lex_.peek().begin, at), column);
    lex_.SkipToLine(end);
    // The decorator and the header may be lines of their own.
    while (AtName("def") || At(TokenKind::kIndent)) lex_.SkipToLine(BodyEnd(lex_.peek().end, column));
    return true;
  }
  if (!At(TokenKind::kColon)) return Unexpected("':' after the function header");
  pending->body_begin = lex_.peek().begin;
  pending->body_end = BodyEnd(pending->body_begin, column);
  lex_.SkipToLine(pending->body_end);
  return Declare(std::move(pending)), true;
}

// After the '@'. TVM 0.26 says T.inline.
bool ModuleParser::AtMacro() const {
  const Prefix level = AtPrefix();
  const std::string_view rest = lex_.buffer().substr(lex_.peek().end);
  const auto is = [&](std::string_view name) {
    return rest.starts_with(name) && !std::isalnum(static_cast<unsigned char>(rest.substr(name.size()).front()));
  };
  return (level == Prefix::kTir && (is(".macro") || is(".inline"))) || (level == Prefix::kRelax && is(".macro"));
}

bool ModuleParser::ReadMacro(uint32_t column) {
  Macro macro;
  macro.num_constants = state_.constants.num_definitions();
  const bool ok = ReadMacroHeader(*this, macro);
  macro.body_begin = lex_.peek().begin;
  macro.body_end = BodyEnd(macro.body_begin, column);
  lex_.SkipToLine(macro.body_end);
  if (!ok) return true;
  const auto [known, added] = state_.macros.emplace(macro.name, macro);
  if (added) return true;
  diag_.Error(Location(macro.name_span), "duplicate-function", fmt::format("there is a macro '{}' already", macro.name))
      .Note(Location(known->second.name_span), "it is defined here");
  return true;
}

bool ModuleParser::Declare(std::unique_ptr<PendingFunction> pending) {
  const GlobalVar* gvar = GlobalVar::Get(pending->name());
  if (const ModuleEntry* known = state_.module->Find(gvar)) {
    diag_
        .Error(Location(pending->name_span()), "duplicate-function",
               fmt::format("the module has a function '{}' already", gvar->name))
        .Note(Location(*known->func), "defined here");
    return false;
  }
  // Until its body was read, the module holds the function's header: its type is what callers need.
  BaseFunc* header = nullptr;
  if (pending->is_prim_func) {
    header = TirFunctionParser::MakeHeader(pending->tir, pending->workspace);
  } else {
    const Shared shared{lex_, state_, pending->workspace, *pending->symbols, diag_};
    const FuncType* type = RelaxFunctionParser(shared).DeclaredType(pending->relax);
    header = pending->workspace.New<Function>(List<const Var*>(), nullptr, type->ret, pending->relax.pure,
                                              DictAttr::Empty(), type);
  }
  header->set_span(pending->name_span());
  pending->index = state_.module->size();
  state_.module->Set(gvar, header, nullptr);
  pending_.push_back(std::move(pending));
  return true;
}

bool ModuleParser::NameBySymbols() {
  const auto name_of = [](const ModuleEntry& entry) {
    const std::string_view symbol = entry.func->StringAttr(attr::kGlobalSymbol);
    return symbol.empty() ? entry.var : GlobalVar::Get(symbol);
  };
  const std::vector<ModuleEntry>& functions = state_.module->functions();
  if (std::ranges::all_of(functions, [&](const ModuleEntry& entry) { return name_of(entry) == entry.var; }))
    return true;
  Module named;
  bool ok = true;
  for (const ModuleEntry& entry : functions) {
    const GlobalVar* var = name_of(entry);
    if (const ModuleEntry* known = named.Find(var)) {
      diag_
          .Error(Location(*entry.func), "duplicate-function",
                 fmt::format("two functions have the global symbol '{}'", var->name))
          .Note(Location(*known->func), "the other one is here");
      ok = false;
    }
    named.Set(var, entry.func, entry.storage);
  }
  if (const auto version = state_.module->text_version()) named.set_text_version(*version);
  *state_.module = std::move(named);
  return ok;
}

}  // namespace
}  // namespace iropt::text

namespace iropt {

std::optional<Module> ParseModule(std::string_view text, uint32_t base, const ParseOptions& options,
                                  DiagnosticEngine& diagnostics) {
  Module module;
  text::ReaderState state;
  state.module = &module;
  state.host = options.host;
  state.allows_unknown_calls = options.allow_unknown_calls;
  Workspace workspace;
  text::SymbolTable symbols;
  const size_t errors = diagnostics.error_count();
  if (const size_t bad = text::FirstInvalidByte(text); bad < text.size()) {
    const auto offset = base + static_cast<uint32_t>(bad);
    diagnostics.Error({offset, offset + 1}, "unexpected-character",
                      fmt::format("byte 0x{:02x} is not UTF-8 text", static_cast<uint8_t>(text[bad])));
    return std::nullopt;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const uint32_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  Lexer lexer(text, base, begin, static_cast<uint32_t>(text.size()), diagnostics);
  text::ModuleParser parser({lexer, state, workspace, symbols, diagnostics}, options);
  const bool read = parser.Run();
  if (options.reading && !options.reading->metadata().storage) options.reading->metadata().storage = workspace.Finish();
  if (!read || diagnostics.error_count() != errors) return std::nullopt;
  if (!parser.class_seen() && !parser.NameBySymbols()) return std::nullopt;
  if (module.text_version() >= TextVersion::kV0_26) text::MoveScalarsToTirVars(module);
  // A function without a class around it is printed without one, too.
  const bool bare = !parser.class_seen() && module.size() == 1;
  module.set_name(IRContext::Current().InternString(bare ? std::string_view() : state.module_name));
  return module;
}

}  // namespace iropt
