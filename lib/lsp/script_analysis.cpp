#include "iropt/lsp/script_analysis.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "iropt/analysis/well_formed.h"
#include "iropt/driver/split_input.h"
#include "iropt/support/hash.h"
#include "iropt/support/parallel.h"
#include "iropt/text/script/parser.h"

namespace iropt::lsp {

namespace {

// Of one module: more errors than anybody looks at.
constexpr size_t kMostErrors = 500;

Problem ProblemOf(const ModulePart& part, const Diagnostic& diagnostic) {
  const auto place = [&](SourceSpan span) {
    return span.known() ? part.SpanOf(span) : TextSpan{part.span.begin, part.span.begin};
  };
  Problem problem{diagnostic.severity, std::string(diagnostic.kind), place(diagnostic.span), diagnostic.message};
  for (const DiagnosticNote& note : diagnostic.notes) {
    if (note.span.known()) {
      problem.related.push_back({place(note.span), note.message});
    } else {
      problem.message += "\n" + note.message;
    }
  }
  for (const FixItHint& hint : diagnostic.fix_its) problem.fixes.push_back({place(hint.span), hint.replacement});
  return problem;
}

// A key of the types that the verification of the function depends on.
uint64_t TypesOfCallees(const Module& module, const FunctionReading& function) {
  uint64_t key = 0;
  for (const ReadCallee& callee : function.callees)
    key = HashCombine(key, HashMix(reinterpret_cast<uintptr_t>(module.TypeOf(callee.var))));
  return key;
}

}  // namespace

TextSpan ModulePart::NameOf(const FunctionPart& function) const {
  const uint32_t begin = BeginOf(function) + function.reading->name_begin;
  return {begin, begin + static_cast<uint32_t>(function.reading->name.size())};
}

const FunctionPart* ModulePart::Find(std::string_view name) const {
  const auto found = std::ranges::find_if(reading->functions(),
                                          [&](const FunctionPart& function) { return function.reading->name == name; });
  return found == reading->functions().end() ? nullptr : &*found;
}

const Node* FoundOccurrence::node() const {
  return occurrence && occurrence->kind <= OccurrenceKind::kUse ? function->reading->symbols[occurrence->symbol]
                                                                : nullptr;
}

void ScriptAnalysis::Update(const TextDocument& document) {
  size_t num_functions = 0;
  for (const ModulePart& part : parts_) num_functions += part.reading->functions().size();
  if (num_readings_ > kMostReadings + kMostReadingsOfAll * num_functions) {
    parts_.clear();
    context_ = IRContext();
    num_readings_ = 0;
  }
  const IRContext::Scope scope(context_);
  text_ = document.text();
  std::vector<std::string> storage;
  const std::vector<PartText> texts = PartsOf(text_, storage);
  parts_.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    ModulePart& part = parts_[i];
    part.span = texts[i].span;
    part.first = texts[i].first;
    // A single part has changed, or there would be no update.
    const uint64_t key = texts.size() > 1 ? HashString(texts[i].text) : 0;
    if (part.reading && part.key == key && texts.size() > 1) continue;
    part.key = key;
    UpdatePart(part, texts[i].text);
  }
}

std::vector<ScriptAnalysis::PartText> ScriptAnalysis::PartsOf(std::string_view text,
                                                              std::vector<std::string>& storage) {
  std::vector<PartText> parts;
  if (!in_python_) {
    for (const InputPart& part : SplitInput(text, ModulePart::kMarker)) {
      const auto begin = static_cast<uint32_t>(part.text.data() - text.data());
      parts.push_back({{begin, begin + static_cast<uint32_t>(part.text.size())}, begin, part.text});
    }
    return parts;
  }
  python_ = FindPythonScripts(text);
  storage.reserve(python_.regions.size());
  const auto size_of_prologue = static_cast<uint32_t>(python_.prologue.size());
  for (const TextSpan& region : python_.regions) {
    storage.push_back(python_.prologue + std::string(text.substr(region.begin, region.end - region.begin)));
    parts.push_back({region, region.begin - size_of_prologue, storage.back()});
  }
  return parts;
}

void ScriptAnalysis::UpdatePart(ModulePart& part, std::string_view text) {
  if (!part.reading) part.reading = std::make_unique<Reading>();
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer, kMostErrors);
  // The tensors of files are not opened: an editor shows their names.
  const std::optional<Module> module =
      ParseModule(text, ModulePart::kBase,
                  {.threads = threads_, .reading = part.reading.get(), .may_be_indented = in_python_}, engine);
  part.complete = module.has_value();
  for (const FunctionPart& function : part.reading->functions()) num_readings_ += function.is_new ? 1 : 0;
  Verify(part, module ? &*module : nullptr);
  part.found = buffer.diagnostics();
}

// Functions that were kept are as well-formed as they were if those that they call have the same types. `complete` is
// the module if it was read without errors.
void ScriptAnalysis::Verify(ModulePart& part, const Module* complete) {
  const Module& read = part.reading->module();
  const Module& module = complete ? *complete : read;
  // The calls of newer versions fit their functions only after the reader has changed both.
  if (!complete && read.text_version() >= TextVersion::kV0_26) return part.verified.clear();
  std::unordered_map<const FunctionReading*, ModulePart::Verified> verified;
  std::vector<std::pair<const FunctionReading*, ModulePart::Verified*>> unknown;
  for (const FunctionPart& function : part.reading->functions()) {
    const FunctionReading* reading = function.reading.get();
    if (!reading->func) continue;
    const uint64_t key = TypesOfCallees(read, *reading);
    auto known = part.verified.extract(reading);
    if (known && known.mapped().key == key) {
      verified.insert(std::move(known));
    } else {
      unknown.emplace_back(reading, &verified[reading]);
      unknown.back().second->key = key;
    }
  }
  ParallelFor(unknown.size(), threads_, [&](size_t i) {
    const auto& [reading, result] = unknown[i];
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    const int index = read.IndexOf(GlobalVar::Get(reading->name));
    if (index >= 0) VerifyFunction(module, static_cast<size_t>(index), {.allow_free_vars = false}, engine);
    result->found = buffer.diagnostics();
  });
  part.verified = std::move(verified);
}

std::vector<Problem> ScriptAnalysis::Problems() const {
  std::vector<Problem> problems;
  for (const ModulePart& part : parts_) {
    for (const Diagnostic& diagnostic : part.found) problems.push_back(ProblemOf(part, diagnostic));
    for (const FunctionPart& function : part.reading->functions()) {
      const auto verified = part.verified.find(function.reading.get());
      if (verified == part.verified.end() || verified->second.found.empty()) continue;
      for (const Diagnostic& diagnostic : MovedDiagnostics(verified->second.found, *function.reading, function.begin))
        problems.push_back(ProblemOf(part, diagnostic));
    }
  }
  if (in_python_) std::erase_if(problems, [&](const Problem& problem) { return TakesValueOfProgram(problem.span); });
  return problems;
}

// Returns whether the line of a problem has a name that only the program around the script can know. What such a line
// means is known when the program runs.
bool ScriptAnalysis::TakesValueOfProgram(TextSpan span) const {
  const size_t begin = span.begin == 0 ? 0 : text_.rfind('\n', span.begin - 1) + 1;
  const std::string_view line = text_.substr(begin, text_.find('\n', span.begin) - begin);
  const ModulePart* part = nullptr;
  const FunctionPart* function = FunctionAt(span.begin, &part);
  const auto is_defined = [&](std::string_view name) {
    return function && std::ranges::any_of(function->reading->occurrences, [&](const Occurrence& occurrence) {
             const TextSpan place = part->SpanOf(*function, occurrence);
             return occurrence.kind == OccurrenceKind::kDefinition &&
                    text_.substr(place.begin, place.end - place.begin) == name;
           });
  };
  return AnyPythonName(line, [&](std::string_view name) { return python_.names.contains(name) && !is_defined(name); });
}

std::string ScriptAnalysis::WithUsualPrefix(std::string_view name) const {
  const std::string_view prefix = name.substr(0, name.find('.'));
  const auto alias = std::ranges::find(python_.aliases, prefix, &std::pair<std::string_view, std::string_view>::first);
  if (alias == python_.aliases.end()) return std::string(name);
  return std::string(alias->second) + std::string(name.substr(prefix.size()));
}

const ModulePart* ScriptAnalysis::PartAt(uint32_t offset) const {
  const auto found = std::ranges::find_if(
      parts_, [&](const ModulePart& part) { return offset >= part.span.begin && offset <= part.span.end; });
  return found == parts_.end() ? nullptr : &*found;
}

const FunctionPart* ScriptAnalysis::FunctionAt(uint32_t offset, const ModulePart** part) const {
  const ModulePart* around = PartAt(offset);
  if (part) *part = around;
  if (!around) return nullptr;
  const auto& functions = around->reading->functions();
  const auto after = std::ranges::upper_bound(functions, offset, {},
                                              [&](const FunctionPart& function) { return around->BeginOf(function); });
  if (after == functions.begin()) return nullptr;
  const FunctionPart& function = *std::prev(after);
  return offset <= around->EndOf(function) ? &function : nullptr;
}

FoundOccurrence ScriptAnalysis::Find(uint32_t offset) const {
  FoundOccurrence found;
  found.function = FunctionAt(offset, &found.part);
  if (!found.function) return {};
  const TextSpan name = found.part->NameOf(*found.function);
  if (offset >= name.begin && offset <= name.end) {
    found.span = name;
    return found;
  }
  const uint32_t at = offset - found.part->BeginOf(*found.function);
  const std::vector<Occurrence>& occurrences = found.function->reading->occurrences;
  auto it = std::ranges::upper_bound(occurrences, at, {}, &Occurrence::begin);
  if (it == occurrences.begin() || std::prev(it)->end < at) return {};
  found.occurrence = &*std::prev(it);
  found.span = found.part->SpanOf(*found.function, *found.occurrence);
  return found;
}

}  // namespace iropt::lsp
