// How operators take and give tensors whose axes are stored in another order than the program says: what ConvertLayout
// goes by. A column of ops.def says which rule an operator has.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/infer/layout.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/op/op.h"
#include "iropt/support/arena.h"

namespace iropt {

// The order in which the axes of a tensor are stored: place i holds axis order[i] of the program's tensor.
class AxisOrder {
 public:
  static constexpr int kMaxRank = 26;

  AxisOrder() = default;
  static AxisOrder Identity(int ndim);
  // How a tensor of layout `from` is stored as one of layout `to`; nothing unless both have the same axes, none split.
  static std::optional<AxisOrder> Between(const Layout& from, const Layout& to);

  int ndim() const { return size_; }
  int operator[](int place) const { return axes_[static_cast<size_t>(place)]; }
  void push_back(int axis) { axes_[size_++] = static_cast<uint8_t>(axis); }
  bool is_identity() const;
  // The place of an axis, which is counted from the end where it is negative.
  int PlaceOf(int64_t axis) const;
  // How to permute a tensor that is stored in this order so that it is stored in the other one.
  AxisOrder To(const AxisOrder& other) const;
  // What a layout of the program's tensor, one letter an axis, becomes.
  std::string Reorder(std::string_view layout) const;

  friend bool operator==(const AxisOrder& a, const AxisOrder& b);

 private:
  std::array<uint8_t, kMaxRank> axes_;
  uint8_t size_ = 0;
};

// The order of the axes of a value: of a tensor, or of the fields of a tuple. Null where it is that of the program, so
// no order here is an identity and no tuple is of nulls alone.
struct ValueLayout {
  AxisOrder order;
  List<const ValueLayout*> fields;
};
bool SameLayout(const ValueLayout* a, const ValueLayout* b);

// A call of which the operands have layouts, and what a rule decides for it. Unless the rule says otherwise, operands
// and result have the layouts of the program, and the attributes stay.
class LayoutCall {
 public:
  // `layouts` are those of the operands, all of which have a known rank of at most AxisOrder::kMaxRank where they are
  // tensors; `desired` what the user wants for this operator, empty where that is nothing. Both and the arena, which
  // keeps new layouts, must outlive the object.
  LayoutCall(const Call& call, std::span<const ValueLayout* const> layouts, std::span<const Layout> desired,
             Arena& arena)
      : call_(call), layouts_(layouts), desired_(desired), arena_(arena), attrs_(call.attrs) {}

  // ---- What there is
  const Call& call() const { return call_; }
  std::span<const Layout> desired() const { return desired_; }
  const ValueLayout* layout(size_t operand) const { return layouts_[operand]; }
  // Of a tensor operand; a scalar has rank 0.
  int NdimOf(size_t operand) const;
  AxisOrder OrderOf(size_t operand) const;

  // ---- What is decided
  void SetOperand(size_t operand, const ValueLayout* layout);
  void SetOperand(size_t operand, const AxisOrder& order) { SetOperand(operand, Make(order)); }
  void SetResult(const ValueLayout* layout) { result_ = layout; }
  void SetResult(const AxisOrder& order) { result_ = Make(order); }
  // The same layout for operand and result.
  void Follow(size_t operand, const AxisOrder& order);
  const ValueLayout* Make(const AxisOrder& order);
  // Of a tuple whose fields have the layouts.
  const ValueLayout* Make(std::span<const ValueLayout* const> fields);
  // An attribute by its place in the record, such as ConcatAttrs::Field::axis.
  void SetInt(uint32_t field, int64_t value);
  void SetInts(uint32_t field, std::span<const int64_t> values);
  void SetText(uint32_t field, std::string_view value);
  // The operand becomes a tuple of these integers.
  void SetOperandInts(size_t operand, std::vector<int64_t> values);
  // No layouts can be found. False, so that a rule can return it.
  bool Refuse(std::string why);

  // ---- The outcome
  const ValueLayout* operand(size_t i) const { return i < operands_.size() ? operands_[i] : nullptr; }
  const ValueLayout* result() const { return result_; }
  const Attr* attrs() const { return attrs_; }
  // Null unless the operand is to be a tuple of integers.
  const std::vector<int64_t>* OperandInts(size_t i) const { return has_ints_ && i == ints_operand_ ? &ints_ : nullptr; }
  const std::string& why() const { return why_; }

 private:
  void SetAttr(uint32_t field, const Attr* value);

  const Call& call_;
  std::span<const ValueLayout* const> layouts_;
  std::span<const Layout> desired_;
  Arena& arena_;
  std::vector<const ValueLayout*> operands_;
  const ValueLayout* result_ = nullptr;
  const Attr* attrs_;
  bool has_ints_ = false;
  size_t ints_operand_ = 0;
  std::vector<int64_t> ints_;
  std::string why_;
};

// Decides the layouts of a call. False after Refuse.
using LayoutRule = bool (*)(LayoutCall& call);

// Null where the operator knows only the layouts of the program. O(1).
LayoutRule LayoutRuleOf(const OpInfo& op);

// Each rule is declared by the rows that name it.
#define IROPT_OP(id, name, rule, kernel, layout, ...) bool layout(LayoutCall& call);
#include "iropt/op/ops.def"

}  // namespace iropt
