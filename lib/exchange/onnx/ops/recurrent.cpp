// Recurrent networks, which Relax has no operators for.

#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/ops/common.h"
#include "iropt/ir/context.h"

namespace iropt::onnx {

namespace {

// The types of Y, Y_h and Y_c from the input [steps, batch, size] or, with layout 1, [batch, steps, size]. Conditionals
// give inputs of unknown rank, and those that are never taken may have any.
Value ImportRecurrent(OpImport& op) {
  const TensorType* x = op.TypeOf(0);
  const int64_t size = op.Int("hidden_size");
  const bool batch_first = op.Int("layout") != 0;
  if (x == nullptr || !x->known || x->ndim != 3 || size <= 0) {
    const TensorType* weight = op.TypeOf(1);
    const DataType dtype = x != nullptr && !x->dtype.is_void() ? x->dtype : weight ? weight->dtype : DataType::Void();
    const Type* types[] = {TensorType::Get(4, dtype), TensorType::Get(3, dtype), TensorType::Get(3, dtype)};
    return MakeOpaqueCall(op, std::span(types, op.num_outputs()));
  }
  const PrimExpr* steps = DimOf(x, batch_first ? 1 : 0);
  const PrimExpr* batch = DimOf(x, batch_first ? 0 : 1);
  const PrimExpr* directions = IRContext::Current().Int(op.String("direction") == "bidirectional" ? 2 : 1);
  const PrimExpr* hidden = IRContext::Current().Int(size);
  const PrimExpr* all[] = {steps, directions, batch, hidden};
  const PrimExpr* last[] = {directions, batch, hidden};
  const PrimExpr* all_by_batch[] = {batch, steps, directions, hidden};
  const PrimExpr* last_by_batch[] = {batch, directions, hidden};
  const Type* y = TensorType::Get(batch_first ? all_by_batch : all, x->dtype);
  const Type* state = TensorType::Get(batch_first ? last_by_batch : last, x->dtype);
  const Type* types[] = {y, state, state};
  return MakeOpaqueCall(op, std::span(types, op.num_outputs()));
}

Value ImportGruOrRnn(OpImport& op) {
  return op.num_outputs() > 2 ? op.Error("has more than 2 outputs") : ImportRecurrent(op);
}
Value ImportLstm(OpImport& op) {
  return op.num_outputs() > 3 ? op.Error("has more than 3 outputs") : ImportRecurrent(op);
}

constexpr OpRow kRecurrentRows[] = {
    {"GRU", 1, 3, 6, ImportGruOrRnn, "onnx.GRU"},
    {"LSTM", 1, 3, 8, ImportLstm, "onnx.LSTM"},
    {"RNN", 1, 3, 6, ImportGruOrRnn, "onnx.RNN"},
};

}  // namespace

std::span<const OpRow> RecurrentRows() { return kRecurrentRows; }

}  // namespace iropt::onnx
