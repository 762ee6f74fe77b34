#include <algorithm>
#include <array>
#include <string_view>

#include "features.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::lsp {

namespace {

enum TokenType : uint8_t { kNamespace, kType, kTypeParameter, kParameter, kVariable, kProperty, kFunction };
constexpr std::array<std::string_view, 7> kTypes = {"namespace", "type",     "typeParameter", "parameter",
                                                    "variable",  "property", "function"};
constexpr std::array<std::string_view, 2> kModifiers = {"definition", "readonly"};
constexpr uint32_t kDefinitionBit = 1;

// Tokens relative to one another, five numbers each.
class TokenList {
 public:
  explicit TokenList(const TextDocument& text) : text_(text) {}

  void Add(TextSpan span, TokenType type, uint32_t modifiers = 0) {
    if (span.begin >= span.end) return;
    // Tokens come in order, so the line is found by walking on.
    while (line_ + 1 < text_.num_lines() && text_.Line(line_ + 1).begin <= span.begin) ++line_;
    const TextSpan line = text_.Line(line_);
    if (span.end > line.end) return;
    const uint32_t character = Utf16Length(text_.Text({line.begin, span.begin}));
    data_.push_back(line_ - last_line_);
    data_.push_back(line_ == last_line_ ? character - last_character_ : character);
    data_.push_back(Utf16Length(text_.Text(span)));
    data_.push_back(type);
    data_.push_back(modifiers);
    last_line_ = line_;
    last_character_ = character;
  }
  void StartAt(uint32_t line) { line_ = line; }
  Json Finish() { return {{"data", std::move(data_)}}; }

 private:
  const TextDocument& text_;
  uint32_t line_ = 0;
  uint32_t last_line_ = 0;
  uint32_t last_character_ = 0;
  Json data_ = Json::array();
};

class FunctionTokens {
 public:
  FunctionTokens(const TextDocument& text, const ModulePart& part, const FunctionPart& function, TokenList& tokens)
      : text_(text), part_(part), function_(function), reading_(*function.reading), tokens_(tokens) {
    is_parameter_.resize(reading_.symbols.size());
    for (const Occurrence& occurrence : reading_.occurrences) {
      if (occurrence.begin >= reading_.body_begin) break;
      if (occurrence.kind == OccurrenceKind::kDefinition) is_parameter_[occurrence.symbol] = true;
    }
  }

  void Add(TextSpan range) {
    const uint32_t begin = part_.BeginOf(function_);
    const uint32_t from = range.begin > begin ? range.begin - begin : 0;
    auto it = std::ranges::lower_bound(reading_.occurrences, from, {}, &Occurrence::end);
    bool named = reading_.name_begin < from;
    for (; it != reading_.occurrences.end() && begin + it->begin < range.end; ++it) {
      if (!named && it->begin > reading_.name_begin) {
        tokens_.Add(part_.NameOf(function_), kFunction, kDefinitionBit);
        named = true;
      }
      Add(*it);
    }
    if (!named) tokens_.Add(part_.NameOf(function_), kFunction, kDefinitionBit);
  }

 private:
  void Add(const Occurrence& occurrence) {
    const TextSpan span = part_.SpanOf(function_, occurrence);
    switch (occurrence.kind) {
      case OccurrenceKind::kDefinition: return tokens_.Add(span, TypeOf(occurrence), kDefinitionBit);
      case OccurrenceKind::kUse: return tokens_.Add(span, TypeOf(occurrence));
      case OccurrenceKind::kFunction: return tokens_.Add(span, kFunction);
      case OccurrenceKind::kAttribute: return tokens_.Add(span, kProperty);
      case OccurrenceKind::kOperator: break;
    }
    const std::string_view name = text_.Text(span);
    const size_t first = name.find('.');
    const size_t last = name.rfind('.');
    if (first == std::string_view::npos) return;
    tokens_.Add({span.begin, span.begin + static_cast<uint32_t>(first)}, kNamespace);
    const bool is_type = name[last + 1] >= 'A' && name[last + 1] <= 'Z';
    tokens_.Add({span.begin + static_cast<uint32_t>(first) + 1, span.end}, is_type ? kType : kFunction);
  }

  TokenType TypeOf(const Occurrence& occurrence) const {
    const Node* node = reading_.symbols[occurrence.symbol];
    if (node && tir::Var::ClassOf(node->kind) && static_cast<const tir::Var*>(node)->context_owned())
      return kTypeParameter;
    return is_parameter_[occurrence.symbol] ? kParameter : kVariable;
  }

  const TextDocument& text_;
  const ModulePart& part_;
  const FunctionPart& function_;
  const FunctionReading& reading_;
  TokenList& tokens_;
  std::vector<bool> is_parameter_;
};

}  // namespace

Json SemanticTokensLegend() { return {{"tokenTypes", kTypes}, {"tokenModifiers", kModifiers}}; }

Json SemanticTokens(Document& document, TextSpan span) {
  const TextDocument& text = document.text();
  TokenList tokens(text);
  tokens.StartAt(text.LineAt(span.begin));
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      if (part.BeginOf(function) >= span.end || part.EndOf(function) <= span.begin) continue;
      FunctionTokens(text, part, function, tokens).Add(span);
    }
  }
  return tokens.Finish();
}

}  // namespace iropt::lsp
