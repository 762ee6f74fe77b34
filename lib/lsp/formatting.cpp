// The canonical text of a module, with the comments where they stand.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features.h"
#include "iropt/support/line_diff.h"
#include "iropt/text/script/lexer.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt::lsp {

namespace {

std::string_view Trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// The offset of the comment in a line of code, which no string has; npos if there is none.
size_t CommentIn(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == quote)
        quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#') {
      return i;
    }
  }
  return std::string_view::npos;
}

bool IsImport(std::string_view line) { return line.starts_with("from ") || line.starts_with("import "); }

// A line of code with the comments that belong to it.
struct CodeLine {
  std::string code;  // without blanks around it
  std::vector<std::string_view> above;
  std::string_view behind;
};

struct SplitText {
  std::vector<CodeLine> lines;
  std::vector<std::string_view> below;  // comments after the last line of code
};

// Comments of the canonical text itself are code here, so that they are not doubled. Imports, and blank lines before
// the first line of code, stay as comments do.
SplitText SplitComments(std::string_view text, const std::vector<std::string_view>& canonical_comments) {
  SplitText split;
  for (const std::string_view line : LinesOf(text)) {
    const std::string_view content = Trimmed(line);
    const bool is_code = std::ranges::find(canonical_comments, content) != canonical_comments.end();
    if (content.empty() && !split.lines.empty()) continue;
    if (content.empty() || IsImport(line) || (content[0] == '#' && !is_code)) {
      split.below.push_back(line);
      continue;
    }
    const size_t comment = is_code ? std::string_view::npos : CommentIn(content);
    CodeLine& code = split.lines.emplace_back();
    code.code = Trimmed(content.substr(0, comment));
    code.above = std::move(split.below);
    split.below.clear();
    if (comment != std::string_view::npos) code.behind = content.substr(comment);
  }
  return split;
}

std::string Joined(const SplitText& split) {
  std::string text;
  for (const CodeLine& line : split.lines) text += line.code + "\n";
  return text;
}

void AppendAbove(const std::vector<std::string_view>& comments, std::string_view line, std::string& out) {
  const std::string_view indentation = line.substr(0, std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string_view comment : comments) {
    // Comments in the first column, such as those of lit, stay there.
    if (!comment.empty() && comment[0] != '#') out += indentation;
    out += comment.empty() || comment[0] == '#' ? comment : Trimmed(comment);
    out += '\n';
  }
}

// The canonical text with the comments of the old one: those of a line that is kept stay with it, others go to the line
// that comes next.
std::string WithComments(std::string_view old_text, const std::string& canonical) {
  const std::vector<std::string_view> canonical_lines = LinesOf(canonical);
  std::vector<std::string_view> canonical_comments;
  std::string canonical_code;
  std::vector<size_t> line_of_code;  // by line of canonical_code
  for (size_t i = 0; i < canonical_lines.size(); ++i) {
    const std::string_view content = Trimmed(canonical_lines[i]);
    if (content.empty()) continue;
    if (content[0] == '#') canonical_comments.push_back(content);
    canonical_code.append(content).append("\n");
    line_of_code.push_back(i);
  }
  const SplitText old_lines = SplitComments(old_text, canonical_comments);
  const std::string old_code = Joined(old_lines);
  std::vector<std::vector<std::string_view>> above(canonical_lines.size() + 1);
  std::vector<std::string_view> behind(canonical_lines.size());
  const auto place = [&](const CodeLine& line, size_t target) {
    above[target].insert(above[target].end(), line.above.begin(), line.above.end());
    if (line.behind.empty()) return;
    if (target < behind.size() && behind[target].empty()) {
      behind[target] = line.behind;
    } else {
      above[target].push_back(line.behind);
    }
  };
  const auto target_of = [&](size_t line) {
    return line < line_of_code.size() ? line_of_code[line] : canonical_lines.size();
  };
  const std::vector<DiffLine> diff = DiffLines(old_code, canonical_code);
  size_t old_line = 0;
  size_t new_line = 0;
  for (size_t i = 0; i < diff.size();) {
    if (diff[i].change == LineChange::Kept) {
      place(old_lines.lines[old_line++], target_of(new_line++));
      ++i;
      continue;
    }
    // Lines that others replace, in their order.
    size_t removed = 0;
    size_t added = 0;
    for (; i < diff.size() && diff[i].change == LineChange::Removed; ++i) ++removed;
    for (; i < diff.size() && diff[i].change == LineChange::Added; ++i) ++added;
    for (size_t k = 0; k < removed; ++k)
      place(old_lines.lines[old_line + k], target_of(new_line + std::min(k, added == 0 ? 0 : added - 1)));
    old_line += removed;
    new_line += added;
  }
  std::string text;
  for (size_t i = 0; i < canonical_lines.size(); ++i) {
    AppendAbove(above[i], canonical_lines[i], text);
    text += canonical_lines[i];
    if (!behind[i].empty()) text.append("  ").append(behind[i]);
    text += '\n';
  }
  AppendAbove(above.back(), "", text);
  AppendAbove(old_lines.below, "", text);
  return text;
}

// The canonical text of a module; nothing if it can't be read.
std::optional<std::string> Canonical(std::string_view text) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  const std::optional<Module> module = ParseModule(text, ModulePart::kBase, {}, engine);
  if (!module || !CheckTextSize(*module, engine) || !CheckTextVersion(*module, engine)) return std::nullopt;
  return ModuleToString(*module);
}

// Without the imports that the printer writes as comments, since the text has its own.
std::string WithoutImports(std::string_view canonical) {
  constexpr std::string_view kImport = "# from ";
  while (canonical.starts_with('\n') || canonical.starts_with(kImport))
    canonical.remove_prefix(std::min(canonical.find('\n'), canonical.size() - 1) + 1);
  return std::string(canonical);
}

// The edits by lines from one text to another one, whose first line is at `first_line` of the document.
void AddLineEdits(const TextDocument& document, std::string_view before, std::string_view after, uint32_t first_line,
                  Json& edits) {
  uint32_t line = first_line;
  uint32_t begin = line;
  std::string added;
  const auto flush = [&] {
    if (begin != line || !added.empty())
      edits.push_back(TextEdit({{begin, 0}, {line, 0}}, WithLineBreaksOf(document, added)));
    added.clear();
  };
  for (const DiffLine& diff : DiffLines(before, after)) {
    if (diff.change == LineChange::Kept) {
      flush();
      begin = ++line;
    } else if (diff.change == LineChange::Removed) {
      ++line;
    } else {
      added.append(diff.text).append("\n");
    }
  }
  flush();
}

}  // namespace

Json CanonicalText(Document& document) {
  Json edits = Json::array();
  const TextDocument& text = document.text();
  if (document.kind() != DocumentKind::kScript) return edits;
  for (const ModulePart& part : document.analysis().parts()) {
    std::string old_text(text.Text(part.span));
    if (!part.complete || old_text.find("# metadata") != std::string::npos) continue;
    for (size_t at = 0; (at = old_text.find("\r\n", at)) != std::string::npos;) old_text.erase(at, 1);
    // Line breaks that are one \r count as lines in the protocol only.
    if (old_text.find('\r') != std::string::npos) continue;
    std::optional<std::string> canonical = Canonical(old_text);
    if (!canonical) continue;
    if (std::ranges::any_of(LinesOf(old_text), IsImport)) canonical = WithoutImports(*canonical);
    AddLineEdits(text, old_text, WithComments(old_text, *canonical), text.LineAt(part.span.begin), edits);
  }
  return edits;
}

}  // namespace iropt::lsp
