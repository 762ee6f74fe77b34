#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "call_context.h"
#include "callables.h"
#include "describe_node.h"
#include "features.h"
#include "iropt/driver/catalog.h"
#include "iropt/op/intrinsics.h"
#include "iropt/pass/registry.h"
#include "iropt/text/script/vocabulary.h"
#include "pipeline_completion.h"
#include "test_comments.h"

namespace iropt::lsp {

namespace {

enum ItemKind : int {
  kMethodItem = 2,
  kFunctionItem = 3,
  kFieldItem = 5,
  kVariableItem = 6,
  kClassItem = 7,
  kModuleItem = 9,
  kValueItem = 12,
  kKeywordItem = 14,
  kPassItem = 23,
};

constexpr std::array<std::string_view, 16> kDTypes = {
    "bool",  "float16", "bfloat16", "float32", "float64", "int8",   "int16", "int32",
    "int64", "uint8",   "uint16",   "uint32",  "uint64",  "handle", "void",  "float8_e4m3fn"};
// The names in scope are looked for in so many lines.
constexpr uint32_t kMostScopeLines = 20'000;
constexpr size_t kMostVariables = 500;

class Completer {
 public:
  Completer(Document& document, uint32_t offset, const PassRegistry& registry)
      : document_(document), text_(document.text()), offset_(offset), registry_(registry) {}

  Json Run() {
    if (document_.kind() == DocumentKind::kPipeline) {
      for (const PipelineWord& word : CompletePipeline(text_, offset_, registry_, replaced_))
        Add(word.word, kFieldItem, word.detail);
      return Finish();
    }
    // Completion of Python is left to others.
    if (document_.kind() == DocumentKind::kPython && !document_.analysis().PartAt(offset_)) return Finish();
    const TextSpan line = text_.Line(text_.LineAt(offset_));
    if (text_.Text({line.begin, offset_}).find("RUN:") != std::string_view::npos) {
      CompleteRunLine(line);
      return Finish();
    }
    context_ = ContextAt(text_, offset_);
    if (context_.in_comment) return Finish();
    if (context_.in_string) {
      CompleteString();
      return Finish();
    }
    const std::string_view word = text_.Text(context_.word);
    const size_t dot = word.find('.');
    if (dot != std::string_view::npos) {
      CompleteMember(document_.analysis().WithUsualPrefix(word.substr(0, dot)), word.substr(dot + 1));
      return Finish();
    }
    replaced_ = context_.word;
    if (const OpenBracket* call = context_.call()) AddKeywords(*call);
    AddVariables();
    AddWords();
    return Finish();
  }

 private:
  Json Finish() { return {{"isIncomplete", is_incomplete_}, {"items", std::move(items_)}}; }

  // `order` sorts items of one kind before others.
  void Add(std::string_view label, ItemKind kind, std::string_view detail = {}, std::string documentation = {},
           char order = '5') {
    Json item = {{"label", label},
                 {"kind", kind},
                 {"sortText", fmt::format("{}{}", order, label)},
                 {"textEdit", TextEdit(text_.RangeOf(replaced_), label)}};
    if (!detail.empty()) item["detail"] = detail;
    if (!documentation.empty()) item["documentation"] = Markdown(std::move(documentation));
    items_.push_back(std::move(item));
  }

  // ---- After a dot

  void CompleteMember(std::string_view prefix, std::string_view member) {
    replaced_ = {context_.word.end - static_cast<uint32_t>(member.size()), context_.word.end};
    // All of the members, so that a client can filter them while the user types.
    const bool is_decorator = context_.before.ends_with("@");
    for (const ScriptName& name : ScriptNames()) {
      if (name.prefix != prefix || (name.role == ScriptName::Role::kDecorator) != is_decorator) continue;
      AddNamed(name);
    }
    if (is_decorator) return;
    if (prefix == "R") {
      for (const OpInfo& op : AllOps()) {
        if (op.is_graph_level()) AddOperator(op);
      }
      for (const OpInfo& op : AddedOps()) AddOperator(op);
    } else if (prefix == "T") {
      for (const OpInfo& op : AllOps()) {
        if (!op.is_graph_level() && op.script.starts_with("T.")) AddOperator(op);
      }
    } else {
      AddFunctions();
    }
  }

  void AddNamed(const ScriptName& name) {
    const bool is_type = name.role == ScriptName::Role::kType;
    Add(name.name, is_type ? kClassItem : kFunctionItem, name.summary, {}, is_type ? '4' : '5');
  }
  void AddOperator(const OpInfo& op) {
    const Callable callable = DescribeOperator(op);
    Add(op.script.substr(2), kFunctionItem, callable.label, std::string(SummaryOf(op)));
  }
  void AddFunctions() {
    const ModulePart* part = document_.analysis().PartAt(offset_);
    if (!part) return;
    for (const FunctionPart& function : part->reading->functions())
      Add(function.reading->name, kFunctionItem, {}, {}, '1');
  }

  // ---- In a string

  void CompleteString() {
    replaced_ = context_.word;
    const OpenBracket* call = context_.call();
    const std::string_view keyword = call ? call->keyword : std::string_view();
    if (keyword.ends_with("layout")) {
      for (const std::string_view layout :
           {"NCHW", "NHWC", "OIHW", "HWIO", "OHWI", "NCW", "NWC", "OIW", "NCDHW", "NDHWC", "OIDHW"})
        Add(layout, kValueItem);
      return;
    }
    if (call && call->callee.ends_with("thread_binding")) {
      for (const std::string_view thread :
           {"blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z", "vthread.x"})
        Add(thread, kValueItem);
    }
    for (const std::string_view dtype : kDTypes) Add(dtype, kValueItem);
    if (keyword.ends_with("scope") || (call && call->callee.ends_with("alloc_buffer"))) {
      for (const std::string_view scope : {"global", "shared", "shared.dyn", "local", "wmma.accumulator", "warp"})
        Add(scope, kValueItem);
    }
  }

  // ---- Elsewhere

  void AddKeywords(const OpenBracket& call) {
    if (!call.keyword.empty()) return;
    const ModulePart* part = document_.analysis().PartAt(offset_);
    const std::optional<Callable> callable =
        FindCallable(document_.analysis().WithUsualPrefix(call.callee), part ? &part->reading->module() : nullptr);
    if (!callable || call.callee.starts_with("cls.")) return;
    for (size_t i = 0; i < callable->parameters.size(); ++i) {
      const Callable::Parameter& parameter = callable->parameters[i];
      const bool given = std::ranges::find(call.keywords, parameter.name) != call.keywords.end();
      if (!given && i >= call.argument && !parameter.rest) Add(parameter.name + "=", kFieldItem, {}, {}, '1');
    }
  }

  // The variables whose definitions stand before the cursor, in a block around it.
  void AddVariables() {
    const ModulePart* part = nullptr;
    const FunctionPart* function = document_.analysis().FunctionAt(offset_, &part);
    if (!function) return;
    const FunctionReading& reading = *function->reading;
    const uint32_t begin = part->BeginOf(*function);
    uint32_t indentation = UINT32_MAX;
    uint32_t line = text_.LineAt(offset_);
    const uint32_t first = text_.LineAt(begin + reading.body_begin);
    std::unordered_set<std::string_view> seen;
    auto it = std::ranges::lower_bound(reading.occurrences, offset_ - begin, {}, &Occurrence::begin);
    for (uint32_t lines = 0; lines < kMostScopeLines && seen.size() < kMostVariables; ++lines) {
      const TextSpan span = text_.Line(line);
      const std::string_view content = text_.Text(span);
      const size_t column = content.find_first_not_of(" \t");
      const bool is_blank = column == std::string_view::npos || content[column] == '#';
      const bool visible = line == first || (!is_blank && column <= indentation);
      if (lines == 0 && is_blank) indentation = offset_ - span.begin;
      if (!is_blank) indentation = std::min(indentation, static_cast<uint32_t>(column));
      while (it != reading.occurrences.begin() &&
             begin + std::prev(it)->begin >= (line == first ? begin : span.begin)) {
        --it;
        const bool here = begin + it->end < offset_ || begin + it->begin > offset_;
        if (visible && here && it->kind == OccurrenceKind::kDefinition) AddVariable(*part, *function, *it, seen);
      }
      if (line == first || line == 0) return;
      --line;
    }
    is_incomplete_ = true;
  }

  void AddVariable(const ModulePart& part, const FunctionPart& function, const Occurrence& occurrence,
                   std::unordered_set<std::string_view>& seen) {
    const std::string_view name = text_.Text(part.SpanOf(function, occurrence));
    if (!seen.insert(name).second) return;
    Add(name, kVariableItem, DescribeNode(name, function.reading->symbols[occurrence.symbol]), {}, '2');
  }

  void AddWords() {
    const bool at_statement =
        context_.brackets.empty() && context_.before.find_first_not_of(" \t\n") == std::string_view::npos;
    static constexpr std::array<std::string_view, 8> kStatements = {"with", "return", "for",    "if",
                                                                    "else", "while",  "assert", "pass"};
    if (at_statement) {
      for (const std::string_view word : kStatements) Add(word, kKeywordItem, {}, {}, '8');
    } else {
      for (const std::string_view word : {"True", "False", "None"}) Add(word, kKeywordItem, {}, {}, '8');
    }
    for (const std::string_view prefix : {"I", "R", "T", "cls"}) Add(prefix, kModuleItem, {}, {}, '7');
  }

  // ---- RUN lines

  void CompleteRunLine(TextSpan line) {
    const std::string_view before = text_.Text({line.begin, offset_});
    uint32_t begin = offset_;
    const auto is_part = [&](char c) { return IsNameCharacter(c) || c == '.' || c == '-'; };
    while (begin > line.begin && is_part(text_.text()[begin - 1])) --begin;
    replaced_ = {begin, offset_};
    const size_t word = before.find_last_of(" \t'\"");
    const std::string_view flag = before.substr(word == std::string_view::npos ? 0 : word + 1);
    // A quote may be between the flag and its value.
    const size_t passes = before.rfind("-passes=");
    const bool in_passes =
        passes != std::string_view::npos && before.substr(passes).find_first_of(" \t") == std::string_view::npos;
    if (flag.find("config=") != std::string_view::npos) {
      for (const std::string& path : ConfigPaths(registry_)) Add(path, kFieldItem);
    } else if (in_passes || flag.find('=') != std::string_view::npos) {
      AddPasses();
    }
  }

  void AddPasses() {
    for (const auto& [name, pass] : registry_.passes()) Add(name, kPassItem, pass.summary);
    for (const std::string& name : PipelineNames(registry_)) Add(name, kPassItem, "pipeline");
  }

  Document& document_;
  const TextDocument& text_;
  uint32_t offset_;
  const PassRegistry& registry_;
  CursorContext context_;
  TextSpan replaced_;
  Json items_ = Json::array();
  bool is_incomplete_ = false;
};

}  // namespace

Json Completion(Document& document, uint32_t offset, const PassRegistry& registry) {
  return Completer(document, offset, registry).Run();
}

}  // namespace iropt::lsp
