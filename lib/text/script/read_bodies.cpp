#include "read_bodies.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/support/edit_distance.h"
#include "iropt/support/hash.h"
#include "iropt/support/parallel.h"
#include "text_scan.h"

namespace iropt::text {
namespace {

using PendingList = std::vector<PendingFunction*>;

class BodyReader {
 public:
  BodyReader(ParserCore::Shared shared, const ParseOptions& options,
             const std::vector<std::unique_ptr<PendingFunction>>& functions)
      : shared_(shared),
        state_(shared.state),
        module_(*shared.state.module),
        text_(shared.lexer.buffer()),
        base_(shared.lexer.base()),
        options_(options),
        functions_(functions) {}

  bool Run();

 private:
  void FindKeys();
  uint64_t Surroundings() const;
  void ReadAll(const PendingList& functions);
  PendingList TakeKnown(const PendingList& functions);
  bool TakeKnown(PendingFunction& pending);
  bool Holds(const FunctionReading& known) const;
  uint64_t CalleeKey(const GlobalVar* callee) const;
  void Parse(PendingFunction& pending) const;
  void SetSymbol(PendingFunction& pending, DiagnosticEngine& diagnostics) const;
  void Publish(PendingFunction& pending);
  void Suggest(Diagnostic& diagnostic) const;
  void KeepReading();
  int ThreadsFor(const PendingList& functions, size_t few) const;
  std::string_view HeaderOf(const PendingFunction& pending) const {
    return text_.substr(pending.begin, pending.body_begin - pending.begin);
  }
  std::string_view BodyOf(const PendingFunction& pending) const {
    return text_.substr(pending.body_begin, pending.body_end - pending.body_begin);
  }

  const ParserCore::Shared shared_;
  ReaderState& state_;
  Module& module_;
  const std::string_view text_;
  const uint32_t base_;
  const ParseOptions& options_;
  const std::vector<std::unique_ptr<PendingFunction>>& functions_;
  // If a Reading is kept. By index in the module: what callers of a function see of it.
  std::vector<uint64_t> callee_keys_;
  uint64_t names_key_ = 0;  // of the names of all functions
};

// PrimFuncs first, since their types follow from their bodies; then Relax functions without a result annotation, one
// after the other, since the others may call them.
bool BodyReader::Run() {
  PendingList is_prim_func, unannotated, annotated;
  for (const auto& p : functions_) {
    (p->is_prim_func ? is_prim_func : p->relax.ret_annotation ? annotated : unannotated).push_back(p.get());
  }
  if (options_.reading) FindKeys();
  ReadAll(is_prim_func);
  for (PendingFunction* p : unannotated) ReadAll({p});
  ReadAll(annotated);
  if (options_.reading) KeepReading();
  return std::ranges::all_of(functions_, [](const auto& p) { return p->result != nullptr; });
}

// Hashes what all functions depend on: the text around them, and what comments say about its version.
uint64_t BodyReader::Surroundings() const {
  uint64_t hash = (state_.is_tirx ? 1 : 0) + (state_.has_layouts ? 2 : 0) + (state_.imports_type_vars ? 4 : 0) +
                  (module_.text_version() ? 8 * (static_cast<uint64_t>(*module_.text_version()) + 1) : 0);
  for (const auto& [name, macro] : state_.macros)
    hash = HashCombine(HashCombine(hash, macro.body_begin), macro.body_end);
  uint32_t begin = 0;
  for (const auto& pending : functions_) {
    hash = HashCode(hash, text_.substr(begin, pending->begin - begin));
    begin = pending->body_end;
  }
  return HashCode(hash, text_.substr(begin));
}

void BodyReader::FindKeys() {
  const uint64_t surroundings = Surroundings();
  callee_keys_.assign(module_.size(), 1);
  for (const auto& pending : functions_) {
    const uint64_t header = HashString(HeaderOf(*pending));
    pending->header_key = HashCombine(surroundings, header);
    callee_keys_[pending->index] = header;
    names_key_ = HashCombine(names_key_, HashString(pending->name()));
  }
}

// Returns the hash of what callers read of the callee: the header, and the type if it follows from the body.
uint64_t BodyReader::CalleeKey(const GlobalVar* callee) const {
  const int index = module_.IndexOf(callee);
  return index < 0 ? 0 : callee_keys_[static_cast<size_t>(index)];
}

bool BodyReader::Holds(const FunctionReading& known) const {
  // The message about an unknown function names one.
  if (!known.diagnostics.empty() && known.names_key != names_key_) return false;
  return std::ranges::all_of(known.callees, [&](const auto& callee) { return CalleeKey(callee.var) == callee.key; });
}

int BodyReader::ThreadsFor(const PendingList& functions, size_t few) const {
  size_t bytes = 0;
  for (const PendingFunction* pending : functions) bytes += pending->body_end - pending->body_begin;
  return bytes < few || state_.host ? 1 : options_.threads;
}

bool BodyReader::TakeKnown(PendingFunction& pending) {
  auto known = options_.reading->Find(std::string(pending.name()));
  if (!known || known->header_key != pending.header_key || !Holds(*known)) return false;
  if (known->key != pending.key) return false;
  pending.Reuse(std::move(known), base_);
  return true;
}

// Those that are not known.
PendingList BodyReader::TakeKnown(const PendingList& functions) {
  constexpr size_t kBytesHashed = size_t{1} << 23;
  ParallelFor(functions.size(), ThreadsFor(functions, kBytesHashed), [&](size_t i) {
    functions[i]->key = HashCombine(functions[i]->header_key, HashString(BodyOf(*functions[i])));
  });
  PendingList unknown;
  for (PendingFunction* pending : functions) {
    if (!TakeKnown(*pending)) unknown.push_back(pending);
  }
  return unknown;
}

void BodyReader::ReadAll(const PendingList& functions) {
  // A text of fewer bytes is read faster than threads begin to work.
  constexpr size_t kBytesRead = size_t{1} << 16;
  const PendingList unknown = options_.reading ? TakeKnown(functions) : functions;
  ParallelFor(unknown.size(), ThreadsFor(unknown, kBytesRead), [&](size_t i) {
    Parse(*unknown[i]);
    if (options_.reading) {
      unknown[i]->Keep(base_, names_key_, [this](const GlobalVar* callee) { return CalleeKey(callee); });
    }
  });
  for (PendingFunction* p : functions) Publish(*p);
  if (!options_.reading) return;
  for (const PendingFunction* p : functions) {
    if (p->is_prim_func || !p->relax.ret_annotation) {
      uint64_t& key = callee_keys_[p->index];
      key = HashCombine(key, HashMix(reinterpret_cast<uintptr_t>(module_.functions()[p->index].func->type)));
    }
  }
}

// Functions with errors keep their headers in the module, and what was read of them.
void BodyReader::KeepReading() {
  std::vector<FunctionPart> parts;
  for (const auto& pending : functions_) {
    const FunctionReading& reading = *pending->part.reading;
    const ModuleEntry& entry = module_.functions()[pending->index];
    if (!reading.func) module_.SetAt(pending->index, entry.func, reading.storage);
    parts.push_back(pending->part);
  }
  options_.reading->Replace(std::move(parts), module_);
}

void BodyReader::Parse(PendingFunction& pending) const {
  DiagnosticEngine diagnostics(&pending.diagnostics);
  Lexer lexer(text_, base_, pending.body_begin, pending.body_end, diagnostics);
  const ParserCore::Shared shared{lexer, state_, pending.workspace, *pending.symbols, diagnostics};
  // About one name in a line of usual length.
  pending.symbols->Reserve((pending.body_end - pending.body_begin) / 64);
  if (pending.is_prim_func) {
    pending.result = TirFunctionParser(shared).ParseBody(pending.tir);
  } else {
    pending.result = RelaxFunctionParser(shared).ParseBody(pending.relax);
  }
  while (lexer.kind() == TokenKind::kNewline || lexer.kind() == TokenKind::kDedent) lexer.Next();
  if (pending.result && lexer.kind() != TokenKind::kEnd) {
    // For example a bracket at the beginning of a line, whose indentation does not end a function.
    ParserCore(shared).Unexpected("the end of the function");
    pending.result = nullptr;
  }
  pending.symbols.reset();
  if (options_.on_read) options_.on_read(BodyOf(pending));
  if (pending.result) SetSymbol(pending, diagnostics);
}

void BodyReader::SetSymbol(PendingFunction& pending, DiagnosticEngine& diagnostics) const {
  const Attr* symbol = pending.result->attrs->Find(attr::kGlobalSymbol);
  if (pending.is_private()) {
    if (symbol) {
      diagnostics.Error(Location(pending.name_span()), "private-symbol",
                        "a private function can't have a global symbol");
    }
  } else if (!symbol) {
    // The node was made a moment ago and is not shared yet.
    const_cast<BaseFunc*>(pending.result)->attrs =
        pending.result->attrs->With(attr::kGlobalSymbol, StrAttr::Get(pending.name()));
  }
}

void BodyReader::Publish(PendingFunction& pending) {
  // A function that fails without a diagnostic would be a bug of the reader; it must not give a module.
  if (!pending.result && pending.diagnostics.diagnostics().empty()) {
    shared_.diagnostics.Error(Location(pending.name_span()), "syntax",
                              fmt::format("function '{}' can't be read", pending.name()));
  }
  for (Diagnostic diagnostic : pending.diagnostics.diagnostics()) {
    // Looking for the nearest of many names takes a while, so it is done for what is shown.
    if (diagnostic.kind == DiagId("unknown-function").name() && !shared_.diagnostics.error_limit_reached())
      Suggest(diagnostic);
    shared_.diagnostics.Report(std::move(diagnostic));
  }
  if (!pending.result) return;
  const auto& reading = pending.part.reading;
  module_.SetAt(pending.index, pending.result, reading ? reading->storage : pending.workspace.Finish());
}

// Adds the nearest name of a function to a message about an unknown one.
void BodyReader::Suggest(Diagnostic& diagnostic) const {
  const SourceSpan span = diagnostic.span;
  const std::string_view name = text_.substr(span.begin - base_, span.end - span.begin);
  std::vector<std::string_view> candidates;
  for (const ModuleEntry& entry : module_.functions()) candidates.push_back(entry.var->name);
  const auto near = NearestName(name, candidates);
  if (!near) return;
  diagnostic.message += fmt::format("; did you mean '{}'?", *near);
  diagnostic.fix_its.push_back({span, std::string(*near)});
}

}  // namespace

bool ReadBodies(ParserCore::Shared shared, const ParseOptions& options,
                const std::vector<std::unique_ptr<PendingFunction>>& functions) {
  return BodyReader(shared, options, functions).Run();
}

}  // namespace iropt::text
