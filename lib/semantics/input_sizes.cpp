#include "input_sizes.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op_attrs.h"

namespace iropt {

namespace {

// Larger multiples would make large inputs.
constexpr int64_t kMostMultiple = 128;

int64_t NumberOf(const PrimExpr* expr) {
  const auto* number = As<tir::IntImm>(expr);
  return number ? number->value : -1;
}

class HintFinder : public WalkHandler {
 public:
  SizeHints& hints() { return hints_; }

  void OnScalar(const PrimExpr* expr) { AddMultiples(expr); }
  void OnType(const Type* type) {
    ForEachScalar(type, /*in_functions=*/false, [this](const PrimExpr* expr) { AddMultiples(expr); });
  }
  void OnBinding(const Binding& binding) {
    const auto* cast = As<MatchCast>(&binding);
    if (!cast) return;
    const List<const PrimExpr*> from = DimsOf(cast->value->type);
    const List<const PrimExpr*> to = DimsOf(cast->match_type);
    if (from.empty() && !to.empty()) hints_.dims.emplace_back(cast->value, NumbersIn(to.span()));
    for (uint32_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      const auto* var = As<tir::Var>(from[i]);
      if (var && NumberOf(to[i]) >= 0) hints_.fixed.emplace_back(var, NumberOf(to[i]));
    }
  }

  // The factors and divisors in an expression.
  void AddMultiples(const PrimExpr* expr) {
    tir::PostOrderVisit(expr, [this](const Node* node) {
      const bool counts = Is<tir::Mul>(node) || Is<tir::FloorDiv>(node) || Is<tir::FloorMod>(node);
      const auto* factor = counts ? As<tir::IntImm>(static_cast<const tir::BinaryExpr*>(node)->b) : nullptr;
      if (!factor || factor->value < 2 || factor->value > kMostMultiple) return;
      const int64_t multiple = std::lcm(hints_.multiple, factor->value);
      if (multiple <= kMostMultiple) hints_.multiple = multiple;
    });
  }

 private:
  static List<const PrimExpr*> DimsOf(const Type* type) {
    if (const auto* tensor = As<TensorType>(type)) return tensor->dims;
    if (const auto* shape = As<ShapeType>(type)) return shape->values;
    return {};
  }

  SizeHints hints_;
};

// The size, or a smaller one if the variable must be smaller.
int64_t Within(int64_t size, const tir::Var& var, const SizeHints& hints) {
  const auto most = std::ranges::find(hints.most, var.name, &std::pair<std::string_view, int64_t>::first);
  return most == hints.most.end() ? size : 1 + (size - 1) % most->second;
}

// Sizes that are one of the constants, or next to one, the constants themselves first. Other assignments have those up
// to 2, of which the first values of loops would make all sizes.
std::vector<int64_t> SizesNear(std::span<const int64_t> constants) {
  std::vector<int64_t> sizes;
  for (const int64_t distance : {0, 1, -1}) {
    for (const int64_t constant : constants) {
      const bool fits = constant > 2 - distance && constant <= kMostSize;
      if (fits && std::ranges::find(sizes, constant + distance) == sizes.end()) sizes.push_back(constant + distance);
    }
  }
  return sizes;
}

}  // namespace

std::vector<int64_t> NumbersIn(std::span<const PrimExpr* const> dims) {
  std::vector<int64_t> numbers;
  std::ranges::transform(dims, std::back_inserter(numbers), NumberOf);
  return numbers;
}

SizeHints FindSizeHints(const BaseFunc& function) {
  HintFinder finder;
  const auto* relax = As<Function>(&function);
  if (!relax) return std::move(finder.hints());
  Walk(*relax, finder);
  const auto* bounds = As<DictAttr>(relax->attrs->Find(attr::kTirVarUpperBound));
  for (uint32_t i = 0; bounds && i < bounds->size(); ++i) {
    const int64_t bound = op_attrs::ToInt(bounds->values[i]);
    if (bound > 0) finder.hints().most.emplace_back(bounds->keys[i], bound);
  }
  return std::move(finder.hints());
}

InputSizes MakeSizes(size_t assignment, const std::vector<const tir::Var*>& vars, const SizeHints& hints,
                     std::span<const int64_t> constants) {
  const int64_t m = hints.multiple;
  const auto count = static_cast<int64_t>(vars.size());
  const std::vector<int64_t> near = SizesNear(constants);
  // The size of variable i.
  const auto size = [&](int64_t i) -> int64_t {
    switch (assignment) {
      case 0: return m == 1 ? 3 + i : m * (1 + i);
      case 1: return m == 1 ? 2 : 2 * m;
      case 2: return m == 1 ? 5 + 2 * i : m * (2 + i);
      case 3: return m;
      case 4: return m == 1 ? 2 + count - i : m * (count - i);
      case 5: return 4 * m;
      case 6: return 3 + i;
      case 7: return 8;
      case 8: return 16;
      case 9: return 32;
      case 10: return 64;
      case 11: return 128;
      case kSizesOfOne: return 1;
      case kOddSizes: return m == 1 ? 7 + 6 * i : m * (3 + i);
      case kEmptySizes: return i % 2 == 0 ? 0 : 3 * m;
      case kLargeSizes: return m == 1 ? 300 + 7 * i : m * (300 / m + 1 + i);
      case kPowersOfTwo: return m == 1 ? 16 + 16 * (i % 2) : 4 * m * (1 + i % 2);
      case kMoreOddSizes: return m == 1 ? 19 - 2 * i % 16 : m * (5 + i);
      default:
        if (near.empty()) return 11 + i;
        return near[(assignment - kSizesNearConstants + static_cast<size_t>(i) * 4) % near.size()];
    }
  };
  InputSizes sizes{.otherwise = size(0)};
  for (int64_t i = 0; i < count; ++i) {
    const auto fixed =
        std::ranges::find(hints.fixed, vars[static_cast<size_t>(i)], &std::pair<const tir::Var*, int64_t>::first);
    const int64_t free = Within(size(i), *vars[static_cast<size_t>(i)], hints);
    sizes.of_vars.push_back(fixed == hints.fixed.end() ? free : fixed->second);
  }
  return sizes;
}

}  // namespace iropt
