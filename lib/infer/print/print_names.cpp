#include "iropt/infer/print/print_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "iropt/support/characters.h"
#include "iropt/support/inline_vector.h"

namespace iropt {
namespace {

constexpr std::array<bool, 256> kNameChars = [] {
  std::array<bool, 256> t{};
  for (int c = '0'; c <= '9'; ++c) t[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) t[c] = t[c - 'A' + 'a'] = true;
  t['_'] = true;
  return t;
}();
constexpr bool IsNameChar(char c) { return kNameChars[static_cast<uint8_t>(c)]; }

constexpr uint32_t kNoSuffix = UINT32_MAX;

// Takes the suffix off a name such as hint_3. kNoSuffix for other names, and for suffixes beyond 32 bits.
uint32_t TakeSuffix(std::string_view& name) {
  size_t begin = name.size();
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  if (begin == name.size() || begin == 0 || name[begin - 1] != '_') return kNoSuffix;
  uint32_t suffix = 0;
  const auto [end, status] = std::from_chars(name.data() + begin, name.data() + name.size(), suffix);
  name = name.substr(0, begin - 1);
  return status == std::errc() ? suffix : kNoSuffix;
}

}  // namespace

PrintNames::PrintNames(std::vector<std::string_view> reserved) : reserved_(std::move(reserved)) { Reset(); }

void PrintNames::Reset() {
  by_id_.clear();
  syms_.clear();
  taken_.Clear();
  log_.clear();
  arena_ = Arena();
  for (const std::string_view name : reserved_) taken_.Insert(name, 1);
}

void PrintNames::Reserve(size_t names) {
  taken_.Reserve(taken_.size() + names);
  log_.reserve(log_.size() + names);
}

std::string_view PrintNames::Unique(std::string_view hint) {
  if (!std::ranges::all_of(hint, IsNameChar)) {
    std::string clean(hint);
    std::ranges::replace_if(clean, std::not_fn(IsNameChar), '_');
    hint = arena_.CopyString(clean);
  }
  const auto [index, fresh] = taken_.Insert(hint, 1);
  if (fresh) return hint;
  // Every suffix below the stored one is taken: Release lowers it when one is freed.
  InlineVector<char, 64> candidate;
  candidate.append(hint);
  candidate.push_back('_');
  const size_t stem = candidate.size();
  for (uint32_t i = taken_[index].value;; ++i) {
    const fmt::format_int digits(i);
    candidate.truncate(stem);
    candidate.append({digits.data(), digits.size()});
    const std::string_view name(candidate.data(), candidate.size());
    if (taken_.Find(name) != NameMap<uint32_t>::kNone) continue;
    taken_[index].value = i + 1;
    const std::string_view kept = arena_.CopyString(name);
    taken_.Insert(kept, 1);
    return kept;
  }
}

bool PrintNames::Gives(std::string_view hint, uint32_t number, std::string_view name) {
  const uint32_t index = taken_.Find(hint);
  if (index == NameMap<uint32_t>::kNone || taken_.Find(name) != NameMap<uint32_t>::kNone) return false;
  // As in Unique, what is found is kept for the next request.
  uint32_t& next = taken_[index].value;
  while (next < number && taken_.Find(fmt::format("{}_{}", hint, next)) != NameMap<uint32_t>::kNone) ++next;
  return next >= number;
}

std::string_view PrintNames::Record(std::string_view name, uint32_t id, const tir::Var* sym, bool takes_name) {
  if (id != kNoId) {
    if (id >= by_id_.size()) by_id_.resize(std::max<size_t>(id + 1, by_id_.size() * 2));
    by_id_[id] = name;
  } else if (sym) {
    syms_[sym] = name;
  }
  log_.push_back({id, takes_name, sym});
  return name;
}

std::string_view PrintNames::Define(const Var* var) {
  if (const std::string_view known = Find(var); !known.empty()) return known;
  return Record(Unique(var->name().empty() ? "v" : var->name()), var->id, nullptr);
}

std::string_view PrintNames::Define(const tir::Var* var) {
  if (const std::string_view known = Find(var); !known.empty()) return known;
  const bool sym = var->context_owned();
  return Record(Unique(var->name.empty() ? "v" : var->name), sym ? kNoId : var->id, sym ? var : nullptr);
}

std::string_view PrintNames::Define(const tir::Buffer* buffer, std::string_view hint) {
  if (const std::string_view known = Find(buffer); !known.empty()) return known;
  return Record(Unique(hint.empty() ? "buffer" : hint), buffer->id, nullptr);
}

std::string_view PrintNames::DefineText(std::string_view hint) { return Record(Unique(hint), kNoId, nullptr); }

void PrintNames::Alias(const Var* var, std::string_view text) {
  Record(arena_.CopyString(text), var->id, nullptr, false);
}

void PrintNames::Alias(const tir::Var* var, std::string_view text) {
  const bool sym = var->context_owned();
  Record(arena_.CopyString(text), sym ? kNoId : var->id, sym ? var : nullptr, false);
}

void PrintNames::Alias(const tir::Buffer* buffer, std::string_view text) {
  Record(arena_.CopyString(text), buffer->id, nullptr, false);
}

std::string_view PrintNames::Find(const tir::Var* var) const {
  if (!var->context_owned()) return var->id < by_id_.size() ? by_id_[var->id] : std::string_view();
  const auto it = syms_.find(var);
  return it == syms_.end() ? std::string_view() : it->second;
}

void PrintNames::Release(size_t mark) {
  while (log_.size() > mark) {
    const Definition d = log_.back();
    log_.pop_back();
    if (d.id != kNoId) by_id_[d.id] = {};
    if (d.sym) syms_.erase(d.sym);
    if (!d.takes_name) continue;
    std::string_view name = taken_[taken_.size() - 1].name();
    taken_.PopBack();
    // hint_3 is free again: the next request for `hint` must try 3 before the higher ones.
    const uint32_t suffix = TakeSuffix(name);
    if (suffix == kNoSuffix) continue;
    const uint32_t hint = taken_.Find(name);
    if (hint == NameMap<uint32_t>::kNone || suffix >= taken_[hint].value) continue;
    taken_[hint].value = std::max<uint32_t>(suffix, 1);
  }
}

}  // namespace iropt
