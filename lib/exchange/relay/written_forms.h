// The forms of Relay's operators that differ from those of Relax in more than names.
#pragma once

#include "written_ops.h"

namespace iropt::relay {

// The call with all operands, without attributes.
WrittenCall AllOperands(std::string_view name, const Call& call);
// The text of attributes of the record as ", name=value": "axis", or "repeats:reps" if Relay has another name.
std::string AttributesOf(const Call& call, std::string_view names);

// Each of these returns nothing if Relay has no operator that does the same.
std::optional<WrittenCall> WriteAffineGrid(const Call& call);
std::optional<WrittenCall> WriteArange(const Call& call);
std::optional<WrittenCall> WriteArgsort(const Call& call);
std::optional<WrittenCall> WriteBroadcast(const Call& call);
std::optional<WrittenCall> WriteBucketize(const Call& call);
std::optional<WrittenCall> WriteClip(const Call& call);
std::optional<WrittenCall> WriteExpandDims(const Call& call);
std::optional<WrittenCall> WriteFilled(const Call& call);
std::optional<WrittenCall> WriteGatherNd(const Call& call, const Expr* value);
std::optional<WrittenCall> WriteGroupNorm(const Call& call);
std::optional<WrittenCall> WriteIndexTensor(const Call& call);
std::optional<WrittenCall> WriteLayerNorm(const Call& call);
std::optional<WrittenCall> WriteMatmul(const Call& call);
std::optional<WrittenCall> WriteOneHot(const Call& call);
std::optional<WrittenCall> WritePad(const Call& call);
std::optional<WrittenCall> WriteReshape(const Call& call);
std::optional<WrittenCall> WriteResize(const Call& call);
std::optional<WrittenCall> WriteRoiAlign(const Call& call);
std::optional<WrittenCall> WriteScatterNd(const Call& call, const Expr* value);
std::optional<WrittenCall> WriteShapeOf(const Call&, const Expr* value);
std::optional<WrittenCall> WriteSort(const Call& call);
std::optional<WrittenCall> WriteStridedSlice(const Call& call);
std::optional<WrittenCall> WriteTopk(const Call& call);
std::optional<WrittenCall> WriteTriangle(const Call& call);
std::optional<WrittenCall> WriteCast(const Call& call, BoundValue bound);

// Returns whether the call exchanges the axes of positions of elements that are not zero: those of Relay are in rows.
bool IsExchangedNonzero(const Call& call, BoundValue bound);

}  // namespace iropt::relay
