#include "iropt/support/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <dtl/dtl.hpp>
#include <optional>
#include <span>
#include <utility>

#include "iropt/support/lookup.h"

namespace iropt {

namespace {

using Lines = std::vector<std::string_view>;
using Ids = std::vector<uint32_t>;  // equal for equal lines

// Between two unique lines the search for the shortest edit script takes at most about this many steps.
constexpr size_t kMaxSearch = 4'000'000;

Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

class LineDiffer {
 public:
  LineDiffer(std::string_view before, std::string_view after) : old_(SplitLines(before)), new_(SplitLines(after)) {
    LookupMap<std::string_view, uint32_t> ids;
    const auto number = [&](const Lines& lines, Ids& numbers) {
      numbers.reserve(lines.size());
      for (const std::string_view line : lines) {
        numbers.push_back(ids.try_emplace(line, static_cast<uint32_t>(ids.size())).first);
      }
    };
    number(old_, old_ids_);
    number(new_, new_ids_);
    num_ids_ = ids.size();
  }

  std::vector<DiffLine> Run() {
    Range rest{0, old_.size(), 0, new_.size()};
    for (const auto& [old_line, new_line] : UniqueCommonLines()) {
      Compare({rest.old_begin, old_line, rest.new_begin, new_line});
      Keep(old_line);
      rest.old_begin = old_line + 1;
      rest.new_begin = new_line + 1;
    }
    Compare(rest);
    return std::move(script_);
  }

 private:
  struct Range {
    size_t old_begin;
    size_t old_end;
    size_t new_begin;
    size_t new_end;
  };

  // Positions of the lines that occur once in each text: a longest list that ascends in both.
  std::vector<std::pair<size_t, size_t>> UniqueCommonLines() const {
    struct Occurrence {
      uint32_t in_old = 0;
      uint32_t in_new = 0;
      size_t new_line = 0;
    };
    std::vector<Occurrence> found(num_ids_);
    for (const uint32_t id : old_ids_) ++found[id].in_old;
    for (size_t i = 0; i < new_ids_.size(); ++i) {
      ++found[new_ids_[i]].in_new;
      found[new_ids_[i]].new_line = i;
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t i = 0; i < old_ids_.size(); ++i) {
      const Occurrence& line = found[old_ids_[i]];
      if (line.in_old == 1 && line.in_new == 1) pairs.emplace_back(i, line.new_line);
    }
    return LongestAscending(pairs);
  }

  // A longest subsequence with ascending second positions, by patience sorting.
  static std::vector<std::pair<size_t, size_t>> LongestAscending(const std::vector<std::pair<size_t, size_t>>& pairs) {
    std::vector<size_t> tops;  // of the piles: indices of pairs
    std::vector<std::optional<size_t>> below(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto pile =
          std::ranges::lower_bound(tops, pairs[i].second, {}, [&](size_t index) { return pairs[index].second; });
      if (pile != tops.begin()) below[i] = *std::prev(pile);
      pile == tops.end() ? tops.push_back(i) : static_cast<void>(*pile = i);
    }
    std::vector<std::pair<size_t, size_t>> longest;
    std::optional<size_t> at = tops.empty() ? std::nullopt : std::optional(tops.back());
    for (; at; at = below[*at]) longest.push_back(pairs[*at]);
    std::ranges::reverse(longest);
    return longest;
  }

  void Compare(Range range) {
    while (range.old_begin < range.old_end && range.new_begin < range.new_end &&
           old_ids_[range.old_begin] == new_ids_[range.new_begin]) {
      Keep(range.old_begin++);
      ++range.new_begin;
    }
    size_t kept = 0;
    while (range.old_begin < range.old_end && range.new_begin < range.new_end &&
           old_ids_[range.old_end - 1] == new_ids_[range.new_end - 1]) {
      --range.old_end;
      --range.new_end;
      ++kept;
    }
    const size_t removed = range.old_end - range.old_begin;
    const size_t added = range.new_end - range.new_begin;
    if (removed == 0 || added == 0 || removed > kMaxSearch / added) {
      Replace(range);
    } else {
      Search(range);
    }
    for (size_t i = 0; i < kept; ++i) Keep(range.old_end + i);
  }

  void Replace(const Range& range) {
    for (size_t i = range.old_begin; i < range.old_end; ++i) script_.push_back({LineChange::Removed, old_[i]});
    for (size_t i = range.new_begin; i < range.new_end; ++i) script_.push_back({LineChange::Added, new_[i]});
  }

  void Search(const Range& range) {
    const auto part = [](const Ids& ids, size_t begin, size_t end) {
      const std::span<const uint32_t> view = std::span(ids).subspan(begin, end - begin);
      return Ids(view.begin(), view.end());
    };
    dtl::Diff<uint32_t, Ids> diff(part(old_ids_, range.old_begin, range.old_end),
                                  part(new_ids_, range.new_begin, range.new_end), /*deletesFirst=*/true);
    diff.enableHuge();
    diff.compose();
    size_t old_line = range.old_begin;
    size_t new_line = range.new_begin;
    std::vector<DiffLine> added;  // after all lines that are removed in the same place
    for (const auto& [id, step] : diff.getSes().getSequence()) {
      if (step.type == dtl::SES_ADD) {
        added.push_back({LineChange::Added, new_[new_line++]});
        continue;
      }
      if (step.type == dtl::SES_DELETE) {
        script_.push_back({LineChange::Removed, old_[old_line++]});
        continue;
      }
      script_.insert(script_.end(), added.begin(), added.end());
      added.clear();
      Keep(old_line++);
      ++new_line;
    }
    script_.insert(script_.end(), added.begin(), added.end());
  }

  void Keep(size_t old_line) { script_.push_back({LineChange::Kept, old_[old_line]}); }

  const Lines old_;
  const Lines new_;
  Ids old_ids_;
  Ids new_ids_;
  size_t num_ids_ = 0;
  std::vector<DiffLine> script_;
};

// Writes the hunks of an edit script.
class HunkPrinter {
 public:
  HunkPrinter(std::span<const DiffLine> script, const UnifiedDiffOptions& options)
      : script_(script), options_(options) {}

  std::string Run() {
    for (size_t i = 0; i < script_.size();) {
      const size_t first = NextChange(i);
      if (first == script_.size()) break;
      const size_t context = static_cast<size_t>(options_.context);
      const size_t begin = first - std::min(context, first - i);
      Count(i, begin);
      const size_t end = EndOfHunk(first);
      PrintHunk(begin, end);
      i = end;
    }
    return std::move(out_);
  }

 private:
  size_t NextChange(size_t i) const {
    while (i < script_.size() && script_[i].change == LineChange::Kept) ++i;
    return i;
  }

  // Changes whose contexts touch are in one hunk.
  size_t EndOfHunk(size_t i) const {
    const size_t context = static_cast<size_t>(options_.context);
    size_t end = i;
    while (i < script_.size()) {
      while (i < script_.size() && script_[i].change != LineChange::Kept) ++i;
      end = std::min(i + context, script_.size());
      i = NextChange(i);
      if (i > end + context) break;
    }
    return end;
  }

  void Count(size_t begin, size_t end) {
    for (const DiffLine& line : script_.subspan(begin, end - begin)) {
      if (line.change != LineChange::Added) ++old_line_;
      if (line.change != LineChange::Removed) ++new_line_;
    }
  }

  void PrintHunk(size_t begin, size_t end) {
    const size_t old_begin = old_line_;
    const size_t new_begin = new_line_;
    Count(begin, end);
    const auto place = [](size_t first, size_t count) { return fmt::format("{},{}", first + (count != 0), count); };
    Line("\033[36m", fmt::format("@@ -{} +{} @@", place(old_begin, old_line_ - old_begin),
                                 place(new_begin, new_line_ - new_begin)));
    for (const DiffLine& line : script_.subspan(begin, end - begin)) {
      switch (line.change) {
        case LineChange::Kept: Line("", fmt::format(" {}", line.text)); break;
        case LineChange::Removed: Line("\033[31m", fmt::format("-{}", line.text)); break;
        case LineChange::Added: Line("\033[32m", fmt::format("+{}", line.text)); break;
      }
    }
  }

  void Line(std::string_view colour, std::string_view text) {
    const bool coloured = options_.colour && !colour.empty();
    out_ += fmt::format("{}{}{}\n", coloured ? colour : "", text, coloured ? "\033[0m" : "");
  }

  std::span<const DiffLine> script_;
  const UnifiedDiffOptions options_;
  size_t old_line_ = 0;
  size_t new_line_ = 0;
  std::string out_;
};

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after) {
  return LineDiffer(before, after).Run();
}

std::string UnifiedDiff(std::string_view before, std::string_view after, const UnifiedDiffOptions& options) {
  const std::vector<DiffLine> script = DiffLines(before, after);
  return HunkPrinter(script, options).Run();
}

}  // namespace iropt
