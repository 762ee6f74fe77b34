// Recurrent networks, which Relax has no operators for.

#include "exchange/onnx/ops/common.h"

namespace iropt::onnx {

namespace {

Value ImportGruOrRnn(OpImport& op) { return op.num_outputs() > 2 ? op.Error("has more than 2 outputs") : Value(); }
Value ImportLstm(OpImport& op) { return op.num_outputs() > 3 ? op.Error("has more than 3 outputs") : Value(); }

constexpr OpRow kRecurrentRows[] = {
    {"GRU", 1, 3, 6, ImportGruOrRnn, "onnx.GRU"},
    {"LSTM", 1, 3, 8, ImportLstm, "onnx.LSTM"},
    {"RNN", 1, 3, 6, ImportGruOrRnn, "onnx.RNN"},
};

}  // namespace

std::span<const OpRow> RecurrentRows() { return kRecurrentRows; }

}  // namespace iropt::onnx
