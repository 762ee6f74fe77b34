// Remarks of passes.
#include "iropt/pass/remark.h"

#include "catch.h"
#include "iropt/support/parallel.h"

using namespace iropt;

TEST_CASE("remarks name the running pass and the function") {
  OptRemarks remarks;
  CHECK_FALSE(WantsRemarks());
  RemarkPassed("merged-call", {}, "nobody listens");
  {
    const RemarkScope outer(remarks, "fixpoint");
    {
      const RemarkScope inner(remarks, "MergeCalls");
      const RemarkFunction function("main");
      RemarkPassed("merged-call", {3, 4}, "merged");
    }
    DiagnosticBuffer shown;
    DiagnosticEngine diagnostics(&shown);
    RemarkMissed(diagnostics, "no-fixpoint", {}, "not reached");
    REQUIRE(shown.diagnostics().size() == 1);
    CHECK(shown.diagnostics()[0].severity == Severity::Remark);
  }
  CHECK_FALSE(WantsRemarks());
  const std::vector<OptRemark> all = remarks.Take();
  REQUIRE(all.size() == 2);
  CHECK(all[0].passed);
  CHECK(all[0].pass == "MergeCalls");
  CHECK(all[0].function == "main");
  CHECK_FALSE(all[1].passed);
  CHECK(all[1].pass == "fixpoint");
  CHECK(all[1].function.empty());
  CHECK(remarks.size() == 0);
}

TEST_CASE("remarks of parallel loops are sorted by function and location") {
  OptRemarks remarks;
  const std::vector<std::string> names = {"d", "c", "b", "a"};
  {
    const RemarkScope scope(remarks, "P");
    ParallelFor(names.size(), 4, [&](size_t i) {
      const RemarkFunction function(names[i]);
      RemarkPassed("n", {9, 10}, "late");
      RemarkPassed("n", {5, 6}, "early");
    });
  }
  remarks.SortFrom(0);
  const std::vector<OptRemark> all = remarks.Take();
  REQUIRE(all.size() == 8);
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].function == names[3 - i / 2]);
    CHECK(all[i].message == (i % 2 == 0 ? "early" : "late"));
  }
}
