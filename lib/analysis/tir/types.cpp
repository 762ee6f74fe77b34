// The verifier's checks of the types of TIR operands.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "iropt/ir/tir/stmt.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "verifier.h"

namespace iropt {

namespace {

// The type of an access to `buffer` whose last index has the type `index`: a vector index gives a vector of elements.
DataType AccessType(DataType buffer, DataType index) {
  const int lanes = std::abs(buffer.lanes) * std::abs(index.lanes);
  return buffer.with_lanes(buffer.is_scalable() || index.is_scalable() ? -lanes : lanes);
}

DataType AccessType(const tir::Buffer& buffer, List<const PrimExpr*> indices) {
  return indices.empty() ? buffer.dtype : AccessType(buffer.dtype, indices.back()->dtype);
}

}  // namespace

void TirVerifier::CheckSame(DataType a, DataType b, const Node& at, std::string_view what) {
  // Handles of every spelling are one type.
  if (!check_types_ || a == b || (a.is_handle() && b.is_handle())) return;
  Error(at, "operand-type", fmt::format("{} have the types {} and {}", what, a.ToString(), b.ToString()));
}

void TirVerifier::CheckCondition(const PrimExpr* condition, const Node& at) {
  if (!check_types_ || condition->dtype.is_bool()) return;
  Error(at, "operand-type", fmt::format("a condition has the type {}, not bool", condition->dtype.ToString()));
}

void TirVerifier::CheckOperands(const PrimExpr& e) {
  if (!check_types_) return;
  if (tir::BinaryExpr::ClassOf(e.kind)) return CheckBinary(static_cast<const tir::BinaryExpr&>(e));
  if (const auto* negation = As<tir::Not>(&e)) return CheckCondition(negation->a, e);
  if (const auto* cast = As<tir::Cast>(&e); cast && cast->dtype.lanes != cast->value->dtype.lanes) {
    Error(e, "operand-type",
          fmt::format("a cast from {} to {} changes the number of lanes", cast->value->dtype.ToString(),
                      cast->dtype.ToString()));
  }
  if (const auto* select = As<tir::Select>(&e)) {
    CheckCondition(select->condition, e);
    CheckSame(select->true_value->dtype, select->false_value->dtype, e, "the two values of a selection");
  }
}

void TirVerifier::CheckBinary(const tir::BinaryExpr& e) {
  CheckSame(e.a->dtype, e.b->dtype, e, "the operands");
  if (e.kind == NodeKind::kAnd || e.kind == NodeKind::kOr) CheckCondition(e.a, e);
}

bool TirVerifier::CheckIndices(const tir::Buffer& buffer, List<const PrimExpr*> indices, const Node& at) {
  if (indices.size() != buffer.shape.size()) {
    Error(
        at, "index-count",
        fmt::format("buffer '{}' has {} dimensions and {} indices", buffer.name, buffer.shape.size(), indices.size()));
    return false;
  }
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    if (indices[i]->dtype.is_scalar()) continue;
    Error(at, "operand-type",
          fmt::format("index {} of buffer '{}' is a vector, but only the last one can be", i, buffer.name));
    return false;
  }
  return check_types_;
}

void TirVerifier::CheckPredicate(const PrimExpr* predicate, DataType value, const Node& at) {
  if (!predicate || (predicate->dtype.is_bool() && predicate->dtype.lanes == value.lanes)) return;
  Error(at, "operand-type",
        fmt::format("a predicate of type {} does not fit an access of type {}", predicate->dtype.ToString(),
                    value.ToString()));
}

void TirVerifier::CheckLoad(const tir::BufferLoad& load) {
  if (!CheckIndices(*load.buffer, load.indices, load)) return;
  const DataType expected = AccessType(*load.buffer, load.indices);
  CheckPredicate(load.predicate, expected, load);
  if (expected == load.dtype) return;
  Error(load, "operand-type",
        fmt::format("a load of type {} from buffer '{}' gives {}", load.dtype.ToString(), load.buffer->name,
                    expected.ToString()));
}

void TirVerifier::CheckStore(const tir::BufferStore& store) {
  if (!CheckIndices(*store.buffer, store.indices, store)) return;
  const DataType expected = AccessType(*store.buffer, store.indices);
  CheckPredicate(store.predicate, expected, store);
  if (expected == store.value->dtype) return;
  Error(store, "operand-type",
        fmt::format("a value of type {} is stored to buffer '{}', which takes {}", store.value->dtype.ToString(),
                    store.buffer->name, expected.ToString()));
}

// A reducer computes in the types of its operands, and so do the threads that it combines.
void TirVerifier::CheckReducer(const tir::CommReducer& reducer, const tir::AttrStmt& around) {
  const auto* statement = As<tir::Evaluate>(around.body);
  const tir::Call* call = statement ? CallOf(statement->value, op::kTirTvmThreadAllreduce) : nullptr;
  const uint32_t count = std::min({reducer.lhs.size(), reducer.result.size(), reducer.identity_element.size()});
  for (uint32_t i = 0; i < count; ++i) {
    const DataType dtype = reducer.lhs[i]->dtype;
    CheckSame(dtype, reducer.identity_element[i]->dtype, around, "the operands and the identity of a reducer");
    CheckSame(dtype, reducer.result[i]->dtype, around, "the operands and the result of a reducer");
    if (call && i + 1 < call->args.size())
      CheckSame(dtype, call->args[i + 1]->dtype, *call, "the reducer and the values that it combines");
  }
}

}  // namespace iropt
