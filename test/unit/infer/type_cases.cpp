#include "type_cases.h"

#include <fmt/format.h>

#include <algorithm>
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

// Whether the text mentions the name as a whole word.
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
      declarations_.clear();
      sizes_.clear();
      globals_.clear();
    } else if (line.starts_with("sizes ")) {
      sizes_ = line.substr(6);
    } else if (line.starts_with("each ")) {
      ops_ = Words(line.substr(5));
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
    const size_t refused = line.find(" !! ");
    const size_t arrow = line.rfind(" -> ");
    const size_t split = refused != std::string::npos ? refused : arrow;
    if (split == std::string::npos) throw std::runtime_error(fmt::format("{}:{}: {}", file_, line_number_, line));
    for (const std::string& op : ops_) {
      TypeCase c;
      c.file = file_;
      c.line = line_number_;
      c.call = Replace(line.substr(0, split), "$op", op);
      c.expected = line.substr(split + 4);
      c.sizes = sizes_;
      c.globals = globals_;
      c.refused = refused != std::string::npos;
      c.declarations = DeclarationsOf(c.call + " " + (c.refused ? "" : c.expected));
      cases_.push_back(std::move(c));
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
  std::vector<Declaration> declarations_;
  std::string sizes_;
  std::string globals_;
};

}  // namespace

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

}  // namespace iropt
