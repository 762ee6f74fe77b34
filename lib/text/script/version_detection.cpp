#include "version_detection.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <set>

#include "text_scan.h"

namespace iropt::text {

std::optional<TextVersion> VersionOfMetadata(std::string_view json) {
  constexpr std::string_view kKey = "tvm_version";
  constexpr std::string_view kMajor = "0.";
  const size_t key = json.rfind(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  const std::string_view rest = json.substr(key + kKey.size());
  const size_t begin = rest.find_first_of("0123456789");
  if (begin == std::string_view::npos || !rest.substr(begin).starts_with(kMajor)) return std::nullopt;
  const std::string_view minor = rest.substr(begin + kMajor.size());
  unsigned number = 0;
  const char* const end = std::from_chars(minor.data(), minor.data() + minor.size(), number).ptr;
  if (end == minor.data()) return std::nullopt;
  // The main branch still calls itself 0.26 after that release.
  const bool is_main = minor.substr(static_cast<size_t>(end - minor.data())).starts_with(".dev");
  constexpr unsigned kOldest = 18, kNewest = 27;
  if (number < kOldest || number > kNewest) return std::nullopt;
  return static_cast<TextVersion>((is_main && number + 1 == kNewest ? kNewest : number) - kOldest);
}

namespace {

// text.find(part, from). That of the standard library looks for the first character, and a space is everywhere.
size_t FindPart(std::string_view text, std::string_view part, size_t from = 0) {
  if (from >= text.size()) return std::string_view::npos;
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : std::string_view::npos;
}

bool Has(std::string_view text, std::string_view part) { return FindPart(text, part) != std::string_view::npos; }

bool IsNameChar(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Finds a part of a text, from its beginning on, but not in comments on lines of their own. Linear in the text.
class CodeSearch {
 public:
  CodeSearch(std::string_view text, std::string_view part) : text_(text), part_(part) {}

  // The next place; npos if there is none.
  size_t Next() {
    size_t at = FindPart(text_, part_, next_);
    for (; at != std::string_view::npos; at = FindPart(text_, part_, next_)) {
      next_ = at + 1;
      if (at >= line_end_) EnterLine(at);
      if (!is_comment_) break;
      next_ = line_end_;
    }
    return at;
  }

  // Of the line of the place.
  size_t line_begin() const { return line_begin_; }
  void SkipLine() { next_ = line_end_; }

 private:
  void EnterLine(size_t at) {
    line_begin_ = text_.rfind('\n', at) + 1;
    line_end_ = std::min(text_.find('\n', at), text_.size());
    const size_t first = text_.find_first_not_of(" \t", line_begin_);
    is_comment_ = first != std::string_view::npos && text_[first] == '#';
  }

  std::string_view text_;
  std::string_view part_;
  size_t next_ = 0;
  size_t line_begin_ = 0;
  size_t line_end_ = 0;
  bool is_comment_ = false;
};

// The names at the beginnings of strings: n of ("n", 4) or ("n * 2",).
std::set<std::string_view> QuotedNames(std::string_view text) {
  std::set<std::string_view> names;
  for (size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && IsNameChar(text[end])) ++end;
    names.insert(text.substr(at + 1, end - at - 1));
  }
  return names;
}

// Returns whether a function declares a symbolic variable, n = T.int64(), that its signature has in quotes. Since 0.27
// such variables are declared before the function.
bool DeclaresQuotedNames(std::string_view functions) {
  constexpr std::string_view kDeclared = " = T.int64()", kFunction = "def ";
  constexpr size_t kNone = std::string_view::npos;
  CodeSearch search(functions, kDeclared);
  size_t function = kNone, next_function = FindPart(functions, kFunction);
  std::set<std::string_view> quoted;
  // Only the first declaration on a line has a name before it.
  for (size_t at = search.Next(); at != kNone; search.SkipLine(), at = search.Next()) {
    const size_t known_function = function;
    for (; next_function < at; next_function = FindPart(functions, kFunction, next_function + 1))
      function = next_function;
    if (function == kNone) continue;
    if (function != known_function)
      quoted = QuotedNames(functions.substr(function, functions.find('\n', function) - function));
    std::string_view name = functions.substr(search.line_begin(), at - search.line_begin());
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
    name = name.substr(0, name.find(','));
    if (!name.empty() && quoted.contains(name)) return true;
  }
  return false;
}

// A = T.match_buffer(a, (4,)): the buffer of a parameter. Since 0.26 only regions are matched.
bool MatchesParameters(std::string_view functions) {
  constexpr std::string_view kMatch = " = T.match_buffer(";
  CodeSearch search(functions, kMatch);
  for (size_t at = search.Next(); at != std::string_view::npos; at = search.Next()) {
    size_t end = at + kMatch.size();
    while (end < functions.size() && IsNameChar(functions[end])) ++end;
    if (end < functions.size() && functions[end] == ',') return true;
  }
  return false;
}

// Booleans in attributes are True instead of T.bool(True) since 0.21. Quotes in strings follow a backslash.
bool HasPlainFlags(std::string_view functions) {
  constexpr std::string_view kKey = "\"tir.", kOldValue = "\": T.bool(";
  if (Has(functions, kOldValue)) return false;
  CodeSearch search(functions, kKey);
  for (size_t at = search.Next(); at != std::string_view::npos; at = search.Next()) {
    if (at > 0 && functions[at - 1] == '\\') continue;
    const size_t end = functions.find('"', at + 1);
    if (end != std::string_view::npos && functions.substr(end + 1).starts_with(": True")) return true;
  }
  return false;
}

// Devices in types have their memory scope since 0.23: vdevice="cuda:0:global".
bool HasDevicesWithoutScope(std::string_view functions) {
  constexpr std::string_view kDevice = "vdevice=\"";
  const size_t at = FindPart(functions, kDevice);
  if (at == std::string_view::npos) return false;
  const size_t begin = at + kDevice.size();
  const std::string_view device = functions.substr(begin, functions.find('"', begin) - begin);
  return std::ranges::count(device, ':') < 2;
}

TextVersion NewestOfTirx(const VersionSigns& signs) {
  const bool has_old_names = Has(signs.functions, "out_sinfo=") || Has(signs.functions, "sinfo_args=");
  if (signs.is_printed && !signs.imports_axis) return TextVersion::kV0_24;
  if (has_old_names || (signs.is_printed && MatchesParameters(signs.functions)))
    return signs.imports_axis ? TextVersion::kV0_25 : TextVersion::kV0_24;
  return signs.is_printed && DeclaresQuotedNames(signs.functions) ? TextVersion::kV0_26 : TextVersion::kV0_27;
}

}  // namespace

std::optional<TextVersion> DetectVersion(const VersionSigns& signs) {
  if (signs.has_type_vars) return TextVersion::kV0_27;
  const auto fits = [&](TextVersion version) {
    return version >= TextVersion::kV0_24 ? !signs.imports_tir : !signs.imports_tirx;
  };
  if (signs.of_metadata && fits(*signs.of_metadata)) return signs.of_metadata;
  // TVM 0.26 renamed two arguments and a type of Relax.
  if (HasNewerName(signs.functions)) {
    const bool is_older = signs.is_printed && DeclaresQuotedNames(signs.functions);
    return is_older ? TextVersion::kV0_26 : TextVersion::kV0_27;
  }
  if (signs.imports_tirx) return NewestOfTirx(signs);
  if (!signs.imports_tir) return std::nullopt;
  if (!signs.is_printed || !HasPlainFlags(signs.functions)) return TextVersion::kV0_18;
  return HasDevicesWithoutScope(signs.functions) ? TextVersion::kV0_22 : TextVersion::kV0_23;
}

}  // namespace iropt::text
