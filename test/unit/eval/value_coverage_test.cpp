// Every operator with a kernel has a test of its values for every dtype that it takes. The tests record their
// evaluations; this one comes last, as tests run in the order of their files.
#include "operator_samples.h"

namespace iropt {

TEST_CASE("values: every operator is evaluated by a test for each of its dtypes", "[eval]") {
  const std::set<std::pair<std::string, std::string>>& tested = TestedOps();
  if (tested.size() < EvaluatedOps().size()) {
    WARN("run on its own; it says something of a run of all tests only");
    return;
  }
  for (const DataType dtype : AllTypes()) {
    OperatorSamples samples(dtype);
    for (const auto& [op, calls] : samples.calls()) {
      for (const OperatorSamples::Sample& sample : calls) {
        const std::vector<HostValue> args = OperandsOf(*sample.call);
        const Result<HostValue> result = EvalOp(*To<Op>(sample.call->op)->info, sample.call->attrs, args);
        if (!result) continue;
        const DataType of = TestedType(op, args, *result);
        const std::string name = of.is_void() ? "" : of.ToString();
        INFO(op << " of " << name << " has no test of its values");
        CHECK(tested.contains({op, name}));
      }
    }
  }
}

}  // namespace iropt
