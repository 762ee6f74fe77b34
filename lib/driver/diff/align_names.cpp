#include "align_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/clone.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/characters.h"
#include "iropt/support/line_diff.h"
#include "iropt/support/lookup.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr std::string_view kMarkBegin = "ir";  // a mark is "ir12v", which the printer may extend to "ir12v_1"
constexpr char kMarkEnd = 'v';

uint64_t Combine(uint64_t seed, uint64_t value) {
  return (seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2))) * 0xff51afd7ed558ccd;
}

bool IsWordCharacter(char c) { return IsLetterOrDigit(c) || c == '_'; }

// The number of the mark that the word is.
std::optional<uint32_t> MarkNumber(std::string_view word) {
  if (!word.starts_with(kMarkBegin)) return std::nullopt;
  word.remove_prefix(kMarkBegin.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end == word.data() + word.size() || *end != kMarkEnd) return std::nullopt;
  return number;
}

// The variables of a function by number, in the order in which it is copied.
class VariableNumbers {
 public:
  struct Variable {
    uint32_t number;
    std::string_view suffix;  // of a buffer that is named as its data variable: what its name has after that of it
  };

  Variable NumberOf(const Node* node, std::string_view name) {
    if (const auto* buffer = As<tir::Buffer>(node); buffer && name.starts_with(buffer->data->name))
      return {Find(buffer->data, buffer->data->name), name.substr(buffer->data->name.size())};
    return {Find(node, name), {}};
  }

  size_t size() const { return names_.size(); }
  const std::string& NameOf(uint32_t number) const { return names_[number]; }

 private:
  uint32_t Find(const Node* node, std::string_view name) {
    const auto [found, added] = numbers_.try_emplace(node, static_cast<uint32_t>(names_.size()));
    if (added) names_.emplace_back(name);
    return found;
  }

  LookupMap<const Node*, uint32_t> numbers_;
  std::vector<std::string> names_;
};

struct NamedLine {
  std::string skeleton;             // the text, with "$" for each variable
  std::vector<uint32_t> variables;  // in their order
  std::vector<bool> is_definition;  // the first occurrence in the function
  uint64_t value = 0;               // of the skeleton and of the definitions of the other variables, recursively
};

// The text of one function, by lines.
class MarkedText {
 public:
  explicit MarkedText(const ModuleEntry& entry) {
    Workspace workspace;
    const auto mark = [&](const Node* node, std::string_view name) {
      const auto [number, suffix] = numbers_.NumberOf(node, name);
      return fmt::format("{}{}{}{}", kMarkBegin, number, kMarkEnd, suffix);
    };
    const BaseFunc* copy = CloneFunction(entry.func, workspace, {.fresh_sym_vars = true, .name_of = mark});
    Module one;
    one.Set(entry.var, copy, workspace.Finish());
    const std::string text = ModuleToString(one, {.show_meta = false, .hash_constants = true});
    is_defined_.resize(numbers_.size());
    definitions_.resize(numbers_.size());
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      AddLine(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  const std::vector<NamedLine>& lines() const { return lines_; }
  VariableNumbers& numbers() { return numbers_; }
  // Returns whether the text has the variable.
  bool IsPrinted(uint32_t number) const { return number < is_defined_.size() && is_defined_[number]; }

 private:
  void AddLine(std::string_view text) {
    NamedLine& line = lines_.emplace_back();
    while (!text.empty()) {
      size_t end = 0;
      while (end < text.size() && IsWordCharacter(text[end])) ++end;
      const std::string_view word = text.substr(0, std::max<size_t>(end, 1));
      text.remove_prefix(word.size());
      const std::optional<uint32_t> number = MarkNumber(word);
      if (number && *number < is_defined_.size()) {
        line.skeleton += '$';
        line.variables.push_back(*number);
      } else {
        line.skeleton += word;
      }
    }
    line.value = std::hash<std::string_view>()(line.skeleton);
    for (const uint32_t number : line.variables) {
      if (is_defined_[number]) line.value = Combine(line.value, definitions_[number]);
    }
    for (size_t i = 0; i < line.variables.size(); ++i) {
      const uint32_t number = line.variables[i];
      line.is_definition.push_back(!is_defined_[number]);
      if (is_defined_[number]) continue;
      is_defined_[number] = true;
      definitions_[number] = Combine(line.value, i + 1);
    }
  }

  VariableNumbers numbers_;
  std::vector<NamedLine> lines_;
  std::vector<bool> is_defined_;       // by number
  std::vector<uint64_t> definitions_;  // by number, the value of the defining line and the place in it
};

// Pairs of lines, by their indices.
using Matches = std::vector<std::pair<size_t, size_t>>;

// The longest common subsequence of two lists of keys without line breaks.
Matches MatchKeys(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const auto joined = [](const std::vector<std::string>& keys) { return fmt::format("{}\n", fmt::join(keys, "\n")); };
  const std::string a = before.empty() ? std::string() : joined(before);
  const std::string b = after.empty() ? std::string() : joined(after);
  Matches matches;
  size_t i = 0;
  size_t j = 0;
  for (const DiffLine& line : DiffLines(a, b)) {
    if (line.change == LineChange::Kept) matches.emplace_back(i, j);
    i += line.change != LineChange::Added ? 1 : 0;
    j += line.change != LineChange::Removed ? 1 : 0;
  }
  return matches;
}

// Calls f for each part between two matches: its first and last line in both texts, the last ones not included.
void ForEachGap(const Matches& matches, size_t before_size, size_t after_size,
                const std::function<void(size_t, size_t, size_t, size_t)>& f) {
  size_t i = 0;
  size_t j = 0;
  for (const auto& [a, b] : matches) {
    if (i < a || j < b) f(i, a, j, b);
    i = a + 1;
    j = b + 1;
  }
  if (i < before_size || j < after_size) f(i, before_size, j, after_size);
}

class Alignment {
 public:
  Alignment(MarkedText& before, MarkedText& after)
      : before_(before), after_(after), by_after_(after.numbers().size(), kNone), is_taken_(before.numbers().size()) {
    const Matches matches = MatchLines();
    for (const bool definitions : {true, false}) {
      for (const auto& [a, b] : matches) PairLines(before_.lines()[a], after_.lines()[b], definitions);
    }
    ForEachGap(matches, before_.lines().size(), after_.lines().size(),
               [&](size_t a, size_t a_end, size_t b, size_t b_end) {
                 for (; a < a_end && b < b_end; ++a, ++b) PairDefinitions(before_.lines()[a], after_.lines()[b]);
               });
  }

  // The variable of `before` that corresponds to one of `after`, or kNone.
  uint32_t Find(uint32_t after) const { return after < by_after_.size() ? by_after_[after] : kNone; }

 private:
  // Lines without variables, such as "else:", are not distinctive.
  static std::vector<std::string> ValueKeys(const std::vector<NamedLine>& lines, char side) {
    std::vector<std::string> keys;
    for (const NamedLine& line : lines) {
      keys.push_back(line.variables.empty() ? fmt::format("{}{}", side, keys.size()) : fmt::format("{:x}", line.value));
    }
    return keys;
  }

  static std::vector<std::string> Skeletons(std::span<const NamedLine> lines) {
    std::vector<std::string> keys;
    for (const NamedLine& line : lines) keys.push_back(line.skeleton);
    return keys;
  }

  Matches MatchLines() const {
    const std::span<const NamedLine> a = before_.lines();
    const std::span<const NamedLine> b = after_.lines();
    const Matches anchors = MatchKeys(ValueKeys(before_.lines(), '<'), ValueKeys(after_.lines(), '>'));
    Matches all = anchors;
    ForEachGap(anchors, a.size(), b.size(), [&](size_t i, size_t i_end, size_t j, size_t j_end) {
      for (const auto& [x, y] : MatchKeys(Skeletons(a.subspan(i, i_end - i)), Skeletons(b.subspan(j, j_end - j))))
        all.emplace_back(i + x, j + y);
    });
    std::ranges::sort(all);
    return all;
  }

  void PairLines(const NamedLine& before, const NamedLine& after, bool definitions) {
    if (before.variables.size() != after.variables.size()) return;
    for (size_t i = 0; i < before.variables.size(); ++i) {
      if (definitions && !(before.is_definition[i] && after.is_definition[i])) continue;
      Pair(before.variables[i], after.variables[i]);
    }
  }

  // Of lines that differ.
  void PairDefinitions(const NamedLine& before, const NamedLine& after) {
    size_t j = 0;
    for (size_t i = 0; i < before.variables.size(); ++i) {
      if (!before.is_definition[i]) continue;
      while (j < after.variables.size() && !after.is_definition[j]) ++j;
      if (j == after.variables.size()) return;
      Pair(before.variables[i], after.variables[j++]);
    }
  }

  void Pair(uint32_t before, uint32_t after) {
    if (is_taken_[before] || by_after_[after] != kNone) return;
    is_taken_[before] = true;
    by_after_[after] = before;
  }

  MarkedText& before_;
  MarkedText& after_;
  std::vector<uint32_t> by_after_;
  std::vector<bool> is_taken_;
};

// The names of the variables of `after`, by number.
std::vector<std::string> AlignedNames(MarkedText& before, MarkedText& after) {
  const Alignment alignment(before, after);
  std::set<std::string> taken;
  for (uint32_t i = 0; i < before.numbers().size(); ++i) taken.insert(before.numbers().NameOf(i));
  std::vector<std::string> names;
  for (uint32_t i = 0; i < after.numbers().size(); ++i) {
    const uint32_t counterpart = alignment.Find(i);
    std::string name = counterpart == kNone ? after.numbers().NameOf(i) : before.numbers().NameOf(counterpart);
    if (counterpart == kNone && after.IsPrinted(i)) {
      for (int suffix = 1; taken.contains(name); ++suffix)
        name = fmt::format("{}_{}", after.numbers().NameOf(i), suffix);
      taken.insert(name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Module AlignNames(const Module& before, const Module& after) {
  Module aligned = after;
  aligned.set_name(before.name());
  for (const ModuleEntry& entry : after.functions()) {
    const ModuleEntry* old = before.Find(entry.var->name);
    if (!old || old->func->kind != entry.func->kind || Is<ExternFunc>(entry.func)) continue;
    if (StructuralEqual(old->func, entry.func)) continue;
    MarkedText old_text(*old);
    MarkedText new_text(entry);
    const std::vector<std::string> names = AlignedNames(old_text, new_text);
    const auto rename = [&](const Node* node, std::string_view name) {
      const auto [number, suffix] = new_text.numbers().NumberOf(node, name);
      return number < names.size() ? fmt::format("{}{}", names[number], suffix) : std::string(name);
    };
    Workspace workspace;
    const BaseFunc* copy = CloneFunction(entry.func, workspace, {.fresh_sym_vars = true, .name_of = rename});
    aligned.Set(entry.var, copy, workspace.Finish());
  }
  return aligned;
}

}  // namespace iropt
