#include "iropt/lsp/python_scripts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "call_context.h"

namespace iropt::lsp {

namespace {

bool StartsWithWord(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !IsNameCharacter(text[word.size()]));
}

bool StartsDeclaration(std::string_view text) {
  return StartsWithWord(text, "def") || StartsWithWord(text, "class") || StartsWithWord(text, "async");
}

// The offset behind the string that begins at a quote. One in single quotes ends at its line.
size_t EndOfString(std::string_view text, size_t begin) {
  const std::string_view quote = text.substr(begin, 1);
  const std::string triple(3, text[begin]);
  const bool is_long = text.substr(begin).starts_with(triple);
  for (size_t p = begin + (is_long ? 3 : 1); p < text.size(); ++p) {
    if (text[p] == '\\') {
      ++p;
    } else if (is_long ? text.substr(p).starts_with(triple) : text.substr(p).starts_with(quote)) {
      return p + (is_long ? 3 : 1);
    } else if (text[p] == '\n' && !is_long) {
      return p;
    }
  }
  return text.size();
}

size_t EndOfLine(std::string_view text, size_t begin) { return std::min(text.find('\n', begin), text.size()); }

// A statement, or the header of a compound one.
struct LogicalLine {
  size_t begin = 0;  // of its first line
  size_t first = 0;  // its first character
  size_t end = 0;    // behind its line break
  size_t indentation() const { return first - begin; }
};

// Iterates over the statements of a program.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  std::optional<LogicalLine> Next() {
    while (next_ < text_.size()) {
      const size_t begin = next_;
      const size_t first = std::min(text_.find_first_not_of(" \t\f", begin), text_.size());
      if (first == text_.size() || text_[first] == '\n' || text_[first] == '\r' || text_[first] == '#') {
        next_ = std::min(EndOfLine(text_, first) + 1, text_.size());
        continue;
      }
      next_ = EndOfStatement(first);
      return LogicalLine{begin, first, next_};
    }
    return std::nullopt;
  }

 private:
  size_t EndOfStatement(size_t begin) const {
    int depth = 0;
    for (size_t p = begin; p < text_.size(); ++p) {
      switch (text_[p]) {
        case '"':
        case '\'': p = EndOfString(text_, p) - 1; break;
        case '#': p = EndOfLine(text_, p) - 1; break;
        case '\\': ++p; break;
        case '(':
        case '[':
        case '{': ++depth; break;
        case ')':
        case ']':
        case '}': --depth; break;
        case '\n':
          if (depth <= 0 || BeginsAnother(p + 1)) return p + 1;
          break;
        default: break;
      }
    }
    return text_.size();
  }

  // Returns whether a declaration begins at a line: a bracket before it was not closed.
  bool BeginsAnother(size_t line) const {
    const size_t first = text_.find_first_not_of(" \t", line);
    if (first == std::string_view::npos) return false;
    const std::string_view rest = text_.substr(first);
    return rest.starts_with('@') || StartsDeclaration(rest) || rest.starts_with("from ") || rest.starts_with("import ");
  }

  std::string_view text_;
  size_t next_ = 0;
};

// The usual name of a script module.
std::string_view PrefixOf(std::string_view module) {
  if (module == "ir") return "I";
  if (module == "tir" || module == "tirx") return "T";
  return module == "relax" ? "R" : "";
}

std::string_view NameAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsNameCharacter(text[end])) ++end;
  return text.substr(at, end - at);
}

class ScriptFinder {
 public:
  explicit ScriptFinder(std::string_view text) : text_(text) {}

  PythonScripts Run() {
    LogicalLines lines(text_);
    // Imports may stand below, as in other functions.
    while (const auto line = lines.Next()) {
      ReadImport(*line);
      ReadConstant(*line);
    }
    FindRegions();
    AddNames();
    AddConstants();
    return std::move(found_);
  }

 private:
  std::string_view TextOf(const LogicalLine& line) const { return text_.substr(line.first, line.end - line.first); }

  // from MODULE import NAME [as NAME], ...
  void ReadImport(const LogicalLine& line) {
    const std::string_view statement = TextOf(line);
    const size_t import = statement.find(" import ");
    if (!statement.starts_with("from ") || import == std::string_view::npos) return;
    if (statement.substr(0, import).find("script") == std::string_view::npos) return;
    const size_t before = found_.aliases.size();
    bool is_alias = false;
    for (size_t p = import + 8; p < statement.size(); ++p) {
      const std::string_view name = NameAt(statement, p);
      if (name.empty()) continue;
      p += name.size() - 1;
      if (is_alias) {
        found_.aliases.back().first = name;
      } else if (name != "as") {
        found_.aliases.emplace_back(name, PrefixOf(name));
      }
      is_alias = name == "as" && found_.aliases.size() > before;
    }
    std::erase_if(found_.aliases, [](const auto& alias) { return alias.second.empty(); });
    if (found_.aliases.size() == before) return;
    AddToPrologue(statement);
  }

  void AddToPrologue(std::string_view statement) {
    found_.prologue.append(statement);
    if (!statement.ends_with('\n')) found_.prologue += '\n';
  }

  // NAME = LITERAL in the first column.
  void ReadConstant(const LogicalLine& line) {
    const std::string_view statement = TextOf(line);
    const std::string_view name = NameAt(statement, 0);
    if (line.indentation() != 0 || name.empty() || !statement.substr(name.size()).starts_with(" = ")) return;
    std::string_view value = statement.substr(name.size() + 3);
    value = value.substr(0, value.find_last_not_of(" \r\n") + 1);
    const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
    const bool is_string = value.size() > 1 && value[0] == '"' && EndOfString(value, 0) == value.size();
    if (is_number || is_string) {
      constants_.push_back({name, statement});
    } else {
      variables_.insert(name);
    }
  }

  // Those that have one value only.
  void AddConstants() {
    for (const auto& [name, statement] : constants_) {
      if (variables_.contains(name) || std::ranges::count(constants_, name, &Constant::name) > 1) continue;
      AddToPrologue(statement);
      found_.names.erase(name);
    }
  }

  bool IsScriptDecorator(std::string_view statement) const {
    static constexpr std::array<std::string_view, 3> kDecorators = {"prim_func", "function", "ir_module"};
    size_t end = 1;
    while (end < statement.size() && (IsNameCharacter(statement[end]) || statement[end] == '.')) ++end;
    const std::string_view name = statement.substr(1, end - 1);
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || std::ranges::find(kDecorators, name.substr(dot + 1)) == kDecorators.end())
      return false;
    const std::string_view module = name.substr(0, dot);
    return module.find("script") != std::string_view::npos ||
           std::ranges::find(found_.aliases, module, &std::pair<std::string_view, std::string_view>::first) !=
               found_.aliases.end();
  }

  void FindRegions() {
    LogicalLines lines(text_);
    std::optional<size_t> decorator;
    auto line = lines.Next();
    while (line) {
      const std::string_view statement = TextOf(*line);
      if (statement.starts_with('@')) {
        if (!decorator && IsScriptDecorator(statement)) decorator = line->begin;
        line = lines.Next();
        continue;
      }
      const bool is_script = decorator && StartsDeclaration(statement);
      const size_t begin = decorator.value_or(0);
      decorator.reset();
      if (!is_script) {
        line = lines.Next();
        continue;
      }
      const size_t indentation = line->indentation();
      size_t end = line->end;
      for (line = lines.Next(); line && line->indentation() > indentation; line = lines.Next()) end = line->end;
      found_.regions.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    }
  }

  void AddNames() {
    uint32_t begin = 0;
    for (const TextSpan& region : found_.regions) {
      AddNamesOf(text_.substr(begin, region.begin - begin));
      begin = region.end;
    }
    AddNamesOf(text_.substr(begin));
    for (const auto& [name, module] : found_.aliases) found_.names.erase(name);
  }

  void AddNamesOf(std::string_view code) {
    AnyPythonName(code, [&](std::string_view name) { return found_.names.insert(name), false; });
  }

  struct Constant {
    std::string_view name;
    std::string_view statement;
  };

  std::string_view text_;
  PythonScripts found_;
  std::vector<Constant> constants_;
  LookupSet<std::string_view> variables_;
};

}  // namespace

bool AnyPythonName(std::string_view code, FunctionRef<bool(std::string_view)> has_property) {
  for (size_t p = 0; p < code.size(); ++p) {
    const char c = code[p];
    if (c == '"' || c == '\'') {
      p = EndOfString(code, p) - 1;
    } else if (c == '#') {
      p = EndOfLine(code, p);
    } else if (const std::string_view name = NameAt(code, p); !name.empty()) {
      const bool is_member = p > 0 && code[p - 1] == '.';
      const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      if (!is_member && !is_number && has_property(name)) return true;
      p += name.size() - 1;
    }
  }
  return false;
}

PythonScripts FindPythonScripts(std::string_view text) { return ScriptFinder(text).Run(); }

}  // namespace iropt::lsp
