#include <algorithm>
#include <charconv>

#include "iropt/ir/relax/builder.h"
#include "iropt/support/characters.h"

namespace iropt {

std::string_view NameTable::Unique(std::string_view hint) {
  buffer_.assign(hint);
  std::replace(buffer_.begin(), buffer_.end(), '.', '_');
  auto entry = hints_.find(std::string_view(buffer_));
  if (entry == hints_.end()) {
    const bool taken = IsTaken(buffer_);
    has_numbered_hints_ |= !buffer_.empty() && IsDigit(buffer_.back());
    entry = hints_.emplace(buffer_, 0).first;
    if (!taken) return buffer_;
  }
  for (bool taken = true; taken; ++entry->second) {
    buffer_.assign(entry->first).append(std::to_string(entry->second + 1));
    taken = has_numbered_hints_ && IsTaken(buffer_);
  }
  return buffer_;
}

// Returns whether the name was used, unchanged or as a hint and a number. Numbers have no leading zero, and those up to
// the last one tried are all taken.
bool NameTable::IsTaken(std::string_view name) const {
  if (hints_.contains(name)) return true;
  for (size_t split = name.size(); split > 1 && IsDigit(name[split - 1]); --split) {
    if (name[split - 1] == '0') continue;
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + split - 1, name.data() + name.size(), number);
    if (error != std::errc()) return false;
    const auto entry = hints_.find(name.substr(0, split - 1));
    if (entry != hints_.end() && entry->second >= number) return true;
  }
  return false;
}

}  // namespace iropt
