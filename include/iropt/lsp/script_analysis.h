// The analysis of a text in TVMScript: its modules, their functions, and all diagnostics about them. Brought up to date
// after every change; then only functions that changed, or depend on what changed, are read and verified again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/lsp/python_scripts.h"
#include "iropt/lsp/text_document.h"
#include "iropt/text/script/reading.h"

namespace iropt::lsp {

// Something that is wrong at a place of the text.
struct Problem {
  struct Related {
    TextSpan span;
    std::string message;
  };
  struct Fix {
    TextSpan span;
    std::string replacement;
  };

  Severity severity = Severity::Error;
  std::string kind;
  TextSpan span;
  std::string message;
  std::vector<Related> related = {};
  std::vector<Fix> fixes = {};
};

// One of the modules of a text, which lines separate.
struct ModulePart {
  static constexpr std::string_view kMarker = "# -----";
  static constexpr uint32_t kBase = 1;  // the source offset of its first byte

  TextSpan span;
  uint32_t first = 0;  // where its source offsets begin; modulo 2^32, as imports may be put before a part
  uint64_t key = 0;    // of its text
  std::unique_ptr<Reading> reading;
  std::vector<Diagnostic> found;  // by the reader, located in the part
  // Diagnostics of the verification of a function, located where the function was read.
  struct Verified {
    uint64_t key = 0;  // of the types of the functions that it calls
    std::vector<Diagnostic> found = {};
  };
  std::unordered_map<const FunctionReading*, Verified> verified = {};
  bool complete = false;  // the module was read without errors

  // The offset in the text of a source offset in the part.
  uint32_t OffsetOf(uint32_t source) const { return first + source - kBase; }
  TextSpan SpanOf(SourceSpan source) const { return {OffsetOf(source.begin), OffsetOf(source.end)}; }
  uint32_t BeginOf(const FunctionPart& function) const { return OffsetOf(function.begin); }
  uint32_t EndOf(const FunctionPart& function) const {
    return BeginOf(function) + function.reading->span.end - function.reading->span.begin;
  }
  TextSpan NameOf(const FunctionPart& function) const;
  // Returns the place in the text of an occurrence in the function.
  TextSpan SpanOf(const FunctionPart& function, const Occurrence& occurrence) const {
    return {BeginOf(function) + occurrence.begin, BeginOf(function) + occurrence.end};
  }
  // Null if it has no function of that name.
  const FunctionPart* Find(std::string_view name) const;
};

// An occurrence with what it occurs in.
struct FoundOccurrence {
  const ModulePart* part = nullptr;
  const FunctionPart* function = nullptr;
  const Occurrence* occurrence = nullptr;  // null for the name of the function in its definition
  TextSpan span;

  // The node that the name stands for; null for functions, operators and attributes.
  const Node* node() const;
  bool span_is_empty() const { return span.begin == span.end; }
  // Returns the text of the occurrence.
  std::string_view Text(const TextDocument& document) const { return document.Text(span); }
};

class ScriptAnalysis {
 public:
  // `in_python`: the text is a program in Python, of which the decorated functions and classes are parts.
  explicit ScriptAnalysis(int threads, bool in_python = false) : threads_(threads), in_python_(in_python) {}

  // Reads what has changed since the last update.
  void Update(const TextDocument& document);

  // In the order of the text.
  const std::vector<ModulePart>& parts() const { return parts_; }
  std::vector<Problem> Problems() const;
  // The context of all nodes, which must be current while they are used.
  IRContext& context() { return context_; }

  // The function around the offset; null outside.
  const FunctionPart* FunctionAt(uint32_t offset, const ModulePart** part = nullptr) const;
  // The occurrence that the offset is in, or at the end of. Its span is empty if there is none.
  FoundOccurrence Find(uint32_t offset) const;
  const ModulePart* PartAt(uint32_t offset) const;
  // The dotted name with the usual prefix, where imports of a program give the modules others: R.add for
  // relax_script.add.
  std::string WithUsualPrefix(std::string_view name) const;

 private:
  // Interned types and names are never freed, so a context is given up after so many functions were read, or all of
  // them so often.
  static constexpr uint64_t kMostReadings = 20'000;
  static constexpr uint64_t kMostReadingsOfAll = 4;

  struct PartText {
    TextSpan span;
    uint32_t first;
    std::string_view text;
  };
  // The texts of the parts; `storage` has those that are made.
  std::vector<PartText> PartsOf(std::string_view text, std::vector<std::string>& storage);
  void UpdatePart(ModulePart& part, std::string_view text);
  bool TakesValueOfProgram(TextSpan span) const;
  void Verify(ModulePart& part, const Module* complete);

  int threads_;
  bool in_python_;
  std::string_view text_;  // that the last update was of
  PythonScripts python_;
  IRContext context_;
  uint64_t num_readings_ = 0;
  std::vector<ModulePart> parts_;
};

}  // namespace iropt::lsp
