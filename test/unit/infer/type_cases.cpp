#include "type_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace iropt {
namespace {

struct Declaration {
  std::string name;
  std::string type;
};

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns whether the text mentions the name as a whole word.
bool Mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool starts = at == 0 || (!IsNameChar(text[at - 1]) && text[at - 1] != '.');
    if (starts && (end == text.size() || !IsNameChar(text[end]))) return true;
  }
  return false;
}

std::string Replace(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos;) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

class CaseReader {
 public:
  CaseReader(std::string file, std::vector<TypeCase>& cases) : file_(std::move(file)), cases_(cases) {}

  void Line(std::string line) {
    ++line_number_;
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty() || line[0] == '#') return;
    if (line[0] == '[') {
      ops_ = {""};
      dtypes_.clear();
      declarations_.clear();
      sizes_.clear();
      globals_.clear();
    } else if (line.starts_with("sizes ")) {
      sizes_ = line.substr(6);
    } else if (line.starts_with("each ")) {
      ops_ = Words(line.substr(5));
    } else if (line.starts_with("dtypes ")) {
      dtypes_ = Words(line.substr(7));
    } else if (line.starts_with("global ")) {
      globals_ += "    " + line.substr(7) + "\n";
    } else if (line.starts_with("R.")) {
      AddCases(line);
    } else {
      const size_t colon = line.find(": ");
      if (colon == std::string::npos) throw std::runtime_error(fmt::format("{}:{}: {}", file_, line_number_, line));
      declarations_.push_back({line.substr(0, colon), line.substr(colon + 2)});
    }
  }

 private:
  void AddCases(const std::string& line) {
    using Kind = TypeCase::Kind;
    Kind kind = Kind::kRefused;
    size_t split = line.find(" !! ");
    if (split == std::string::npos) kind = Kind::kValue, split = line.rfind(" == ");
    if (split == std::string::npos) kind = Kind::kType, split = line.rfind(" -> ");
    if (split == std::string::npos) throw std::runtime_error(fmt::format("{}:{}: {}", file_, line_number_, line));
    const bool typed = line.find("$dtype") != std::string::npos;
    for (const std::string& op : ops_) {
      for (const std::string& dtype : typed ? dtypes_ : std::vector<std::string>{""}) {
        TypeCase c;
        c.file = file_;
        c.line = line_number_;
        c.call = Replace(Replace(line.substr(0, split), "$op", op), "$dtype", dtype);
        c.expected = Replace(line.substr(split + 4), "$dtype", dtype);
        c.sizes = sizes_;
        c.globals = globals_;
        c.kind = kind;
        c.dtype = dtype;
        c.declarations = DeclarationsOf(c.call + " " + (kind == Kind::kRefused ? "" : c.expected));
        cases_.push_back(std::move(c));
      }
    }
  }

  // A declaration may mention another one before it.
  std::string DeclarationsOf(std::string text) const {
    std::vector<std::string> lines;
    for (auto d = declarations_.rbegin(); d != declarations_.rend(); ++d) {
      if (!Mentions(text, d->name)) continue;
      text += " " + d->type;
      lines.push_back(fmt::format("        {} = R.match_cast(any, {})\n", d->name, d->type));
    }
    std::string all;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) all += *line;
    return all;
  }

  std::string file_;
  std::vector<TypeCase>& cases_;
  int line_number_ = 0;
  std::vector<std::string> ops_{""};
  std::vector<std::string> dtypes_;
  std::vector<Declaration> declarations_;
  std::string sizes_;
  std::string globals_;
};

std::vector<TypeCase> ReadTypeCases(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<TypeCase> cases;
  for (const auto& path : files) {
    std::ifstream file(path);
    CaseReader reader(path.filename().string(), cases);
    for (std::string line; std::getline(file, line);) reader.Line(std::move(line));
  }
  return cases;
}

std::string ForEachWord(const std::string& text, std::string_view format) {
  std::string all;
  for (const std::string& word : Words(text)) all += fmt::format(fmt::runtime(format), word);
  return all;
}

std::string ExpectedLine(const TypeCase& c) {
  switch (c.kind) {
    case TypeCase::Kind::kRefused: return "";
    case TypeCase::Kind::kType: return fmt::format("        expected = R.match_cast(any, {})\n", c.expected);
    case TypeCase::Kind::kValue: return fmt::format("        expected = {}\n", c.expected);
  }
  return "";
}

}  // namespace

const std::vector<TypeCase>& TypeCases() {
  static const std::vector<TypeCase> cases = [] {
    const char* folder = std::getenv("IROPT_TYPE_CASES");
    return ReadTypeCases(folder ? folder : IROPT_TYPE_CASES);
  }();
  return cases;
}

std::string ModuleText(const TypeCase& c) {
  return fmt::format(
      "@I.ir_module\nclass Module:\n{}    @R.function(pure=False, private=True)\n"
      "    def main(any: R.Object, sizes: R.Shape([{}])) -> R.Object:\n{}{}        result = {}\n{}        return any\n",
      c.globals, ForEachWord(c.sizes, "\"{}\", "), ForEachWord(c.sizes, "        {} = T.int64()\n"), c.declarations,
      c.call, ExpectedLine(c));
}

}  // namespace iropt
