// Debug output by channel.
#include "iropt/support/debug_output.h"

#include <string>
#include <vector>

#include "catch.h"
#include "iropt/support/parallel.h"

using namespace iropt;

namespace {

constexpr DebugChannel kFusion("fusion");
constexpr DebugChannel kInline("inline");

using Lines = std::vector<std::string>;

DebugOutput::Sink Into(Lines& lines) {
  return [&lines](std::string_view channel, std::string_view line) {
    lines.push_back(std::string(channel) + ": " + std::string(line));
  };
}

}  // namespace

TEST_CASE("only channels that are on print, and only in a scope", "[support]") {
  Lines lines;
  DebugOutput output({"fusion"}, Into(lines));
  IROPT_DEBUG(kFusion, "before");
  {
    const DebugScope scope(output);
    IROPT_DEBUG(kFusion, "{} joins group {}", "lv", 1);
    IROPT_DEBUG(kInline, "not wanted");
    DebugOutput inner_output({}, Into(lines));
    {
      const DebugScope inner(inner_output);
      IROPT_DEBUG(kFusion, "not wanted inside");
    }
    IROPT_DEBUG(kFusion, "after");
  }
  IROPT_DEBUG(kFusion, "outside");
  CHECK(lines == Lines{"fusion: lv joins group 1", "fusion: after"});
  CHECK(output.Asked() == Lines{"fusion", "inline"});
  CHECK(output.Unused().empty());
}

TEST_CASE("arguments of debug output that is off are not evaluated", "[support]") {
  int evaluated = 0;
  IROPT_DEBUG(kFusion, "{}", ++evaluated);
  Lines lines;
  DebugOutput output({"inline"}, Into(lines));
  const DebugScope scope(output);
  IROPT_DEBUG(kFusion, "{}", ++evaluated);
  CHECK(evaluated == 0);
  IROPT_DEBUG(kInline, "{}", ++evaluated);
  CHECK(lines == Lines{"inline: 1"});
}

TEST_CASE("all channels can be wanted, and unused ones are known", "[support]") {
  Lines lines;
  DebugOutput output({"all", "fuson"}, Into(lines));
  const DebugScope scope(output);
  IROPT_DEBUG(kFusion, "a");
  IROPT_DEBUG(kInline, "b");
  CHECK(lines == Lines{"fusion: a", "inline: b"});
  CHECK(output.Unused() == Lines{"fuson"});
}

TEST_CASE("the threads of a parallel loop print for the thread that started it", "[support]") {
  Lines lines;
  DebugOutput output({"fusion"}, Into(lines));
  const DebugScope scope(output);
  ParallelFor(1000, 4, [](size_t i) { IROPT_DEBUG(kFusion, "{}", i); });
  CHECK(lines.size() == 1000);
}
