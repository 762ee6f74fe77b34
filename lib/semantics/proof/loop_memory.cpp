#include "semantics/proof/loop_memory.h"

#include <algorithm>
#include <utility>

#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/support/stack.h"

namespace iropt::proof {

namespace {

constexpr std::string_view kCarried = "an iteration of a loop uses what another one computes";
// The text of the tensor that stands for the element before a write.
constexpr std::string_view kPrevious = "previous";
// That of contents that nothing is known about.
constexpr std::string_view kUnknown = "memory without a value";

// Returns whether the condition holds for the term or a part of it, also of tensors that it reads.
bool HasPart(const Term* term, FunctionRef<bool(const Term*)> condition) {
  LookupSet<const Term*> seen;
  const auto visit = [&](const Term* part, auto& self) -> bool {
    if (!seen.insert(part)) return false;
    if (condition(part)) return true;
    return std::ranges::any_of(part->args, [&](const Term* arg) { return WithStack([&] { return self(arg, self); }); });
  };
  return visit(term, visit);
}

// What a reduction adds one more element with; extrema are not those of operators where elements are NaN.
const Term* Combine(OpId op, const Term* a, const Term* b, TermBuilder& terms) {
  if (op == op::kSum) return terms.Apply(op::kAdd, nullptr, {a, b}, a->dtype);
  if (op == op::kProd) return terms.Apply(op::kMultiply, nullptr, {a, b}, a->dtype);
  const bool is_max = op == op::kMax;
  return terms.Make({.kind = TermKind::kApply,
                     .dtype = a->dtype,
                     .op = is_max ? op::kMaximum : op::kMinimum,
                     .args = {a, b},
                     .text = is_max ? "T.max" : "T.min"});
}

}  // namespace

// The number of terms grows with each, so that no other contents, not of the other version either, are this term.
const Term* LoopMemories::Unknown(DataType dtype) {
  const auto number = static_cast<int64_t>(terms_.store().size());
  return terms_.Make({.kind = TermKind::kResult, .dtype = dtype, .number = number, .text = std::string(kUnknown)});
}

bool LoopMemories::UsesUnknown(const Term* term) {
  return HasPart(term, [](const Term* part) {
    return part->kind == TermKind::kResult && (part->text == kUnknown || part->text == kPrevious);
  });
}

Dims LoopMemories::PlacesOf(const Dims& dims) {
  Dims places;
  for (size_t i = 0; i < dims.size(); ++i) places.push_back(indices_.Index(i, dims[i]));
  return places;
}

bool LoopMemories::Uses(const PrimExpr* expr, const PrimExpr* var) {
  return std::ranges::find(indices_.VarsOf(expr), var) != indices_.VarsOf(expr).end();
}

bool LoopMemories::Mentions(const Term* term, const Frame& frame) {
  return HasPart(term, [&](const Term* part) {
    return part->kind == TermKind::kResult &&
           std::ranges::find(frame.entries, part, &Frame::Entry::state) != frame.entries.end();
  });
}

bool LoopMemories::AddCondition(const PrimExpr* condition, Match& match) {
  if (const auto holds = indices_.Decide(condition)) return *holds;
  match.condition = match.condition ? indices_.make().Binary(NodeKind::kAnd, match.condition, condition) : condition;
  return true;
}

std::optional<LoopMemories::Match> LoopMemories::FindMatch(const LoopWrite& write, const Dims& at) {
  const arith::PrimBuilder& make = indices_.make();
  Match match;
  Dims mapped;
  Dims outputs;
  const auto is_mapped = [&](const PrimExpr* index) {
    return std::ranges::any_of(write.vars, [&](const PrimExpr* var) { return Uses(index, var); });
  };
  for (size_t i = 0; i < at.size(); ++i) {
    if (!is_mapped(write.at[i])) continue;
    mapped.push_back(write.at[i]);
    outputs.push_back(at[i]);
  }
  if (!write.vars.empty() && !indices_.Invert(mapped, outputs, write.vars, write.extents, match.values))
    return std::nullopt;
  const auto add = [&](const PrimExpr* condition) {
    return AddCondition(indices_.Substitute(condition, match.values), match);
  };
  match.is_possible = true;
  for (size_t i = 0; i < write.vars.size() && match.is_possible; ++i) {
    const PrimExpr* value = match.values.Find(To<tir::Var>(write.vars[i]));
    const PrimExpr* extent = indices_.Substitute(write.extents[i], match.values);
    if (indices_.IsWithin(value, extent, nullptr)) continue;
    match.is_possible = AddCondition(make.Binary(NodeKind::kLE, indices_.Int(0), value), match) &&
                        AddCondition(make.Binary(NodeKind::kLT, value, extent), match);
  }
  for (size_t i = 0; i < at.size() && match.is_possible; ++i) {
    const PrimExpr* index = indices_.Substitute(write.at[i], match.values);
    match.is_possible = indices_.IsEqual(index, at[i]) || AddCondition(make.Binary(NodeKind::kEQ, index, at[i]), match);
  }
  if (match.is_possible && write.guard) match.is_possible = add(write.guard);
  return match;
}

const Term* LoopMemories::ElementAt(const LoopMemory& memory, const Dims& at, std::string& reason) {
  if (!memory.unknown.empty()) {
    reason = memory.unknown;
    return nullptr;
  }
  const Term* result = terms_.Read(memory.base, at);
  for (const LoopWrite& write : memory.writes) {
    const auto match = FindMatch(write, at);
    if (!match) {
      reason = "the indices of a store are not a map that can be inverted";
      return nullptr;
    }
    if (!match->is_possible) continue;
    const Term* value = terms_.Substitute(write.value, match->values);
    const bool is_update = write.uses_previous || write.op != OpId{};
    const Term* before =
        is_update && match->condition ? Assuming(result, indices_.Simplify(match->condition), true, terms_) : result;
    if (write.uses_previous) {
      value = terms_.Map(value, [&](const Term* part) {
        return part->kind == TermKind::kRead && part->args[0]->text == kPrevious ? before : nullptr;
      });
    }
    if (write.op != OpId{}) value = Combine(write.op, before, value, terms_);
    result = match->condition ? terms_.Select(match->condition, value, result) : value;
  }
  return result;
}

LoopMemories::Frame LoopMemories::Enter(const std::vector<const tir::Var*>& written) {
  Frame frame;
  for (const tir::Var* data : written) {
    LoopMemory* memory = memories_.Find(data);
    if (memory == nullptr) continue;  // it is declared in the loop
    const Term* state = Unknown(memory->base->dtype);
    frame.entries.push_back({data, *memory, state});
    *memory = {.dims = memory->dims, .base = state, .unknown = memory->unknown};
  }
  return frame;
}

std::string LoopMemories::Leave(Frame frame, const Range& loop) {
  std::vector<LoopMemory> results;
  std::string conflict;
  for (const Frame::Entry& entry : frame.entries) {
    LoopMemory result = entry.outside;
    LoopMemory& inside = *memories_.Find(entry.data);
    std::string reason = inside.unknown.empty() ? Append(frame, entry, inside, loop, result) : inside.unknown;
    const tir::Var* data = entry.data;
    const bool is_private = loop.has_threads && data->pointer && data->pointer->scope.starts_with("local");
    if (loop.is_concurrent && !is_private && conflict.empty()) conflict = reason;
    if (result.unknown.empty()) result.unknown = std::move(reason);
    results.push_back(std::move(result));
  }
  for (size_t i = 0; i < results.size(); ++i) *memories_.Find(frame.entries[i].data) = std::move(results[i]);
  return conflict;
}

std::string LoopMemories::Append(const Frame& frame, const Frame::Entry& entry, LoopMemory& inside, const Range& loop,
                                 LoopMemory& result) {
  const auto uses = [&](const LoopWrite& write) {
    return std::ranges::any_of(write.at, [&](const PrimExpr* index) { return Uses(index, loop.var); });
  };
  if (inside.writes.empty()) return {};
  if (std::ranges::all_of(inside.writes, uses)) return AppendMap(frame, entry, inside, loop, result);
  if (std::ranges::any_of(inside.writes, uses))
    return "some stores of a loop are to the same element in all iterations";
  if (loop.is_concurrent) return "threads, or iterations of a parallel loop, write to the same element";
  bool is_last = false;
  std::string reason = AppendLast(frame, inside, loop, result, is_last);
  return is_last || !reason.empty() ? reason : AppendReduction(frame, inside, loop, result);
}

// No element is written in two iterations, or the order of writes is that of the program within one.
bool LoopMemories::AreOrdered(const LoopWrite& a, const LoopWrite& b, const Range& loop, const Dims& dims) {
  const Dims places = PlacesOf(dims);
  const IndexSpace::NonEmpty scope(indices_, dims);
  const auto x = FindMatch(a, places);
  const auto y = FindMatch(b, places);
  if (!x || !y) return false;
  if (!x->is_possible || !y->is_possible) return true;
  const auto* var = To<tir::Var>(loop.var);
  if (indices_.IsEqual(x->values.Find(var), y->values.Find(var))) return true;
  if (!x->condition || !y->condition) return false;
  return indices_.Decide(indices_.make().Binary(NodeKind::kAnd, x->condition, y->condition)) == false;
}

std::string LoopMemories::AppendMap(const Frame& frame, const Frame::Entry& entry, LoopMemory& inside,
                                    const Range& loop, LoopMemory& result) {
  for (size_t i = 0; i < inside.writes.size(); ++i) {
    LoopWrite& write = inside.writes[i];
    if (i == 0 && write.op == OpId{}) {
      const Term* changed = terms_.Map(write.value, [&](const Term* read) -> const Term* {
        if (read->kind != TermKind::kRead || read->args[0] != entry.state ||
            !std::ranges::equal(read->indices, write.at,
                                [&](const auto* x, const auto* y) { return indices_.IsEqual(x, y); }))
          return nullptr;
        return terms_.Read(
            terms_.Make({.kind = TermKind::kResult, .dtype = read->dtype, .text = std::string(kPrevious)}), {});
      });
      write.uses_previous |= changed != write.value;
      write.value = changed;
    }
    if (Mentions(write.value, frame)) return std::string(kCarried);
    write.vars.push_back(loop.var);
    write.extents.push_back(loop.extent);
  }
  for (size_t i = 0; i < inside.writes.size(); ++i) {
    // One store is in conflict with itself if several of its iterations are to one element at the same time.
    for (size_t k = 0; k < (loop.is_concurrent ? i + 1 : i); ++k) {
      if (!AreOrdered(inside.writes[k], inside.writes[i], loop, inside.dims))
        return "several iterations of a loop may write to the same element";
    }
  }
  std::ranges::move(inside.writes, std::back_inserter(result.writes));
  return {};
}

std::string LoopMemories::AppendLast(const Frame& frame, const LoopMemory& inside, const Range& loop,
                                     LoopMemory& result, bool& is_last) {
  const Dims places = PlacesOf(inside.dims);
  std::string reason;
  const Term* element = ElementAt(inside, places, reason);
  if (element == nullptr) return reason;
  if (Mentions(element, frame)) return {};
  is_last = true;
  const arith::PrimBuilder& make = indices_.make();
  SymVarMap last;
  last.Set(To<tir::Var>(loop.var), indices_.Simplify(make.Sub(loop.extent, indices_.Int(1))));
  const PrimExpr* runs = make.Binary(NodeKind::kGT, loop.extent, indices_.Int(0));
  LoopWrite write{
      .at = places, .guard = indices_.Decide(runs) == true ? nullptr : runs, .value = terms_.Substitute(element, last)};
  for (size_t i = 0; i < places.size(); ++i) {
    if (!Is<tir::Var>(places[i])) continue;
    write.vars.push_back(places[i]);
    write.extents.push_back(inside.dims[i]);
  }
  result.writes.push_back(std::move(write));
  return {};
}

std::string LoopMemories::AppendReduction(const Frame& frame, LoopMemory& inside, const Range& loop,
                                          LoopMemory& result) {
  const arith::PrimBuilder& make = indices_.make();
  const PrimExpr* is_first = make.Binary(NodeKind::kEQ, loop.var, indices_.Int(0));
  const PrimExpr* runs = make.Binary(NodeKind::kGT, loop.extent, indices_.Int(0));
  if (!indices_.VarsOf(loop.extent).empty()) return "the extent of a reduction depends on another loop";
  SymVarMap first;
  first.Set(To<tir::Var>(loop.var), indices_.Int(0));
  SymVarMap reduced;
  reduced.Set(To<tir::Var>(loop.var), indices_.Reduction(0, loop.extent));
  OpId op{};
  for (LoopWrite& write : inside.writes) {
    if (Mentions(write.value, frame) || write.uses_previous) return std::string(kCarried);
    if (write.op == OpId{}) {
      // The begin of the reduction, in its first iteration.
      if (op != OpId{} || !write.guard || !indices_.Follows(is_first, write.guard)) return std::string(kCarried);
      write.guard = make.Binary(NodeKind::kAnd, runs, indices_.Substitute(write.guard, first));
      if (indices_.Decide(write.guard) == true) write.guard = nullptr;
      write.value = terms_.Substitute(write.value, first);
      continue;
    }
    const bool is_sum = write.op == op::kSum || write.op == op::kProd;
    if (op != OpId{} && (op != write.op || !is_sum)) return "a loop has several reductions";
    op = write.op;
    const DataType dtype = write.value->dtype;
    if (is_sum && dtype.is_floating() && !terms_.laws().reals)
      return "the order of a sum in a loop is part of its value";
    if (write.guard && Uses(write.guard, loop.var)) {
      const Term* nothing = is_sum ? terms_.Number(dtype, op == op::kSum ? 0.0 : 1.0) : nullptr;
      if (nothing == nullptr) return "a reduction has a condition";
      write.value = terms_.Select(std::exchange(write.guard, nullptr), write.value, nothing);
    }
    if (indices_.Decide(runs) != true)
      write.guard = write.guard ? make.Binary(NodeKind::kAnd, runs, write.guard) : runs;
    write.value = terms_.Reduce(op, {loop.extent}, terms_.Substitute(write.value, reduced));
  }
  std::ranges::move(inside.writes, std::back_inserter(result.writes));
  return {};
}

}  // namespace iropt::proof
