#include "target_facts.h"

#include <algorithm>
#include <utility>

#include "block_info.h"

namespace iropt::schedule {

namespace {

// Returns whether a value of the attribute, or of one in it, has the text in it, as TVM looks for it in the printed
// target.
bool Mentions(const Attr* attr, std::string_view text) {
  if (const auto* value = As<StrAttr>(attr)) return value->value.find(text) != std::string_view::npos;
  const auto mentions = [&](const Attr* part) { return Mentions(part, text); };
  if (const auto* list = As<ListAttr>(attr)) return std::ranges::any_of(list->values, mentions);
  if (const auto* dict = As<DictAttr>(attr)) return std::ranges::any_of(dict->values, mentions);
  const auto* target = As<TargetAttr>(attr);
  return target && Mentions(target->config, text);
}

}  // namespace

TargetFacts FactsOf(const TargetAttr* target) {
  TargetFacts facts;
  if (!target) return facts;
  if (const auto* kind = As<StrAttr>(target->config->Find("kind"))) facts.kind = kind->value;
  if (const auto* arch = As<StrAttr>(target->config->Find("arch"))) facts.arch = arch->value;
  if (const auto* keys = As<ListAttr>(target->config->Find("keys"))) {
    facts.is_gpu = std::ranges::any_of(keys->values, [](const Attr* key) {
      const auto* text = As<StrAttr>(key);
      return text && text->value == "gpu";
    });
  }
  if (facts.kind == "opencl") {
    const DictAttr* own = target->config->Without("host")->Without("keys");
    facts.is_android = Mentions(target->config->Find("host"), "android");
    facts.is_adreno = Mentions(own, "adreno");
    facts.is_mali = Mentions(own, "mali");
  }
  if (facts.kind == "cuda") facts.max_threads_per_block = 1024;
  facts.max_num_threads = facts.max_threads_per_block;
  if (const auto* given = As<IntAttr>(target->config->Find("max_num_threads")))
    facts.max_num_threads = facts.max_threads_per_block = given->value;
  if (const auto* given = As<IntAttr>(target->config->Find("max_threads_per_block")))
    facts.max_threads_per_block = given->value;
  constexpr std::pair<std::string_view, int64_t> kSharedMemories[] = {
      {"cuda", 49152}, {"rocm", 65536}, {"metal", 32768}};
  for (const auto& [kind, size] : kSharedMemories) {
    if (facts.kind == kind) facts.max_shared_memory_per_block = size;
  }
  if (const auto* given = As<IntAttr>(target->config->Find("max_shared_memory_per_block")))
    facts.max_shared_memory_per_block = given->value;
  return facts;
}

std::vector<int64_t> SuggestThreadsPerBlock(const TargetFacts& target, const std::vector<const tir::For*>& loops) {
  constexpr int64_t kMaxForUnknown = 32;
  int64_t threads = 64;
  if (target.kind == "cuda") threads = 1024;
  if (target.kind == "rocm" || target.kind == "metal" || target.kind == "opencl") threads = 256;
  const auto take = [&](int64_t limit) {
    int64_t extent = 1;
    while (extent * 2 <= limit && extent * 2 <= threads) extent *= 2;
    threads /= extent;
    return extent;
  };
  std::vector<int64_t> result(loops.size(), 0);
  for (size_t i = 0; i < loops.size(); ++i) {
    if (const auto extent = ConstExtent(loops[i]->extent)) result[i] = take(*extent);
  }
  bool is_first = true;
  size_t first = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (ConstExtent(loops[i]->extent)) continue;
    if (std::exchange(is_first, false)) first = i;
    result[i] = take(kMaxForUnknown);
  }
  if (!is_first) result[first] *= threads;
  return result;
}

}  // namespace iropt::schedule
