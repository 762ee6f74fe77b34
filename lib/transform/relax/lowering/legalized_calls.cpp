#include "legalized_calls.h"

#include <algorithm>

#include "iropt/ir/type.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"

namespace iropt {
namespace {

uint64_t Word(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// The words between operands; no address and no number of a tensor is one of them.
constexpr uint64_t kTuple = ~uint64_t{0};
constexpr uint64_t kLiteral = kTuple - 1;

bool AddOperand(const Expr* operand, LegalizedCalls::Signature& signature) {
  if (const auto* tuple = As<Tuple>(operand)) {
    signature.words.push_back(kTuple);
    signature.words.push_back(tuple->fields.size());
    return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                       [&](const Expr* field) { return !Is<Tuple>(field) && AddOperand(field, signature); });
  }
  if (Is<PrimValue>(operand) || Is<ShapeExpr>(operand)) {
    // The type has the value.
    signature.words.push_back(kLiteral);
    signature.words.push_back(Word(operand->type));
    return true;
  }
  if (!Var::ClassOf(operand->kind) || !operand->type || !Is<TensorType>(operand->type)) return false;
  auto& tensors = signature.tensors;
  const auto at = std::find(tensors.begin(), tensors.end(), operand) - tensors.begin();
  if (at == std::ssize(tensors)) tensors.push_back(operand);
  signature.words.push_back(static_cast<uint64_t>(at));
  signature.words.push_back(Word(operand->type));
  return true;
}

}  // namespace

std::optional<LegalizedCalls::Signature> LegalizedCalls::SignatureOf(const Call& call) {
  Signature signature;
  signature.words = {Word(call.op), Word(call.attrs), Word(call.type), Word(call.type_args)};
  for (const Expr* arg : call.args) {
    if (!AddOperand(arg, signature)) return std::nullopt;
  }
  for (const uint64_t word : signature.words) signature.hash = HashCombine(signature.hash, word);
  return signature;
}

const Call* LegalizedCalls::Find(const Signature& signature, Workspace& workspace) const {
  const Entry* entry =
      entries_.FindIf(signature.hash, [&](const Entry& known) { return known.words == signature.words; });
  if (!entry) return nullptr;
  const auto& [words, result, numbers] = *entry;
  std::vector<const Expr*> tensors;
  tensors.reserve(numbers.size());
  for (const uint32_t number : numbers) tensors.push_back(signature.tensors[number]);
  std::vector<const Expr*> args(result->args.begin(), result->args.end());
  args[1] = workspace.New<Tuple>(workspace.Copy(tensors), nullptr);
  return workspace.New<Call>(result->op, workspace.Copy(args), result->attrs, result->type_args, nullptr);
}

void LegalizedCalls::Add(Signature signature, const Call& result) {
  if (!IsOp(result.op, op::kCallTir)) return;
  const auto* operands = As<Tuple>(result.args[1]);
  if (!operands) return;
  std::vector<uint32_t> numbers;
  const auto& tensors = signature.tensors;
  for (const Expr* operand : operands->fields) {
    const auto at = std::find(tensors.begin(), tensors.end(), operand) - tensors.begin();
    if (at == std::ssize(tensors)) return;
    numbers.push_back(static_cast<uint32_t>(at));
  }
  entries_.emplace(signature.hash, Entry{std::move(signature.words), &result, std::move(numbers)});
}

}  // namespace iropt
