// Every operator with a kernel has a test of its values. The tests note which operators they evaluate; this one comes
// last, as tests run in the order of their files.
#include "eval_test_util.h"

namespace iropt {

TEST_CASE("values: every operator is evaluated by a test", "[eval]") {
  const std::set<std::string, std::less<>>& tested = TestedOps();
  if (tested.size() < KernelNames().size() / 2) {
    WARN("run on its own; it says something of a run of all tests only");
    return;
  }
  for (const std::string_view op : KernelNames()) {
    INFO(op << " has no test of its values");
    CHECK(tested.contains(op));
  }
}

}  // namespace iropt
