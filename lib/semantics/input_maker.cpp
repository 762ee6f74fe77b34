#include "input_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "iropt/eval/relax/value_type.h"
#include "iropt/execution/call_entry.h"
#include "iropt/infer/infer.h"

namespace iropt {

namespace {

// The rank of tensors whose type does not say it.
constexpr size_t kAnyRank = 2;

using Kind = EntryInput::Kind;

std::string_view NameOf(InputValues values) {
  switch (values) {
    case InputValues::kOrdinary: return "ordinary inputs";
    case InputValues::kSpecial: return "special inputs (zeros, negative and large numbers)";
    case InputValues::kNonFinite: return "non-finite inputs";
  }
  return "";
}

std::string_view NameOf(InputForm form) {
  switch (form) {
    case InputForm::kPlain: return "inputs";
    case InputForm::kOffset: return "inputs whose mean is large compared with their deviation";
    case InputForm::kTies: return "halves and ties";
    case InputForm::kDenormal: return "inputs below the least normal number";
    case InputForm::kNeighbours: return "numbers next to each other";
    case InputForm::kEqual: return "inputs whose elements are all equal";
    case InputForm::kSparse: return "zeros and single numbers that are not finite";
    case InputForm::kMask: return "masks (rows of -infinity or of the least integer)";
  }
  return "";
}

// The value of the condition with this number. In four runs whose seeds follow each other, each has both values; in
// sixteen, the first four conditions have all combinations.
bool ConditionOf(size_t number, uint64_t seed) {
  constexpr uint64_t kMasks[] = {1, 2, 5, 10, 3, 6, 9, 13};  // of the bits of the seed whose parity it is
  return std::popcount(seed & kMasks[number % std::size(kMasks)]) % 2 != 0;
}

// Which end of their dtype integers of an input take where all are equal: in four runs, two inputs one after the other
// have all combinations.
bool TakesLeast(size_t input, uint64_t seed) {
  constexpr uint64_t kMasks[] = {1, 2, 3};
  return std::popcount(seed & kMasks[input % std::size(kMasks)]) % 2 != 0;
}

// The size of inputs together; saturates.
class InputTotal {
 public:
  void Add(DataType dtype, std::span<const int64_t> dims) {
    Grow(elements_, ArrayBytes(DataType::Int(8), dims));
    Grow(bytes_, ArrayBytes(dtype, dims));
  }
  Status Check(const InputLimits& limits) const {
    if (bytes_ > limits.bytes) {
      return Error{ErrorCode::Budget, fmt::format("its inputs take {} MiB, more than {} MiB, a part of the memory",
                                                  bytes_ >> 20, limits.bytes >> 20)};
    }
    if (elements_ <= limits.elements) return {};
    return Error{ErrorCode::Budget,
                 OverBudget(fmt::format("its inputs have {} elements, more than {}", elements_, limits.elements))};
  }

 private:
  static void Grow(uint64_t& sum, std::optional<uint64_t> size) {
    if (!size || __builtin_add_overflow(sum, *size, &sum)) sum = UINT64_MAX;
  }

  uint64_t elements_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

std::string OverBudget(std::string_view message) {
  return fmt::format("it exceeds a budget, see -check-semantics-budget: {}", message);
}

InputMaker::InputMaker(const Entry& first, const CallInterface& interface, const Entry& now)
    : first_(first), fixed_(first.inputs().size()), hints_(FindSizeHints(first.function())) {
  for (const auto& [input, tensor] : interface.bound()) {
    fixed_[input].tensor = tensor;
    AddSizes(input, tensor->shape());
  }
  for (size_t i = 0; i < now.inputs().size(); ++i) {
    const InputSource& source = interface.sources()[i];
    if (source.kind != InputSource::Kind::kInput) continue;
    const EntryInput& input = now.inputs()[i];
    const EntryInput& original = first.inputs()[source.index];
    Fixed& fixed = fixed_[source.index];
    if (original.dtype.is_void() || input.dtype.bits < original.dtype.bits) fixed.dtype = input.dtype;
    fixed.dims = NumbersIn(input.dims);
    AddSizes(source.index, fixed.dims);
  }
  for (const auto& [expr, dims] : hints_.dims) AddDims(*expr, dims);
  FindObstacle();
}

void InputMaker::AddDims(const Expr& param, const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < fixed_.size(); ++i) {
    const EntryInput& input = first_.inputs()[i];
    const bool fits = input.ndim == kUnknownDim || static_cast<size_t>(input.ndim) == dims.size();
    if (input.at == &param && !input.has_dims && fits && fixed_[i].dims.empty()) fixed_[i].dims = dims;
  }
}

// Variables that are a dimension by themselves get their size from it.
void InputMaker::AddSizes(size_t input, std::span<const int64_t> dims) {
  const std::vector<const PrimExpr*>& exprs = first_.inputs()[input].dims;
  for (size_t i = 0; i < std::min(dims.size(), exprs.size()); ++i) {
    const auto* var = As<tir::Var>(exprs[i]);
    if (var && dims[i] >= 0) hints_.fixed.insert(hints_.fixed.begin(), {var, dims[i]});
  }
}

void InputMaker::FindObstacle() {
  size_t num_conditions = 0;
  for (size_t i = 0; i < fixed_.size(); ++i) {
    const EntryInput& input = first_.inputs()[i];
    has_outputs_ |= input.is_written;
    const bool is_read = input.kind == Kind::kTensor ? !input.is_written : input.kind == Kind::kScalar && !input.scalar;
    has_integers_ |= is_read && input.dtype.is_integer();
    has_bytes_ |= is_read && input.dtype.is_integer() && input.dtype.bits == 8;
    has_wide_integers_ |= is_read && input.dtype.is_int() && input.dtype.bits >= 32;
    condition_numbers_.push_back(num_conditions);
    num_conditions += input.dtype.is_bool() ? 1 : 0;
    if (input.kind == Kind::kOther && !fixed_[i].tensor && obstacle_.empty())
      obstacle_ = fmt::format("parameter '{}' is neither a tensor nor a shape nor a scalar", input.name);
  }
}

std::vector<IntegerRange> InputMaker::IndexRanges(const InputSizes& sizes) const {
  constexpr size_t kMostSizes = 5;
  SymbolValues symbols;
  for (size_t i = 0; i < first_.symbols().size(); ++i) symbols.Bind(first_.symbols()[i], sizes.of_vars[i]);
  std::set<int64_t, std::greater<>> found;
  for (size_t i = 0; i < fixed_.size(); ++i) {
    if (first_.inputs()[i].kind != Kind::kTensor) continue;
    const Result<std::vector<int64_t>> dims = DimsOf(i, {.sizes = sizes}, symbols);
    if (dims.ok()) found.insert(dims->begin(), dims->end());
  }
  for (const std::vector<int64_t>* numbers : {&constants_.dims, &constants_.integers})
    found.insert(numbers->begin(), numbers->end());
  std::vector<IntegerRange> ranges;
  for (const int64_t size : found) {
    if (size < 2 || size > kMostSize || ranges.size() >= 2 * kMostSizes) continue;
    ranges.push_back({-size, size - 1});
    ranges.push_back({0, size - 1});
  }
  return ranges;
}

bool InputMaker::SameInputs(const InputMaker& other) const {
  return fixed_ == other.fixed_ && hints_.fixed == other.hints_.fixed;
}

Result<std::vector<int64_t>> InputMaker::DimsOf(size_t input, const InputRecipe& recipe, SymbolValues& symbols) const {
  const EntryInput& original = first_.inputs()[input];
  const Fixed& fixed = fixed_[input];
  std::vector<int64_t> dims;
  if (!original.has_dims) {
    const size_t rank =
        original.ndim == kUnknownDim ? std::max(fixed.dims.size(), kAnyRank) : static_cast<size_t>(original.ndim);
    for (size_t i = 0; i < (fixed.dims.empty() ? rank : fixed.dims.size()); ++i)
      dims.push_back(i < fixed.dims.size() && fixed.dims[i] >= 0 ? fixed.dims[i] : recipe.sizes.otherwise);
    return dims;
  }
  for (size_t i = 0; i < original.dims.size(); ++i) {
    const std::optional<int64_t> size = symbols.EvalInt(original.dims[i]);
    const bool fits = i >= fixed.dims.size() || fixed.dims[i] < 0 || fixed.dims[i] == size;
    if (!size || *size < 0 || !fits)
      return Error{ErrorCode::SemanticCheck,
                   fmt::format("dimension {} of parameter '{}' has no valid size", i, original.name)};
    dims.push_back(*size);
  }
  return dims;
}

DataType InputMaker::DTypeOf(size_t input) const {
  const DataType dtype = fixed_[input].dtype.is_void() ? first_.inputs()[input].dtype : fixed_[input].dtype;
  return dtype.is_void() ? DataType::Float(32) : dtype;
}

RandomOptions InputMaker::OptionsFor(size_t input, const InputRecipe& recipe) const {
  RandomOptions random = recipe.random;
  if (recipe.alternates && fixed_.size() > 1 && (input + recipe.seed) % 2 != 0) {
    random.form = random.integer_form = InputForm::kPlain;
    random.values = InputValues::kOrdinary;
    random.scale = 1;
  }
  random.takes_least = TakesLeast(input, recipe.seed);
  if (recipe.near_integers || random.has_ends) random.near_integers = constants_.integers;
  if (recipe.near_reals) random.near_reals = constants_.reals;
  random.run = recipe.seed;
  // Two inputs have other pairs of values in each run.
  if (random.step != 0) random.step = HashString(first_.inputs()[input].name) | 1;
  return random;
}

// Sizes are often numbers, so ordinary ones are small.
Scalar InputMaker::MakeScalar(size_t index, const InputRecipe& recipe) const {
  const EntryInput& input = first_.inputs()[index];
  if (input.dtype.is_bool())
    return Scalar::Int(ConditionOf(condition_numbers_[index], recipe.seed) ? 1 : 0, input.dtype);
  const bool is_special =
      recipe.near_integers || recipe.random.has_extremes || recipe.random.integer_form == InputForm::kNeighbours ||
      (input.dtype.is_floating() && (recipe.random.values != InputValues::kOrdinary || recipe.random.scale != 1));
  if (is_special && (input.dtype.is_floating() || input.dtype.is_integer())) {
    const Tensor tensor =
        MakeRandomTensor(input.dtype, {}, RandomSourceOf(input, recipe.seed), OptionsFor(index, recipe));
    if (const std::optional<Scalar> scalar = ScalarOf(*tensor)) return *scalar;
  }
  return Scalar::Int(recipe.sizes.otherwise);
}

Result<HostValue> InputMaker::MakeTensor(size_t input, std::vector<int64_t> dims, const InputRecipe& recipe) const {
  const EntryInput& original = first_.inputs()[input];
  const DataType dtype = DTypeOf(input);
  IROPT_ASSIGN_OR_RETURN(Tensor tensor,
                         AllocateTensor({dtype, dims}, Storage::Tracking::kOn, {.max_bytes = PhysicalMemory()}));
  if (original.is_written && !recipe.fills_outputs) return HostValue(std::move(tensor));
  RandomOptions random = OptionsFor(input, recipe);
  const bool is_condition = dtype.is_bool() && std::ranges::all_of(dims, [](int64_t dim) { return dim == 1; });
  if (is_condition && random.integers.min != random.integers.max) {
    const int64_t value = ConditionOf(condition_numbers_[input], recipe.seed) ? 1 : 0;
    random = {.values = random.values, .integers = {value, value}};
  }
  return HostValue(MakeRandomTensor(dtype, dims, RandomSourceOf(original, recipe.seed), random));
}

Result<std::vector<HostValue>> InputMaker::Make(const InputRecipe& recipe, const InputLimits& limits) const {
  SymbolValues symbols;
  for (size_t i = 0; i < first_.symbols().size(); ++i) symbols.Bind(first_.symbols()[i], recipe.sizes.of_vars[i]);
  InputTotal total;
  std::vector<std::vector<int64_t>> dims(fixed_.size());
  for (size_t i = 0; i < fixed_.size(); ++i) {
    const Kind kind = first_.inputs()[i].kind;
    if (fixed_[i].tensor || kind == Kind::kScalar) continue;
    IROPT_ASSIGN_OR_RETURN(dims[i], DimsOf(i, recipe, symbols));
    if (kind == Kind::kTensor) total.Add(DTypeOf(i), dims[i]);
  }
  IROPT_RETURN_IF_ERROR(total.Check(limits));
  std::vector<HostValue> values;
  for (size_t i = 0; i < fixed_.size(); ++i) {
    const EntryInput& input = first_.inputs()[i];
    if (fixed_[i].tensor) {
      values.emplace_back(fixed_[i].tensor);
    } else if (input.kind == Kind::kScalar) {
      const std::optional<Scalar> known = input.scalar ? symbols.Eval(input.scalar) : std::nullopt;
      Scalar scalar = known ? *known : MakeScalar(i, recipe);
      if (!CastScalar(scalar, input.dtype, &scalar)) scalar = Scalar::Int(1, input.dtype);
      values.emplace_back(scalar);
    } else if (input.kind == Kind::kShape) {
      values.emplace_back(std::move(dims[i]));
    } else {
      IROPT_ASSIGN_OR_RETURN(HostValue tensor, MakeTensor(i, std::move(dims[i]), recipe));
      values.push_back(std::move(tensor));
    }
  }
  return values;
}

std::string InputMaker::Describe(const InputRecipe& recipe) const {
  std::string text(recipe.random.form == InputForm::kPlain ? NameOf(recipe.random.values) : NameOf(recipe.random.form));
  if (recipe.random.scale != 1) text += fmt::format(" times {}", recipe.random.scale);
  if (recipe.random.has_ends && has_integers_) text += ", indices of whole dimensions";
  if (recipe.random.has_extremes && has_integers_) text += ", integers of any size";
  if (recipe.random.step != 0 && has_bytes_) text += ", bytes of all values";
  if (recipe.near_integers || recipe.near_reals) text += ", numbers near to those of the program";
  for (size_t i = 0; i < first_.symbols().size(); ++i)
    text += fmt::format(", {} = {}", first_.symbols()[i]->name, recipe.sizes.of_vars[i]);
  return text;
}

}  // namespace iropt
