#include "onnx_calls.h"

#include <fmt/format.h>

#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"

namespace iropt {

namespace {

const Expr* TextOperand(std::string_view text, Workspace& workspace) {
  return workspace.New<StringImm>(workspace.arena().CopyString(text), ObjectType::Get());
}

const Expr* NumberOperand(int64_t value, Workspace& workspace) {
  const PrimExpr* number = IRContext::Current().Int(value);
  return workspace.New<PrimValue>(number, PrimType::Get(number));
}

}  // namespace

const Call* MakeOnnxCall(std::string_view name, const std::vector<const Expr*>& inputs,
                         std::initializer_list<std::pair<std::string_view, int64_t>> attributes, const Type* type,
                         const Node& like, Workspace& workspace) {
  const std::string_view symbol = workspace.arena().CopyString(fmt::format("onnx.{}", name));
  std::vector<const Expr*> args = {workspace.New<ExternFunc>(symbol, DictAttr::Empty(), PackedFuncType())};
  args.insert(args.end(), inputs.begin(), inputs.end());
  for (const auto& [key, value] : attributes)
    args.insert(args.end(), {TextOperand(key, workspace), NumberOperand(value, workspace)});
  const Type* const types[] = {type};
  return NewLike<Call>(workspace, like, GetOp(op::kCallPurePacked), workspace.Copy(std::span<const Expr* const>(args)),
                       nullptr, TupleType::Get(workspace.arena(), types), nullptr);
}

}  // namespace iropt
