#include "iropt/execution/random_inputs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "iropt/ir/element.h"
#include "iropt/ir/limits.h"
#include "iropt/ir/number_format.h"

namespace iropt {

namespace {

// Tensors of rank 2 and higher have a variance of 1 / fan-in (LeCun initialization), so that activations neither
// overflow nor vanish. Vectors are in [0.5, 1.5), so that they are valid scales and variances.
double OrdinaryReal(RandomSource& random, std::span<const int64_t> dims) {
  if (dims.size() < 2) return 0.5 + random.Uniform();
  double fan_in = 1;
  for (size_t i = 1; i < dims.size(); ++i) fan_in *= static_cast<double>(std::max<int64_t>(dims[i], 1));
  return (2 * random.Uniform() - 1) * std::sqrt(3 / fan_in);
}

// The square of it, added up a few times, is still finite in the format.
double LargeReal(DataType dtype) {
  if (dtype.bits < 16) return 2;
  return dtype.bits < 32 ? 16 : 100;
}

double SpecialReal(RandomSource& random, DataType dtype) {
  switch (random.Next() % 8) {
    case 0: return 0;
    case 1: return -0.0;
    case 2: return LargeReal(dtype);
    case 3: return -LargeReal(dtype);
    case 4: return 1;
    case 5: return -1;
    default: return 4 * random.Uniform() - 2;
  }
}

// Greater numbers of programs stand for infinity.
constexpr double kMostNear = 1e30;

// One of the numbers. Large ones are rare: others would be rounded away next to them.
std::optional<double> DrawnNumber(RandomSource& random, std::span<const double> numbers) {
  constexpr double kMany = 2048;
  const double number = numbers[random.Next() % numbers.size()];
  const double size = std::fabs(number);
  if (!(size <= kMostNear) || (size > kMany && random.Next() % 8 != 0)) return std::nullopt;
  return number;
}

// One of the numbers, one that is a little greater or smaller, one between two of them, or a multiple of half of it,
// which is a tie where it is a unit.
std::optional<double> NearReal(RandomSource& random, std::span<const double> numbers) {
  const std::optional<double> drawn = numbers.empty() ? std::nullopt : DrawnNumber(random, numbers);
  if (!drawn) return std::nullopt;
  const double number = *drawn, size = std::fabs(number);
  switch (random.Next() % 8) {
    case 0: return (number + DrawnNumber(random, numbers).value_or(number)) / 2;
    case 1: return number + (number == 0 ? 0.01 : 0.01 * size);
    case 2:
    case 3: return number - (number == 0 ? 0.01 : 0.01 * size);
    case 4: return (static_cast<double>(random.Next() % 8) - 3.5) * number;
    default: return number;
  }
}

double NonFiniteReal(RandomSource& random, std::span<const int64_t> dims, bool is_dense) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const uint64_t kind = random.Next() % (is_dense ? 8 : 24);
  if (is_dense && kind > 5) return std::numeric_limits<double>::quiet_NaN();
  switch (kind) {
    case 0: return std::numeric_limits<double>::quiet_NaN();
    case 1: return kInfinity;
    case 2: return -kInfinity;
    case 3: return 0;  // whose product with them is not 0
    default: return OrdinaryReal(random, dims);
  }
}

// Squares of numbers that differ from the mean by a thousandth of it cancel out to nothing in the format.
double OffsetReal(RandomSource& random, DataType dtype) {
  const double half = dtype == DataType::Float(16) ? 32 : 256;  // whose square is finite
  const double offset = dtype.bits < 16 ? 8 : dtype.bits < 32 ? half : dtype.bits < 64 ? 4096 : 0x1p30;
  return offset * (1 + random.Uniform() / 1024);
}

// A single number is a unit, of which the others are multiples and halves.
double TieReal(RandomSource& random, std::span<const int64_t> dims) {
  constexpr double kBelowHalf = 0.49999997;  // whose sum with 1/2 is rounded to 1 in float32
  const uint64_t number = random.Next() % 32;
  if (std::ranges::all_of(dims, [](int64_t dim) { return dim == 1; })) return number % 2 == 0 ? 1 : 2;
  if (number < 2) return number == 0 ? kBelowHalf : -kBelowHalf;
  return (static_cast<double>(number) - 16) / 2;
}

// The digits behind the first one, and the least normal number.
int DigitsOf(DataType dtype) {
  if (const NumberFormat* format = FormatOfDType(dtype)) return format->mantissa_bits;
  return dtype.bits == 64 ? 52 : dtype.bits == 32 ? 23 : 10;
}
double LeastNormal(DataType dtype) {
  if (dtype.bits == 64) return std::numeric_limits<double>::min();
  const NumberFormat* format = FormatOfDType(dtype);
  return format ? LeastNormalOf(*format) : static_cast<double>(std::numeric_limits<float>::min());
}

double DenormalReal(RandomSource& random, DataType dtype) {
  const double size = 2 * random.Uniform() - 1;
  return size * std::fabs(size) * LeastNormal(dtype);
}

// Neighbours in the format around 1 + 1/4. Sums and products of a few of them are exact in wider formats only.
double NeighbourReal(RandomSource& random, DataType dtype) {
  return 1.25 + static_cast<double>(random.Next() % 4) * std::ldexp(1.0, -DigitsOf(dtype));
}

double FormOfReal(RandomSource& random, DataType dtype, std::span<const int64_t> dims, const RandomOptions& options) {
  switch (options.form) {
    case InputForm::kOffset: return options.scale * OffsetReal(random, dtype);
    case InputForm::kTies: return TieReal(random, dims);
    case InputForm::kDenormal: return DenormalReal(random, dtype);
    case InputForm::kSparse: return SpecialReal(random, dtype);
    default: return NeighbourReal(random, dtype);
  }
}

double RandomReal(RandomSource& random, DataType dtype, std::span<const int64_t> dims, const RandomOptions& options) {
  if (options.form != InputForm::kPlain) return FormOfReal(random, dtype, dims, options);
  switch (options.values) {
    case InputValues::kOrdinary: return options.scale * OrdinaryReal(random, dims);
    case InputValues::kSpecial:
      if (const std::optional<double> near = NearReal(random, options.near_reals); near && random.Next() % 2 == 0)
        return *near;
      return SpecialReal(random, dtype);
    case InputValues::kNonFinite: return NonFiniteReal(random, dims, options.is_dense);
  }
  return 0;
}

int64_t MostInteger(DataType dtype) {
  const int shift = 64 - dtype.bits;
  return dtype.is_uint() ? static_cast<int64_t>(UINT64_MAX >> shift) : INT64_MAX >> shift;
}

int64_t LeastInteger(DataType dtype) { return dtype.is_uint() ? 0 : INT64_MIN >> (64 - dtype.bits); }

// One of the ends of the dtype, a number next to one, or any number. It is truncated to the dtype.
int64_t ExtremeInteger(RandomSource& random, DataType dtype) {
  const int64_t max = MostInteger(dtype);
  const int64_t min = LeastInteger(dtype);
  switch (random.Next() % 8) {
    case 0: return max;
    case 1: return max - 1;
    case 2: return min;
    case 3: return min + 1;
    case 4: return static_cast<int64_t>(random.Next() % 5) - (dtype.is_uint() ? 0 : 2);
    case 5: return max / 2 + 1;
    default: return static_cast<int64_t>(random.Next());
  }
}

// Numbers that a float with fewer digits than the dtype has bits rounds to the same one.
int64_t NeighbourInteger(RandomSource& random, DataType dtype) {
  const int digits = dtype.bits == 64 ? 53 : dtype.bits == 32 ? 24 : dtype.bits == 16 ? 11 : 4;
  return (int64_t{1} << digits) + static_cast<int64_t>(random.Next() % 4);
}

int64_t RandomInteger(RandomSource& random, DataType dtype, const RandomOptions& options) {
  if (options.integer_form == InputForm::kNeighbours && dtype.bits >= 8) return NeighbourInteger(random, dtype);
  if (!options.near_integers.empty() && (random.Next() % 4 != 0) != options.has_ends) {
    const int64_t number = options.near_integers[random.Next() % options.near_integers.size()];
    if (options.has_ends) return std::clamp(number, options.integers.min, options.integers.max);
    switch (random.Next() % 8) {
      case 0: return WrapAdd(number, int64_t{1});
      case 1: return WrapSub(number, int64_t{1});
      case 2: return WrapSub(int64_t{0}, number);
      case 3: return std::midpoint(number, options.near_integers[random.Next() % options.near_integers.size()]);
      default: return number;
    }
  }
  if (options.has_extremes) return ExtremeInteger(random, dtype);
  const IntegerRange range = options.integers;
  const int64_t min = dtype.is_uint() ? std::max<int64_t>(range.min, 0) : range.min;
  return min + static_cast<int64_t>(random.Next() % static_cast<uint64_t>(range.max - min + 1));
}

// Few elements would often miss all numbers of the program.
template <class T>
void PlaceNear(std::span<T> elements, const RandomOptions& options, RandomSource& random) {
  constexpr size_t kFew = 8;
  const std::span<const double> numbers = options.near_reals;
  if (numbers.empty() || elements.empty() || elements.size() > kFew || random.Next() % 4 == 0) return;
  const double number = numbers[options.run % numbers.size()];
  if (!(std::fabs(number) <= kMostNear)) return;
  elements[random.Next() % elements.size()] = Element<T>::Store(static_cast<MathOf<T>>(number));
}

// Tensors with few elements would often have no special number.
template <class T>
void PlaceNonFinite(std::span<T> elements, RandomSource& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kNumbers[] = {kNaN, kInfinity, -kInfinity, kNaN};
  if (elements.empty() || (elements.size() == 1 && random.Next() % 2 == 0)) return;
  const double number = kNumbers[random.Next() % std::size(kNumbers)];
  elements[random.Next() % elements.size()] = Element<T>::Store(static_cast<MathOf<T>>(number));
}

// Goes on where the run before has ended, or where four runs count through all values of 8 bits.
template <class T>
void FillCounting(std::span<T> elements, const RandomOptions& options) {
  uint64_t number = options.run * std::min<uint64_t>(elements.size(), 64);
  for (T& element : elements) element = static_cast<T>(options.step * number++);
}

// One number for all elements: of integers an end of the dtype, of floats a special one.
template <class T>
void FillEqual(std::span<T> elements, DataType dtype, bool takes_least, RandomSource& random) {
  T number;
  if constexpr (std::is_floating_point_v<MathOf<T>>) {
    number = Element<T>::Store(static_cast<MathOf<T>>(SpecialReal(random, dtype)));
  } else {
    number = Element<T>::Store(static_cast<MathOf<T>>(takes_least ? LeastInteger(dtype) : MostInteger(dtype)));
  }
  std::ranges::fill(elements, number);
}

// Each end of the range is there once, and the first number of the program that is in the range, or outside of it; the
// greater end also in a tensor of one element, but for a number outside, which is there in any.
template <class T>
void PlaceEnds(std::span<T> elements, DataType dtype, const RandomOptions& options, RandomSource& random) {
  if (elements.empty()) return;
  const IntegerRange range = options.integers;
  const int64_t min = dtype.is_uint() ? std::max<int64_t>(range.min, 0) : range.min;
  std::vector<int64_t> numbers{min, range.max};
  const auto found = std::ranges::find_if(options.near_integers, [&](int64_t n) {
    const bool is_outside = (n < min && n >= LeastInteger(dtype)) || (n > range.max && n <= MostInteger(dtype));
    return options.has_sentinel ? is_outside : n > min && n < range.max;
  });
  if (found != options.near_integers.end())
    numbers.insert(options.has_sentinel ? numbers.end() : numbers.begin(), *found);
  for (const int64_t number : numbers)
    elements[random.Next() % elements.size()] = Element<T>::Store(static_cast<MathOf<T>>(number));
}

// Numbers half way between two of a narrower format, and next to such: the last digit that fits is even or odd, the
// half is exact or not. Elements go through all of these cases.
template <class T>
void FillNarrowTies(std::span<T> elements, DataType dtype, RandomSource& random) {
  constexpr int kDigits[] = {3, 7, 10, 23};  // of float8, bfloat16, float16 and float32
  const size_t num_formats = dtype.bits == 64 ? 4 : 3;
  uint64_t number = random.Next() % 64;
  for (T& element : elements) {
    const int digits = kDigits[number / 4 % num_formats];
    const bool is_odd = number % 2 != 0;
    const double next = number / 2 % 2 == 0 ? 0 : std::ldexp(is_odd ? -1 : 1, -DigitsOf(dtype));
    const double half = 1 + (is_odd ? 3 : 1) * std::ldexp(1.0, -digits - 1) + next;
    element = Element<T>::Store(static_cast<MathOf<T>>(random.Next() % 2 == 0 ? half : -half));
    ++number;
  }
}

// The same for integers that have more digits than float32, or than float64.
template <class T>
void FillNarrowTies(std::span<T> elements, int bits, RandomSource& random) {
  uint64_t number = random.Next() % 64;
  for (T& element : elements) {
    const int digits = bits == 64 && number / 4 % 2 != 0 ? 53 : 24;
    const int shift = bits - 3 - digits;
    const bool is_odd = number % 2 != 0;
    const int64_t next = number / 2 % 2 == 0 ? 0 : is_odd ? -1 : 1;
    const int64_t half = (((int64_t{1} << digits) + (is_odd ? 3 : 1)) << shift) + next;
    element = Element<T>::Store(static_cast<MathOf<T>>(half));
    ++number;
  }
}

// -infinity or the least finite float. Where numbers are to be changed a little, it is one that is as good as it in a
// mask but does not overflow in sums and products: what depends on that depends on the order of sums, too.
double LeastOfMask(DataType dtype, const RandomOptions& options) {
  if (options.values == InputValues::kNonFinite) return -std::numeric_limits<double>::infinity();
  const double least = -GreatestFinite(dtype).value_or(1);
  if (options.perturbation == 0) return least;
  return least * (dtype.bits < 32 && dtype.code != TypeCode::kBFloat ? 0x1p-6 : 0x1p-64);
}

// A mask by rows: all of the first, third, ... row and some of the elements of the others are the least number, of
// floats `least`; the rest is 0, the greatest number of an integer dtype.
template <class T>
void FillMask(std::span<T> elements, DataType dtype, size_t row, double least, RandomSource& random) {
  const auto store = [&](bool is_least) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      return Element<T>::Store(static_cast<MathOf<T>>(is_least ? least : 0));
    } else {
      return Element<T>::Store(static_cast<MathOf<T>>(is_least ? LeastInteger(dtype) : MostInteger(dtype)));
    }
  };
  for (size_t begin = 0; begin < elements.size(); begin += row) {
    const bool is_whole = begin / row % 2 == 0;
    for (T& element : elements.subspan(begin, std::min(row, elements.size() - begin)))
      element = store(is_whole || random.Next() % 2 == 0);
  }
}

// Adds a few units in the last place to each number, or takes them away. All are multiplied by the factor.
template <class T>
void Perturb(std::span<T> elements, DataType dtype, double factor, RandomSource& random) {
  const double unit = std::ldexp(1.0, -DigitsOf(dtype));
  const double least = LeastNormal(dtype);
  for (T& element : elements) {
    const auto value = static_cast<double>(Element<T>::Load(element));
    const double units = static_cast<double>(random.Next() % 17) - 8;
    if (value == 0) continue;
    const double changed = std::fabs(value) < least ? value + units * unit * least : value * (factor + units * unit);
    element = Element<T>::Store(static_cast<MathOf<T>>(changed));
  }
}

// The same for all inputs of a run, so that what cancels out still does; what is rounded away is other digits.
double OffsetFactor(DataType dtype, uint64_t perturbation) {
  RandomSource random(perturbation);
  return 1 + (2 * random.Uniform() - 1) * std::ldexp(1.0, -DigitsOf(dtype) / 2 - 2);
}

// Changes the last bits of floats, if numbers are to be changed, so that equal ones differ.
template <class T>
void ChangeLastBits(std::span<T> elements, DataType dtype, const RandomOptions& options, RandomSource& random) {
  if constexpr (std::is_floating_point_v<MathOf<T>>) {
    if (options.perturbation == 0) return;
    RandomSource changes(HashCombine(options.perturbation, random.Next()));
    const bool is_offset = options.form == InputForm::kOffset;
    Perturb(elements, dtype, is_offset ? OffsetFactor(dtype, options.perturbation) : 1, changes);
  }
}

}  // namespace

RandomSource RandomSourceOf(const EntryInput& input, uint64_t seed) {
  return RandomSource(HashCombine(seed, HashString(input.name)));
}

Tensor MakeRandomTensor(DataType dtype, std::span<const int64_t> dims, RandomSource random,
                        const RandomOptions& given) {
  RandomOptions options = given;
  // In every second tensor, one of the numbers is often there several times, the first ones more often.
  if (!options.has_ends && !options.near_integers.empty() && random.Next() % 2 == 0) {
    const size_t most = random.Next() % options.near_integers.size();
    options.near_integers = options.near_integers.subspan(random.Next() % (most + 1), 1);
  }
  const std::shared_ptr<NDArray> tensor = NDArray::Make(dtype, dims);
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    const InputForm form = dtype.is_floating() || dtype.is_bool() ? options.form : options.integer_form;
    if (form == InputForm::kMask && !dtype.is_bool()) {
      const size_t row = dims.empty() || dims.back() < 1 ? 1 : static_cast<size_t>(dims.back());
      FillMask(tensor->MutableAs<T>(), dtype, row, LeastOfMask(dtype, options), random);
      return ChangeLastBits(tensor->MutableAs<T>(), dtype, options, random);
    }
    if (form == InputForm::kTies && options.values == InputValues::kOrdinary) {
      if constexpr (std::is_floating_point_v<MathOf<T>>) {
        FillNarrowTies(tensor->MutableAs<T>(), dtype, random);
        return ChangeLastBits(tensor->MutableAs<T>(), dtype, options, random);
      } else if constexpr (sizeof(T) >= 4) {
        return FillNarrowTies(tensor->MutableAs<T>(), dtype.bits, random);
      }
    }
    if constexpr (std::is_integral_v<T> && sizeof(T) == 1) {
      if (options.step != 0 && !dtype.is_bool()) return FillCounting(tensor->MutableAs<T>(), options);
    }
    if (form == InputForm::kEqual) return FillEqual(tensor->MutableAs<T>(), dtype, options.takes_least, random);
    for (T& element : tensor->MutableAs<T>()) {
      if constexpr (std::is_floating_point_v<MathOf<T>>) {
        element = Element<T>::Store(static_cast<MathOf<T>>(RandomReal(random, dtype, dims, options)));
      } else {
        element = Element<T>::Store(static_cast<MathOf<T>>(RandomInteger(random, dtype, options)));
      }
    }
    if (options.has_ends && dtype.is_integer() && !dtype.is_bool())
      PlaceEnds(tensor->MutableAs<T>(), dtype, options, random);
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      if (options.values == InputValues::kNonFinite) PlaceNonFinite(tensor->MutableAs<T>(), random);
      if (options.values == InputValues::kSpecial && form == InputForm::kPlain)
        PlaceNear(tensor->MutableAs<T>(), options, random);
    }
    ChangeLastBits(tensor->MutableAs<T>(), dtype, options, random);
  });
  return tensor;
}

}  // namespace iropt
