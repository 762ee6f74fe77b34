#include "cpu_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "target_facts.h"

namespace iropt::schedule {

namespace {

std::string_view TextOf(const TargetAttr* target, std::string_view key) {
  const auto* text = As<StrAttr>(target->config->Find(key));
  return text ? text->value : std::string_view();
}

bool HasFeature(const TargetAttr* target, std::string_view feature) {
  const auto* features = As<ListAttr>(target->config->Find("mattr"));
  return features && std::ranges::any_of(features->values, [&](const Attr* attr) {
           const auto* text = As<StrAttr>(attr);
           return text && text->value == feature;
         });
}

// Parts of the names of x86 processors, with the bits of their vectors.
struct ProcessorFamily {
  std::string_view part;
  int64_t vector_bits;
  DotForm dots = DotForm::kPairs;
};
constexpr auto kFamilies = std::to_array<ProcessorFamily>({
    {"avx512", 512},
    {"cascadelake", 512, DotForm::kBytes},
    {"cooperlake", 512, DotForm::kBytes},
    {"icelake", 512, DotForm::kBytes},
    {"tigerlake", 512, DotForm::kBytes},
    {"rocketlake", 512, DotForm::kBytes},
    {"sapphirerapids", 512, DotForm::kBytes},
    {"emerald", 512, DotForm::kBytes},
    {"granite", 512, DotForm::kBytes},
    {"x86-64-v4", 512},
    {"knl", 512, DotForm::kNone},
    {"knm", 512, DotForm::kNone},
    {"znver4", 512, DotForm::kBytes},
    {"znver5", 512, DotForm::kBytes},
    {"haswell", 256},
    {"broadwell", 256},
    {"skylake", 256},
    {"alderlake", 256, DotForm::kBytes},
    {"raptorlake", 256, DotForm::kBytes},
    {"meteorlake", 256, DotForm::kBytes},
    {"arrowlake", 256, DotForm::kBytes},
    {"lunarlake", 256, DotForm::kBytes},
    {"sierraforest", 256, DotForm::kBytes},
    {"core-avx", 256, DotForm::kNone},
    {"x86-64-v3", 256},
    {"znver", 256},
    {"bdver4", 256},
});

const ProcessorFamily* FamilyOf(const TargetAttr* target) {
  const std::string_view processor = TextOf(target, "mcpu");
  const auto* family = std::ranges::find_if(
      kFamilies, [&](const ProcessorFamily& row) { return processor.find(row.part) != std::string_view::npos; });
  return family == kFamilies.end() ? nullptr : family;
}

// Of 64 bits, which have 32 vector registers.
bool IsArm(const TargetAttr* target) {
  const std::string_view triple = TextOf(target, "mtriple");
  const std::string_view processor = TextOf(target, "mcpu");
  constexpr std::string_view kProcessors[] = {"neoverse", "cortex-x", "apple-", "ampere"};
  return triple.starts_with("aarch64") || triple.starts_with("arm64") ||
         std::ranges::any_of(kProcessors, [&](std::string_view name) { return processor.starts_with(name); });
}

int64_t VectorBitsOf(const TargetAttr* target) {
  if (const auto* given = As<IntAttr>(target->config->Find("vector-width"))) return given->value;
  if (HasFeature(target, "+avx512f")) return 512;
  if (HasFeature(target, "+avx2") || HasFeature(target, "+avx")) return 256;
  const ProcessorFamily* family = FamilyOf(target);
  return family ? family->vector_bits : CpuFacts().vector_bits;
}

DotForm DotFormOf(const TargetAttr* target) {
  if (HasFeature(target, "+avx512vnni") || HasFeature(target, "+avxvnni")) return DotForm::kBytes;
  if (HasFeature(target, "+avx512bw") || HasFeature(target, "+avx2")) return DotForm::kPairs;
  const ProcessorFamily* family = FamilyOf(target);
  return family ? family->dots : DotForm::kNone;
}

// The key of a choice among the options of a target.
constexpr std::string_view kTileChoice = "tile-choice";
// The greatest number in one: that of the vector registers of a processor.
constexpr int64_t kMostOfChoice = 32;

// In the order of the fields. The target may come from a user: other values than those that WithTileChoice writes leave
// the choice to the rule.
TileChoice ReadChoice(const Attr* attr) {
  constexpr size_t kNumFields = 5;
  const auto* list = As<ListAttr>(attr);
  if (!list || list->values.size() != kNumFields) return {};
  std::array<int64_t, kNumFields> values;
  for (uint32_t i = 0; i < kNumFields; ++i) {
    const auto* value = As<IntAttr>(list->values[i]);
    if (!value || value->value < 0 || value->value > kMostOfChoice) return {};
    values[i] = value->value;
  }
  if (values[2] == 0) return {};
  return {.rows = values[0],
          .vectors = values[1],
          .vector_parts = values[2],
          .has_no_parts = values[3] != 0,
          .turns_loops = values[4] != 0};
}

}  // namespace

const TargetAttr* WithTileChoice(const TargetAttr& target, const TileChoice& choice) {
  const Attr* const values[] = {IntAttr::Get(choice.rows), IntAttr::Get(choice.vectors),
                                IntAttr::Get(choice.vector_parts), IntAttr::Get(choice.has_no_parts ? 1 : 0),
                                IntAttr::Get(choice.turns_loops ? 1 : 0)};
  return TargetAttr::Get(target.config->With(kTileChoice, ListAttr::Get(values)));
}

int64_t CpuFacts::LanesOf(DataType dtype) const {
  return std::max<int64_t>(vector_bits / std::max<int64_t>(dtype.bits, 8), 1);
}

bool IsCpu(const TargetAttr* target) { return FactsOf(target).kind == "llvm"; }

CpuFacts CpuFactsOf(const TargetAttr* target) {
  CpuFacts facts;
  facts.vector_bits = VectorBitsOf(target);
  if (facts.vector_bits >= 512 || IsArm(target)) facts.registers = 32;
  facts.dots = DotFormOf(target);
  facts.choice = ReadChoice(target->config->Find(kTileChoice));
  facts.vector_bits /= facts.choice.vector_parts;
  return facts;
}

}  // namespace iropt::schedule
