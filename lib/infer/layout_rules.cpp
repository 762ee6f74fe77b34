#include "iropt/infer/layout_rules.h"

#include <algorithm>

#include "iropt/op/op_attrs.h"
#include "iropt/support/stack.h"

namespace iropt {

// ---- AxisOrder

AxisOrder AxisOrder::Identity(int ndim) {
  AxisOrder order;
  for (int axis = 0; axis < ndim; ++axis) order.push_back(axis);
  return order;
}

std::optional<AxisOrder> AxisOrder::Between(const Layout& from, const Layout& to) {
  const auto is_split = [](const Layout::Axis& axis) { return axis.is_part(); };
  if (!from.ConvertibleTo(to) || std::ranges::any_of(from.axes(), is_split) || std::ranges::any_of(to.axes(), is_split))
    return std::nullopt;
  AxisOrder order;
  for (const Layout::Axis& axis : to.axes()) order.push_back(from.IndexOf(axis.name));
  return order;
}

bool AxisOrder::is_identity() const {
  for (int place = 0; place < ndim(); ++place) {
    if ((*this)[place] != place) return false;
  }
  return true;
}

int AxisOrder::PlaceOf(int64_t axis) const {
  if (axis < 0) axis += ndim();
  int place = 0;
  while (place < ndim() && (*this)[place] != axis) ++place;
  IROPT_CHECK(place < ndim(), "a tensor of rank {} has no axis {}", ndim(), axis);
  return place;
}

AxisOrder AxisOrder::To(const AxisOrder& other) const {
  AxisOrder order;
  for (int place = 0; place < other.ndim(); ++place) order.push_back(PlaceOf(other[place]));
  return order;
}

std::string AxisOrder::Reorder(std::string_view layout) const {
  std::string text;
  for (int place = 0; place < ndim(); ++place) text += layout[static_cast<size_t>((*this)[place])];
  return text;
}

bool operator==(const AxisOrder& a, const AxisOrder& b) {
  return a.size_ == b.size_ && std::equal(a.axes_.begin(), a.axes_.begin() + a.size_, b.axes_.begin());
}

bool SameLayout(const ValueLayout* a, const ValueLayout* b) {
  if (a == b) return true;
  if (!a || !b || a->fields.size() != b->fields.size()) return false;
  if (a->fields.empty()) return a->order == b->order;
  return WithStack([&] { return std::ranges::equal(a->fields, b->fields, SameLayout); });
}

// ---- LayoutCall

int LayoutCall::NdimOf(size_t operand) const {
  const auto* type = As<TensorType>(call_.args[operand]->type);
  return type ? type->ndim : 0;
}

AxisOrder LayoutCall::OrderOf(size_t operand) const {
  const ValueLayout* layout = layouts_[operand];
  return layout ? layout->order : AxisOrder::Identity(NdimOf(operand));
}

void LayoutCall::SetOperand(size_t operand, const ValueLayout* layout) {
  if (operand >= operands_.size()) operands_.resize(operand + 1);
  operands_[operand] = layout;
}

void LayoutCall::Follow(size_t operand, const AxisOrder& order) {
  result_ = Make(order);
  SetOperand(operand, result_);
}

const ValueLayout* LayoutCall::Make(const AxisOrder& order) {
  return order.is_identity() ? nullptr : arena_.New<ValueLayout>(order, List<const ValueLayout*>());
}

const ValueLayout* LayoutCall::Make(std::span<const ValueLayout* const> fields) {
  if (std::ranges::none_of(fields, [](const ValueLayout* field) { return field != nullptr; })) return nullptr;
  return arena_.New<ValueLayout>(AxisOrder(), List<const ValueLayout*>(arena_.Copy(fields)));
}

void LayoutCall::SetAttr(uint32_t field, const Attr* value) {
  const auto* record = To<ObjectAttr>(attrs_);
  if (record->values[field] != value) attrs_ = record->With(field, value);
}

void LayoutCall::SetInt(uint32_t field, int64_t value) { SetAttr(field, IntAttr::Get(value)); }

void LayoutCall::SetInts(uint32_t field, std::span<const int64_t> values) {
  SetAttr(field, op_attrs::FromInts(values));
}

void LayoutCall::SetText(uint32_t field, std::string_view value) { SetAttr(field, StrAttr::Get(value)); }

void LayoutCall::SetOperandInts(size_t operand, std::vector<int64_t> values) {
  has_ints_ = true;
  ints_operand_ = operand;
  ints_ = std::move(values);
}

bool LayoutCall::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// ---- The table

bool NoLayout(LayoutCall&) { return true; }

LayoutRule LayoutRuleOf(const OpInfo& op) {
  // The Relax operators come after the intrinsics.
  static constexpr LayoutRule kRules[] = {
#define IROPT_OP(id, name, rule, kernel, layout, ...) &layout,
#include "iropt/op/ops.def"
  };
  const size_t index = IndexOf(op.id);
  if (index < kNumIntrinsics || index >= kNumOps) return nullptr;
  const LayoutRule rule = kRules[index - kNumIntrinsics];
  return rule == &NoLayout ? nullptr : rule;
}

}  // namespace iropt
