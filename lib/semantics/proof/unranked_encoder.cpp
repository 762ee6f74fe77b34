#include "semantics/proof/unranked_encoder.h"

#include <algorithm>
#include <utility>

#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "semantics/proof/failures.h"

namespace iropt::proof {

Value UnrankedEncoder::Tensor(const Term* tensor) {
  const Term* element = terms_.Read(tensor, {indices_.Index(0, indices_.NumPlaces())});
  return {.kind = Value::Kind::kUnranked, .term = element, .shapes = {tensor}};
}

const Term* UnrankedEncoder::Close(const Value& unranked) {
  const bool is_one = unranked.shapes.size() == 1;
  if (is_one && unranked.term == Tensor(unranked.shapes[0]).term) return unranked.shapes[0];
  Term term{.kind = TermKind::kResult, .dtype = unranked.dtype(), .text = "unranked"};
  term.args.push_back(terms_.Lambda({indices_.NumPlaces()}, unranked.term));
  term.args.insert(term.args.end(), unranked.shapes.begin(), unranked.shapes.end());
  return terms_.Make(std::move(term));
}

std::optional<Value> UnrankedEncoder::Encode(const OpCall& call) {
  if (call.dtype.is_void() || MayFailOnElements(call)) return std::nullopt;
  const OpInfo& info = OpInfoOf(call.op);
  const bool is_binary = call.op >= op::kAdd && call.op <= op::kSubtract;
  const bool is_other = call.op >= op::kAtan2 && call.op <= op::kWhere;
  const bool creates = call.op == op::kFullLike || call.op == op::kOnesLike || call.op == op::kZerosLike;
  if (info.row == OpInfo::kNoRow || (!is_binary && !is_other && !creates && info.pattern != OpPattern::kElemWise))
    return std::nullopt;
  Value result{.kind = Value::Kind::kUnranked};
  std::vector<const Term*> args;
  size_t num_tensors = 0;
  for (const Value& arg : call.args) {
    const bool is_unranked = arg.kind == Value::Kind::kUnranked;
    const bool is_number = arg.is_tensor() && arg.dims.empty();
    if (!is_unranked && !is_number && (arg.kind != Value::Kind::kScalar || is_binary || is_other)) return std::nullopt;
    num_tensors += is_unranked || is_number ? 1 : 0;
    args.push_back(arg.term);
    result.shapes.insert(result.shapes.end(), arg.shapes.begin(), arg.shapes.end());
  }
  // Other operators take tensors of one shape.
  if (result.shapes.empty() || (!is_binary && !is_other && !creates && num_tensors != 1)) return std::nullopt;
  std::ranges::sort(result.shapes, {}, &Term::id);
  result.shapes.erase(std::unique(result.shapes.begin(), result.shapes.end()), result.shapes.end());
  if (creates) {
    if (call.args[0].kind != Value::Kind::kUnranked) return std::nullopt;
    if (call.op == op::kFullLike)
      result.term = args[1]->dtype == call.dtype ? args[1] : terms_.Cast(args[1], call.dtype);
    else
      result.term = terms_.Number(call.dtype, call.op == op::kOnesLike ? 1.0 : 0.0);
  } else if (call.op == op::kAstype) {
    result.term = terms_.Cast(args[0], call.dtype);
  } else {
    result.term = terms_.Apply(call.op, call.attrs, std::move(args), call.dtype);
  }
  return result.term ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace iropt::proof
