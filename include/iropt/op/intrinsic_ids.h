// The ids of the operators of TIR: op::kTir<id> for each row of intrinsics.def.
#pragma once

#include <cstddef>

#include "iropt/op/op_id.h"

namespace iropt {

namespace op_detail {
enum IntrinsicRow : uint16_t {
#define IROPT_INTRINSIC(id, ...) k##id,
#include "iropt/op/intrinsics.def"
  kNumRows
};
}  // namespace op_detail

namespace op {
#define IROPT_INTRINSIC(id, ...) inline constexpr OpId kTir##id{kFirstIntrinsicId + op_detail::k##id};
#include "iropt/op/intrinsics.def"
}  // namespace op

inline constexpr size_t kNumIntrinsics = op_detail::kNumRows;
static_assert(kFirstIntrinsicId + kNumIntrinsics <= kFirstAddedId);

// The place of an intrinsic among the rows of intrinsics.def; kNumIntrinsics or more for other operators.
constexpr size_t IntrinsicRowOf(OpId id) {
  return static_cast<uint16_t>(static_cast<uint16_t>(id) - kFirstIntrinsicId);
}

}  // namespace iropt
