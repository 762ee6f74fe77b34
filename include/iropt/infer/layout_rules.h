// Layout rules: how an operator handles tensors whose axes are stored in another order than in the program.
// ConvertLayout uses them; a column of ops.def names the rule of an operator.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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

// The order in which the axes of a tensor are stored: position i holds axis order[i] of the program's tensor. An axis
// may be split: a later position holds a part of it, as in the layout NCHW4c.
class AxisOrder {
 public:
  static constexpr int kMaxRank = 26;

  AxisOrder() = default;
  static AxisOrder Identity(int ndim);
  // The order that stores a tensor of layout `from`, without split axes, in layout `to`; nothing unless both have the
  // same axes.
  static std::optional<AxisOrder> Between(const Layout& from, const Layout& to);

  // The rank of the stored tensor, and that of the program's.
  int ndim() const { return size_; }
  int num_axes() const;
  int operator[](int place) const { return axes_[static_cast<size_t>(place)]; }
  // The length of the part of an axis at a position; 0 if the position holds what is left of the axis.
  int64_t PartAt(int place) const { return parts_[static_cast<size_t>(place)]; }
  bool is_split() const { return num_axes() != ndim(); }
  void push_back(int axis, int64_t part = 0) {
    axes_[size_] = static_cast<uint8_t>(axis);
    parts_[size_++] = static_cast<int32_t>(part);
  }
  bool is_identity() const;
  // The position of an axis, which is counted from the end if it is negative.
  int PlaceOf(int64_t axis) const;
  // The permutation of a tensor from this order to the other one; nothing if their axes are split in different ways.
  std::optional<AxisOrder> To(const AxisOrder& other) const;
  // Reorders a layout of the program's tensor, with one letter per axis.
  std::string Reorder(std::string_view layout) const;
  // The stored indices for those of the program's tensor, or those in another order.
  std::vector<const PrimExpr*> Indices(std::span<const PrimExpr* const> indices, const AxisOrder& from) const;
  // Returns whether each constant dimension of the program's tensor is a multiple of the parts that are split off it.
  bool Divides(const TensorType& type) const;

  friend bool operator==(const AxisOrder& a, const AxisOrder& b);

 private:
  std::array<uint8_t, kMaxRank> axes_;
  std::array<int32_t, kMaxRank> parts_;
  uint8_t size_ = 0;
};

// The order of the axes of a value: of a tensor, or of the fields of a tuple. Null if it is that of the program, so no
// order here is an identity and no tuple has only null fields.
struct ValueLayout {
  AxisOrder order;
  List<const ValueLayout*> fields;
};
bool SameLayout(const ValueLayout* a, const ValueLayout* b);

// A call whose operands have layouts, and the decisions of a rule for it. Unless the rule says otherwise, operands and
// result have the layouts of the program, and the attributes stay.
class LayoutCall {
 public:
  // `layouts` are those of the operands, which have a known rank of at most AxisOrder::kMaxRank if they are tensors;
  // `desired` are the layouts that the user wants for this operator, or empty. Both and the arena, which keeps new
  // layouts, must outlive the object. `version` is that of the module.
  LayoutCall(const Call& call, std::span<const ValueLayout* const> layouts, std::span<const Layout> desired,
             Arena& arena, TextVersion version)
      : call_(call), layouts_(layouts), desired_(desired), arena_(arena), version_(version), attrs_(call.attrs) {}

  // ---- Inputs
  const Call& call() const { return call_; }
  std::span<const Layout> desired() const { return desired_; }
  TextVersion version() const { return version_; }
  const ValueLayout* layout(size_t operand) const { return layouts_[operand]; }
  // The rank of a tensor operand; 0 for a scalar.
  int NdimOf(size_t operand) const;
  AxisOrder OrderOf(size_t operand) const;
  // Return the layout and the order of an operand for rules that do not support split axes: those of the program if the
  // operand has split axes.
  const ValueLayout* PlainLayout(size_t operand) const;
  AxisOrder PlainOrderOf(size_t operand) const;

  // ---- Decisions
  void SetOperand(size_t operand, const ValueLayout* layout);
  void SetOperand(size_t operand, const AxisOrder& order) { SetOperand(operand, Make(order)); }
  void SetResult(const ValueLayout* layout) { result_ = layout; }
  void SetResult(const AxisOrder& order) { result_ = Make(order); }
  // Sets this layout for the operand and for the result.
  void Follow(size_t operand, const AxisOrder& order);
  const ValueLayout* Make(const AxisOrder& order);
  // The layout of a tuple whose fields have these layouts.
  const ValueLayout* Make(std::span<const ValueLayout* const> fields);
  // An attribute by its index in the record, such as ConcatAttrs::Field::axis.
  void SetInt(uint32_t field, int64_t value);
  void SetInts(uint32_t field, std::span<const int64_t> values);
  void SetText(uint32_t field, std::string_view value);
  // The operand becomes a tuple of these integers.
  void SetOperandInts(size_t operand, std::vector<int64_t> values);
  // States that no layouts can be found. Returns false, so that a rule can return the result.
  bool Refuse(std::string why);

  // ---- The outcome
  const ValueLayout* operand(size_t i) const { return i < operands_.size() ? operands_[i] : nullptr; }
  const ValueLayout* result() const { return result_; }
  const Attr* attrs() const { return attrs_; }
  // Null unless the operand becomes a tuple of integers.
  const std::vector<int64_t>* OperandInts(size_t i) const {
    const auto found = ints_.find(i);
    return found == ints_.end() ? nullptr : &found->second;
  }
  const std::string& why() const { return why_; }

 private:
  void SetAttr(uint32_t field, const Attr* value);

  const Call& call_;
  std::span<const ValueLayout* const> layouts_;
  std::span<const Layout> desired_;
  Arena& arena_;
  TextVersion version_;
  std::vector<const ValueLayout*> operands_;
  const ValueLayout* result_ = nullptr;
  const Attr* attrs_;
  std::map<size_t, std::vector<int64_t>> ints_;  // by operand
  std::string why_;
};

// Decides the layouts of a call. False after Refuse.
using LayoutRule = bool (*)(LayoutCall& call);

// Null if the operator knows only the layouts of the program. O(1).
LayoutRule LayoutRuleOf(const OpInfo& op);

}  // namespace iropt
