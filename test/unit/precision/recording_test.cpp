#include "iropt/precision/recording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"

namespace iropt::precision {

namespace {

Tensor TensorOf(const std::vector<float>& elements) {
  const auto tensor = NDArray::Make(DataType::Float(32), {static_cast<int64_t>(elements.size())});
  std::ranges::copy(elements, tensor->MutableAs<float>().begin());
  return tensor;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("a record counts what the elements of tensors are") {
  ValueRecord record;
  record.Add(*TensorOf({0, -0.0F, 1, -3, kInfinity, std::nanf("")}));
  record.Add(*TensorOf({7e4F, 1e-9F}));
  CHECK(record.num_elements == 8);
  CHECK(record.num_zeros == 2);
  CHECK(record.num_infinities == 1);
  CHECK(record.num_nans == 1);
  CHECK(record.least == -3);
  CHECK(record.greatest == static_cast<double>(7e4F));
  CHECK(record.histogram.total() == 4);
  const NumberFormat& half = *FormatNamed("fp16");
  CHECK(record.NumOverflows(half) == 1);
  CHECK(record.NumFlushed(half) == 1);
  CHECK(record.NumOverflows(*FormatNamed("bf16")) == 0);
  CHECK(record.NumFlushed(*FormatNamed("bf16")) == 0);
}

TEST_CASE("an empty record has no range") {
  const ValueRecord record;
  CHECK(record.GreatestMagnitude() == 0);
  CHECK(record.NumOverflows(*FormatNamed("fp16")) == 0);
  CHECK(record.histogram.Percentile(0.5) == 0);
  CHECK(DescribeRange(record) == "no finite elements");
}

TEST_CASE("a number that rounds to the greatest one does not overflow") {
  ValueRecord record;
  record.Add(*TensorOf({65519}));
  CHECK(record.NumOverflows(*FormatNamed("fp16")) == 0);
  record.Add(*TensorOf({65520}));
  CHECK(record.NumOverflows(*FormatNamed("fp16")) >= 1);
}

TEST_CASE("a histogram has its bins in order and adds up") {
  LogHistogram histogram;
  histogram.Add(std::vector<float>{1, 1.05F, -2, 0.25F, 1024});
  histogram.Add(std::vector<float>{1, -4096});
  double last = -1e30;
  uint64_t count = 0;
  histogram.ForEachBin([&](double low, double high, uint64_t in_bin) {
    CHECK(low < high);
    CHECK(low >= last);
    last = low;
    count += in_bin;
  });
  CHECK(count == 7);
  CHECK(histogram.CountBelow(1) == 1);
  CHECK(histogram.CountFrom(1000) == 2);
}

TEST_CASE("the percentile of a histogram is within a bin of the exact one") {
  std::vector<float> numbers;
  for (int i = 1; i <= 1000; ++i) numbers.push_back(static_cast<float>(i % 2 == 0 ? i : -i));
  LogHistogram histogram;
  histogram.Add(numbers);
  for (const double part : {0.1, 0.5, 0.9, 0.99}) {
    const double exact = part * 1000;
    CHECK(histogram.Percentile(part) > exact * 0.85);
    CHECK(histogram.Percentile(part) < exact * 1.15);
  }
}

}  // namespace iropt::precision
