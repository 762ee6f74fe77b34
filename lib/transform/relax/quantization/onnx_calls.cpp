#include "onnx_calls.h"

#include <fmt/format.h>

#include "iropt/infer/infer.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"

namespace iropt {

namespace {

constexpr int64_t kIrOfBlocks = 10;  // the format of files that came with that operator set

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

void RequireOpset(Module& module, int64_t version, bool contributes) {
  const auto* model = As<DictAttr>(module.attrs()->Find(attr::kOnnxModel));
  const auto* opsets = model ? As<DictAttr>(model->Find("opset_import")) : nullptr;
  if (opsets == nullptr) return;
  for (const std::string_view domain : {"", "ai.onnx"}) {
    const auto* now = As<IntAttr>(opsets->Find(domain));
    if (now == nullptr || now->value >= version) continue;
    opsets = opsets->With(domain, IntAttr::Get(version));
    const auto* format = As<IntAttr>(model->Find("ir_version"));
    if (version >= kOpsetOfBlocks && format && format->value < kIrOfBlocks)
      model = model->With("ir_version", IntAttr::Get(kIrOfBlocks));
  }
  if (contributes && opsets->Find("com.microsoft") == nullptr) opsets = opsets->With("com.microsoft", IntAttr::Get(1));
  module.set_attrs(module.attrs()->With(attr::kOnnxModel, model->With("opset_import", opsets)));
}

}  // namespace iropt
