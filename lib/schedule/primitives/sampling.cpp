// Choosing numbers and places. A decision of the trace is taken over; without one, the choice is made by a generator
// that gives the same numbers in every run.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

std::optional<std::vector<int64_t>> DecisionOf(const PrimitiveCall& call) {
  const auto* list = call.decision() ? call.decision()->As<Value::List>() : nullptr;
  if (!list) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Value& item : *list) {
    if (!item.AsInt()) return std::nullopt;
    numbers.push_back(*item.AsInt());
  }
  return numbers;
}

// Factors whose product is the extent, each prime factor at a random place.
std::vector<int64_t> RandomTile(int64_t extent, int64_t count, Schedule& schedule) {
  std::vector<int64_t> tile(static_cast<size_t>(count), 1);
  for (int64_t prime = 2; extent > 1; ++prime) {
    if (prime * prime > extent) prime = extent;
    for (; extent % prime == 0; extent /= prime) tile[schedule.NextRandom(tile.size())] *= prime;
  }
  return tile;
}

// The earlier decision, made perfect again where the outer loops have changed since.
std::vector<int64_t> Repair(std::vector<int64_t> tile, int64_t extent) {
  for (size_t i = tile.size() - 1; i > 0; --i) {
    if (tile[i] <= 0 || extent % tile[i] != 0) tile[i] = extent;
    extent /= tile[i];
  }
  tile[0] = extent;
  return tile;
}

Status CheckTileCount(PrimitiveCall& call, int64_t count) {
  if (count >= 2 && count <= 64) return {};
  return call.Refuse(fmt::format("invalid number of factors {}: expected one from 2 to 64", count));
}

void ReturnTile(PrimitiveCall& call, const std::vector<int64_t>& tile) {
  Value::List decision;
  for (const int64_t factor : tile) {
    call.Return(factor);
    decision.push_back({factor});
  }
  call.Decide({std::move(decision)});
}

}  // namespace

Status ApplySamplePerfectTile(PrimitiveCall& call, const args::SamplePerfectTile<Resolved>& args) {
  const tir::For& loop = args.loop->loop();
  const int64_t count = args.n;
  IROPT_RETURN_IF_ERROR(CheckTileCount(call, count));
  const int64_t limit = args.max_innermost_factor;
  const int64_t* extent = arith::AsInt(loop.extent);
  std::vector<int64_t> tile(static_cast<size_t>(count), 1);
  const auto decision = DecisionOf(call);
  if (!extent) {
    tile[0] = -1;
  } else if (*extent < 1) {
    return call.Refuse("the loop has no iterations");
  } else if (decision && decision->size() == tile.size()) {
    tile = Repair(*decision, *extent);
  } else {
    do tile = RandomTile(*extent, count, call.schedule());
    while (limit > 0 && tile.back() > limit);
  }
  ReturnTile(call, tile);
  return {};
}

Status ApplySamplePartitionedTile(PrimitiveCall& call, const args::SamplePartitionedTile<Resolved>& args) {
  const tir::For& loop = args.loop->loop();
  const int64_t count = args.n;
  IROPT_RETURN_IF_ERROR(CheckTileCount(call, count));
  const int64_t position = args.partition_pos;
  const int64_t divisor = args.innerpart_factor;
  const int64_t* extent = arith::AsInt(loop.extent);
  std::vector<int64_t> tile(static_cast<size_t>(count), 1);
  if (position < 0 || position >= count || divisor < 1)
    return call.Refuse("the partition of the tile must be one of its factors, and its divisor positive");
  if (!extent || *extent < 1 || *extent % divisor != 0) {
    tile[0] = -1;
  } else {
    const auto decision = DecisionOf(call);
    const auto inner = [&] {
      return std::accumulate(tile.begin() + position, tile.end(), int64_t{1}, std::multiplies<>());
    };
    if (decision && decision->size() == tile.size()) {
      tile = Repair(*decision, *extent);
    } else {
      do tile = RandomTile(*extent, count, call.schedule());
      while (inner() % divisor != 0);
    }
  }
  ReturnTile(call, tile);
  return {};
}

namespace {

// Returns an index; each comes up by its part of the sum of the weights.
size_t DrawByWeight(const std::vector<double>& weights, Schedule& schedule) {
  constexpr size_t kSteps = size_t{1} << 30;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double rest = total * (static_cast<double>(schedule.NextRandom(kSteps)) / static_cast<double>(kSteps));
  size_t last = 0;  // that can come up
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (rest < weights[i]) break;
    rest -= weights[i];
  }
  return last;
}

}  // namespace

Status ApplySampleCategorical(PrimitiveCall& call, const args::SampleCategorical<Resolved>& args) {
  const std::vector<int64_t> candidates = args.candidates;
  if (candidates.empty()) return call.Refuse("there is nothing to choose from");
  const std::vector<double> probs = args.probs;
  if (probs.size() != candidates.size())
    return call.Refuse(fmt::format("{} probabilities for {} candidates", probs.size(), candidates.size()));
  if (std::ranges::any_of(probs, [](double prob) { return prob < 0; }) ||
      std::ranges::none_of(probs, [](double prob) { return prob > 0; }))
    return call.Refuse("probabilities must not be negative, and one must be more than 0");
  std::optional<int64_t> choice = call.decision() ? call.decision()->AsInt() : std::nullopt;
  if (!choice) choice = static_cast<int64_t>(DrawByWeight(probs, call.schedule()));
  if (*choice < 0 || *choice >= static_cast<int64_t>(candidates.size()))
    return call.Refuse(fmt::format("invalid decision {1}: expected one in [0, {0})", candidates.size(), *choice));
  call.Decide({*choice});
  call.Return(candidates[static_cast<size_t>(*choice)]);
  return {};
}

Status ApplySampleComputeLocation(PrimitiveCall& call, const args::SampleComputeLocation<Resolved>& args) {
  State& state = call.state();
  Ref* block = args.block;
  const auto decision = call.decision() ? call.decision()->AsInt() : std::nullopt;
  if (!decision || *decision == kComputeAtRoot || *decision == kComputeInline) {
    call.Decide({decision.value_or(kComputeAtRoot)});
    call.Return(decision.value_or(kComputeAtRoot));
    return {};
  }
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, block, /*stage_pipeline=*/false));
  const std::vector<Ref*> consumers = state.ScopeInfo(scope).ConsumersOf(block);
  const std::vector<Ref*> loops = consumers.empty() ? std::vector<Ref*>() : state.LoopsOf(consumers[0]);
  if (*decision < 0 || *decision >= static_cast<int64_t>(loops.size()))
    return call.Refuse(fmt::format("invalid decision {}: the consumer has fewer loops around it", *decision));
  call.Decide({*decision});
  call.Return(loops[static_cast<size_t>(*decision)]);
  return {};
}

}  // namespace iropt::schedule
