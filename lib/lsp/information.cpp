// Hover, signature help and inlay hints.
#include <fmt/format.h>

#include <string>

#include "call_context.h"
#include "callables.h"
#include "describe_node.h"
#include "features.h"
#include "iropt/infer/infer.h"
#include "test_comments.h"

namespace iropt::lsp {

namespace {

std::string Code(std::string_view text) { return fmt::format("```python\n{}\n```", text); }

Json HoverOf(const Document& document, TextSpan span, std::string text) {
  return {{"contents", Markdown(std::move(text))}, {"range", ToJson(document.text().RangeOf(span))}};
}

std::string DescribeCallable(const Callable& callable) {
  std::string text = Code(callable.label);
  if (!callable.documentation.empty()) text += "\n\n" + callable.documentation;
  return text;
}

std::string DescribeFunctionHere(const ModulePart& part, std::string_view name) {
  const std::optional<Callable> callable = FindCallable(fmt::format("cls.{}", name), &part.reading->module());
  return callable ? Code("def " + callable->label.substr(4)) : std::string();
}

std::string DescribeSymbol(const FoundOccurrence& found, const TextDocument& text) {
  const Node* node = found.node();
  std::string described = DescribeNode(found.Text(text), node);
  if (described.empty()) return {};
  described = Code(described);
  const tir::Var* var = nullptr;
  if (node && tir::Var::ClassOf(node->kind)) var = static_cast<const tir::Var*>(node);
  if (const auto* iter_var = node ? As<tir::IterVar>(node) : nullptr) var = iter_var->var;
  const std::string bounds = var ? DescribeBounds(var, found.function->reading->func) : std::string();
  return bounds.empty() ? described : described + "\n\n`" + bounds + "`";
}

// The dotted name around the offset: completion looks at what is before it, a hover at all of it.
TextSpan DottedNameAt(const TextDocument& text, uint32_t offset) {
  const std::string& content = text.text();
  const auto is_part = [&](uint32_t p) { return IsNameCharacter(content[p]) || content[p] == '.'; };
  TextSpan span{offset, offset};
  while (span.begin > 0 && is_part(span.begin - 1)) --span.begin;
  // Only up to the end of the word at the cursor: the rest is a member of it.
  while (span.end < text.size() && IsNameCharacter(content[span.end])) ++span.end;
  return span;
}

}  // namespace

Json Hover(Document& document, uint32_t offset, const PassRegistry& registry) {
  if (std::optional<HoverText> comment = HoverOfComment(document, offset, registry))
    return HoverOf(document, comment->span, std::move(comment->text));
  if (document.kind() == DocumentKind::kPipeline) return nullptr;
  if (document.kind() == DocumentKind::kPython && !document.analysis().PartAt(offset)) return nullptr;
  const FoundOccurrence found = document.analysis().Find(offset);
  const TextDocument& text = document.text();
  const bool is_function = found.part && !found.span_is_empty() &&
                           (!found.occurrence || found.occurrence->kind == OccurrenceKind::kFunction);
  if (is_function) {
    std::string described = DescribeFunctionHere(*found.part, found.Text(text));
    if (!described.empty()) return HoverOf(document, found.span, std::move(described));
  }
  if (found.occurrence && found.occurrence->kind <= OccurrenceKind::kUse) {
    std::string described = DescribeSymbol(found, text);
    if (!described.empty()) return HoverOf(document, found.span, std::move(described));
  }
  if (found.occurrence && found.occurrence->kind == OccurrenceKind::kAttribute) {
    const CursorContext context = ContextAt(text, found.span.begin);
    const std::optional<Callable> callable =
        context.call() ? FindCallable(document.analysis().WithUsualPrefix(context.call()->callee), nullptr)
                       : std::nullopt;
    if (callable) return HoverOf(document, found.span, DescribeCallable(*callable));
  }
  const TextSpan name = found.occurrence ? found.span : DottedNameAt(text, offset);
  const ModulePart* part = document.analysis().PartAt(offset);
  const std::optional<Callable> callable = FindCallable(document.analysis().WithUsualPrefix(text.Text(name)),
                                                        part && part->reading ? &part->reading->module() : nullptr);
  if (callable) return HoverOf(document, name, DescribeCallable(*callable));
  return nullptr;
}

Json SignatureHelp(Document& document, uint32_t offset) {
  const CursorContext context = ContextAt(document.text(), offset);
  const OpenBracket* call = context.call();
  if (!call || context.in_comment) return nullptr;
  const ModulePart* part = document.analysis().PartAt(offset);
  if (document.kind() == DocumentKind::kPython && !part) return nullptr;
  const std::optional<Callable> callable =
      FindCallable(document.analysis().WithUsualPrefix(call->callee), part ? &part->reading->module() : nullptr);
  if (!callable) return nullptr;
  Json parameters = Json::array();
  for (const Callable::Parameter& parameter : callable->parameters) {
    const std::string_view label = callable->label;
    parameters.push_back(
        {{"label", {Utf16Length(label.substr(0, parameter.begin)), Utf16Length(label.substr(0, parameter.end))}}});
  }
  Json signature = {{"label", callable->label}, {"parameters", parameters}};
  if (!callable->documentation.empty()) signature["documentation"] = Markdown(callable->documentation);
  // A call in another bracket, such as a tuple, is at the argument that the bracket is in.
  const size_t active = callable->ParameterOf(call->argument, call->keyword);
  return {{"signatures", {signature}}, {"activeSignature", 0}, {"activeParameter", active}};
}

Json InlayHints(Document& document, TextSpan span) {
  constexpr int kType = 1;
  constexpr size_t kLongest = 120;
  Json hints = Json::array();
  const std::string& text = document.text().text();
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      if (part.BeginOf(function) > span.end || part.EndOf(function) < span.begin) continue;
      for (const Occurrence& occurrence : function.reading->occurrences) {
        const TextSpan name = part.SpanOf(function, occurrence);
        if (occurrence.kind != OccurrenceKind::kDefinition || name.begin < span.begin || name.end > span.end) continue;
        const Node* node = function.reading->symbols[occurrence.symbol];
        // x = value, and not x: type = value.
        const size_t next = text.find_first_not_of(' ', name.end);
        if (!node || !Var::ClassOf(node->kind) || next == std::string::npos || text[next] != '=') continue;
        const Type* type = static_cast<const Expr*>(node)->type;
        std::string described = type ? TypeToString(type) : std::string();
        if (described.empty() || ObjectType::IsAfterError(type)) continue;
        Json hint = {{"position", ToJson(document.text().PositionOf(name.end))}, {"kind", kType}};
        if (described.size() > kLongest) {
          hint["tooltip"] = described;
          hint["label"] = ": " + described.substr(0, kLongest) + "...";
        } else {
          hint["label"] = ": " + described;
          hint["textEdits"] = {TextEdit(document.text().RangeOf({name.end, name.end}), ": " + described)};
        }
        hints.push_back(std::move(hint));
      }
    }
  }
  return hints;
}

}  // namespace iropt::lsp
