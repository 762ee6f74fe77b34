// The comparison of what a function computes before and after passes.
#include "semantics/compare_outcomes.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "iropt/ir/ndarray.h"

namespace iropt {
namespace {

Tensor Floats(std::initializer_list<float> values) {
  const std::shared_ptr<NDArray> array = NDArray::Make(DataType::Float(32), {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), array->MutableAs<float>().begin());
  return array;
}

RunOutcome OutcomeOf(std::vector<Tensor> tensors) {
  RunOutcome outcome;
  for (Tensor& tensor : tensors) {
    outcome.outputs.push_back({});
    outcome.outputs.back().name = "out" + std::to_string(outcome.outputs.size() - 1);
    outcome.outputs.back().tensor = std::move(tensor);
  }
  return outcome;
}

using Lines = std::vector<std::string>;

TEST_CASE("outcomes that differ in their form say how", "[semantics]") {
  const RunOutcome one = OutcomeOf({Floats({1, 2})});
  CHECK(CompareOutcomes(one, one, false, {}).differences.empty());
  CHECK(CompareOutcomes(OutcomeOf({}), one, false, {}).differences == Lines{"there are 0 outputs, expected 1"});
  RunOutcome got = one, expected = one;
  got.structure = "a tensor";
  expected.structure = "(a tensor)";
  got.overwritten_input = 2;
  got.is_written = false;
  got.num_draws = 1;
  CHECK(CompareOutcomes(got, expected, false, {}).differences ==
        Lines{"the result is a tensor, expected (a tensor)", "input 2 is overwritten",
              "an output has uninitialized elements",
              "random numbers are drawn by 1 operators whose values are used, expected 0"});
  expected.overwritten_input = 2;
  CHECK(CompareOutcomes(got, expected, false, {}).differences.size() == 3);
}

TEST_CASE("lines that are printed may differ in the last digits of numbers", "[semantics]") {
  CHECK(DescribeLines({"x = 1.00001"}, {"x = 1.0"}).empty());
  CHECK(DescribeLines({"x = 2.0"}, {"x = 1.0"}) == "'x = 2.0' is printed as line 1, expected 'x = 1.0'");
  CHECK(DescribeLines({"x1"}, {"x2"}) == "'x1' is printed as line 1, expected 'x2'");
  CHECK(DescribeLines({"a", "b"}, {"a"}) == "2 lines are printed, expected 1");
}

}  // namespace
}  // namespace iropt
