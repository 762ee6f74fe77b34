#include "iropt/support/debug_output.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "iropt/support/inherited.h"

namespace iropt {

using CurrentOutput = Inherited<DebugOutput>;

DebugOutput::DebugOutput(std::vector<std::string> channels, Sink sink)
    : channels_(std::make_move_iterator(channels.begin()), std::make_move_iterator(channels.end())),
      sink_(std::move(sink)) {}

bool DebugOutput::Wants(std::string_view channel) {
  const std::scoped_lock lock(mutex_);
  if (!asked_.contains(channel)) asked_.emplace(channel);
  return channels_.contains(channel) || channels_.contains(kAll);
}

void DebugOutput::Print(std::string_view channel, std::string_view line) {
  const std::scoped_lock lock(mutex_);
  sink_(channel, line);
}

std::vector<std::string> DebugOutput::Unused() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> unused;
  std::ranges::set_difference(channels_, asked_, std::back_inserter(unused));
  std::erase(unused, kAll);
  return unused;
}

std::vector<std::string> DebugOutput::Asked() const {
  const std::scoped_lock lock(mutex_);
  return {asked_.begin(), asked_.end()};
}

DebugScope::DebugScope(DebugOutput& output) : outer_(CurrentOutput::Exchange(&output)) {}

DebugScope::~DebugScope() { CurrentOutput::Restore(outer_); }

bool DebugChannel::is_on() const {
  DebugOutput* output = CurrentOutput::Current();
  return output != nullptr && output->Wants(name_);
}

void DebugChannel::Print(std::string_view line) const {
  if (DebugOutput* output = CurrentOutput::Current()) output->Print(name_, line);
}

}  // namespace iropt
