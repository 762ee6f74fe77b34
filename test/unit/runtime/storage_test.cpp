// Storage, views of it, and what was written.
#include "catch.h"
#include "iropt/ir/ndarray.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/runtime/random.h"

namespace iropt {

constexpr int64_t kFour[] = {4};
constexpr int64_t kEight[] = {8};
constexpr int64_t kTwoByTwo[] = {2, 2};

TEST_CASE("storage: views share memory and know where they begin", "[runtime]") {
  const std::shared_ptr<Storage> storage = Storage::Make(32);
  const std::shared_ptr<NDArray> whole = NDArray::View(DataType::Int(32), kEight, storage, 0);
  const std::shared_ptr<NDArray> half = NDArray::View(DataType::Int(32), kTwoByTwo, storage, 16);
  whole->MutableAs<int32_t>()[5] = 42;
  CHECK(half->As<int32_t>()[1] == 42);
  CHECK(half->storage() == storage);
  CHECK(half->storage_offset() == 16);
  CHECK(NDArray::Make(DataType::Int(32), {8})->storage() == nullptr);
}

TEST_CASE("storage: tracks what was written where it is asked to", "[runtime]") {
  const std::shared_ptr<Storage> tracked = Storage::Make(8, Storage::Tracking::kOn);
  CHECK_FALSE(tracked->IsWritten(0, 8));
  CHECK(tracked->IsWritten(8, 0));
  tracked->SetWritten(0, 4, true);
  CHECK(tracked->IsWritten(0, 4));
  CHECK_FALSE(tracked->IsWritten(0, 5));
  tracked->SetWritten(3, 1, false);
  CHECK_FALSE(tracked->IsWritten(0, 4));
  CHECK(Storage::Make(8)->IsWritten(0, 8));

  const HostValue value(TupleValue{{Tensor(NDArray::View(DataType::Int(8), kFour, tracked, 4))}});
  CHECK_FALSE(IsWritten(value));
  tracked->SetWritten(4, 4, true);
  CHECK(IsWritten(value));
}

TEST_CASE("storage: a tensor that does not fit is an error", "[runtime]") {
  const std::shared_ptr<Storage> storage = Storage::Make(16);
  CHECK(MakeTensorView(storage, 4, {3}, DataType::Float(32)).ok());
  CHECK(MakeTensorView(storage, 16, {0, 5}, DataType::Float(32)).ok());
  CHECK_FALSE(MakeTensorView(storage, 8, {3}, DataType::Float(32)).ok());
  CHECK_FALSE(MakeTensorView(storage, 2, {1}, DataType::Float(32)).ok());
  CHECK_FALSE(MakeTensorView(storage, -4, {1}, DataType::Float(32)).ok());
  CHECK_FALSE(MakeTensorView(storage, 0, {-1}, DataType::Float(32)).ok());
  CHECK_FALSE(MakeTensorView(storage, 0, {int64_t{1} << 40, int64_t{1} << 40}, DataType::Float(32)).ok());
}

TEST_CASE("ArrayBytes: bounded also where a dimension is 0", "[runtime]") {
  const auto bytes = [](std::vector<int64_t> shape) { return ArrayBytes(DataType::Float(32), shape); };
  CHECK(bytes({}) == 4);
  CHECK(bytes({2, 3}) == 24);
  CHECK(bytes({0, 3}) == 0);
  CHECK(bytes({-1}) == std::nullopt);
  CHECK(bytes({0, int64_t{1} << 40, int64_t{1} << 40}) == std::nullopt);
}

TEST_CASE("tuples: nest as deep as memory allows", "[runtime]") {
  HostValue value(Scalar::Int(1));
  for (int i = 0; i < 1'000'000; ++i) value = HostValue(TupleValue{{std::move(value)}});
  CHECK(value.tuple() != nullptr);
}

TEST_CASE("random numbers: the same for one seed", "[runtime]") {
  // The first numbers of splitmix64 with the seed 1234567, as published.
  RandomSource random(1234567);
  CHECK(random.Next() == 6457827717110365317u);
  CHECK(random.Next() == 3203168211198807973u);
  const double uniform = RandomSource(5).Uniform();
  CHECK((uniform >= 0 && uniform < 1));
}

}  // namespace iropt
