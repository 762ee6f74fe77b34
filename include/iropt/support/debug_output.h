// Debug output of passes and plugins by channel, for ir-opt -debug-only and for programs.
//
//   constexpr DebugChannel kDebug("fusion");
//   ...
//   IROPT_DEBUG(kDebug, "'{}' joins group {}", var->name(), group);
//
// A channel is named after a topic, in lower-case words joined by '-'; several files may share one. Without a
// DebugScope the macro reads a thread-local variable, and its arguments are not evaluated. What a pass has to tell its
// users is a remark (pass/remark.h); debug output is for those who work on the pass.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

class DebugChannel {
 public:
  // The name must live as long as the channel: a literal.
  constexpr explicit DebugChannel(std::string_view name) : name_(name) {}

  std::string_view name() const { return name_; }
  // Returns whether output of this channel is wanted.
  bool is_on() const;
  // Passes a line, without its line break, to the sink of the current scope. Call it only if is_on().
  void Print(std::string_view line) const;

 private:
  std::string_view name_;
};

// The channels that are wanted, and where their output goes. Thread-safe: the sink is called by one thread at a time.
class DebugOutput {
 public:
  // Stands for all channels.
  static constexpr std::string_view kAll = "all";
  using Sink = std::function<void(std::string_view channel, std::string_view line)>;

  DebugOutput(std::vector<std::string> channels, Sink sink);

  // The wanted channels that no code has asked for, and all that code has asked for, in the order of their names.
  std::vector<std::string> Unused() const;
  std::vector<std::string> Asked() const;

 private:
  friend class DebugChannel;

  bool Wants(std::string_view channel);
  void Print(std::string_view channel, std::string_view line);

  const std::set<std::string, std::less<>> channels_;
  const Sink sink_;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> asked_;
};

// During its lifetime, the channels of this thread and of the threads of its parallel loops print to `output`, which
// must outlive it.
class DebugScope {
 public:
  explicit DebugScope(DebugOutput& output);
  DebugScope(const DebugScope&) = delete;
  DebugScope& operator=(const DebugScope&) = delete;
  ~DebugScope();

 private:
  DebugOutput* outer_;
};

// Prints a line in the format of fmt::format to the channel if that is on.
#define IROPT_DEBUG(channel, ...)                                                                                      \
  do {                                                                                                                 \
    if ((channel).is_on()) (channel).Print(::fmt::format(__VA_ARGS__));                                                \
  } while (false)

}  // namespace iropt
