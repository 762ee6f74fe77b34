#include "iropt/support/data_hash.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace iropt {

namespace {

constexpr std::string_view kAlgorithm = "xxh128:";
constexpr size_t kDigits = 16;  // of each half
constexpr size_t kPartBytes = size_t{16} << 20;

DataHash FromXxh(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

bool ParseHalf(std::string_view digits, uint64_t& half) {
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), half, 16);
  return error == std::errc() && last == digits.data() + digits.size();
}

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

}  // namespace

std::string DataHash::Digits() const {
  std::string digits(2 * kDigits, '0');
  for (size_t i = 0; i < kDigits; ++i) {
    const size_t shift = 4 * (kDigits - 1 - i);
    digits[i] = "0123456789abcdef"[high >> shift & 15];
    digits[kDigits + i] = "0123456789abcdef"[low >> shift & 15];
  }
  return digits;
}

std::string DataHash::ToString() const { return std::string(kAlgorithm) + Digits(); }

std::optional<DataHash> DataHash::Parse(std::string_view text) {
  DataHash hash;
  if (!text.starts_with(kAlgorithm) || text.size() != kAlgorithm.size() + 2 * kDigits) return std::nullopt;
  text.remove_prefix(kAlgorithm.size());
  if (!ParseHalf(text.substr(0, kDigits), hash.high) || !ParseHalf(text.substr(kDigits), hash.low)) return std::nullopt;
  return hash;
}

DataHash HashData(std::span<const std::byte> bytes) { return FromXxh(XXH3_128bits(bytes.data(), bytes.size())); }

DataHash HashData(std::span<const std::byte> bytes, FunctionRef<void(std::string_view)> done) {
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (size_t i = 0; i < bytes.size(); i += kPartBytes) {
    const auto part = bytes.subspan(i, std::min(kPartBytes, bytes.size() - i));
    XXH3_128bits_update(state.get(), part.data(), part.size());
    done({reinterpret_cast<const char*>(part.data()), part.size()});
  }
  return FromXxh(XXH3_128bits_digest(state.get()));
}

}  // namespace iropt
