#include "iropt/pass/pass_range.h"

#include <fmt/format.h>

#include <charconv>

namespace iropt {

namespace {

// Nothing if the text is not a number from 1.
std::optional<int64_t> ParseRunNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool ok = error == std::errc() && end == text.data() + text.size() && number > 0;
  return ok ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<PassPoint> ParsePassPoint(std::string_view text) {
  if (const std::optional<int64_t> number = ParseRunNumber(text)) return PassPoint{{}, *number, std::string(text)};
  const size_t colon = text.find(':');
  PassPoint point{std::string(text.substr(0, colon)), 1, std::string(text)};
  if (colon != std::string_view::npos) {
    const std::optional<int64_t> number = ParseRunNumber(text.substr(colon + 1));
    if (number) point.number = *number;
    if (!number) point.pass.clear();
  }
  const bool is_number = point.pass.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return point;
  return Error{ErrorCode::Usage, fmt::format("expected PASS, PASS:N or N with a number from 1, not '{}'", text)};
}

const PassPoint* PassRange::missing() const {
  if (start_ && !has_started_) return &*start_;
  return stop_ && !has_stopped_ ? &*stop_ : nullptr;
}

void PassRange::BeginPipeline() {
  num_runs_ = 0;
  runs_ = {};
  has_started_ = false;
  has_stopped_ = false;
}

Status PassRange::EnterPassContext() {
  depth_ = 0;
  return {};
}

bool PassRange::IsAt(const std::optional<PassPoint>& point, const PassInfo& info) const {
  if (!point) return false;
  if (point->pass.empty()) return num_runs_ == point->number;
  return point->pass == info.name && runs_.Lookup(info.name) == point->number;
}

bool PassRange::ShouldRun(const Module&, const PassInfo& info) {
  if (depth_ == 0) BeginPipeline();
  if (info.is_composite()) return true;
  ++num_runs_;
  ++runs_[info.name];
  const bool is_in_range = (!start_ || has_started_) && !has_stopped_;
  has_started_ |= IsAt(start_, info);
  has_stopped_ |= IsAt(stop_, info);
  return is_in_range;
}

Status PassRange::RunBeforePass(const Module&, const PassInfo&) {
  ++depth_;
  return {};
}

Status PassRange::RunAfterPass(const Module&, const PassInfo&, PassOutcome) {
  --depth_;
  return {};
}

std::string PassRange::VetoReason() const {
  if (has_stopped_) return fmt::format("comes after -stop-after={}", stop_->text);
  return fmt::format("does not come after -start-after={}", start_->text);
}

}  // namespace iropt
