#include "iropt/infer/layout_rules.h"

#include <algorithm>

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

void LayoutCall::SetAttr(std::string_view name, const Attr* value) {
  const auto* record = To<ObjectAttr>(attrs_);
  if (record->Find(name) != value) attrs_ = record->With(name, value);
}

void LayoutCall::SetInt(std::string_view attr, int64_t value) { SetAttr(attr, IntAttr::Get(value)); }

void LayoutCall::SetInts(std::string_view attr, std::span<const int64_t> values) {
  std::vector<const Attr*> items;
  for (const int64_t value : values) items.push_back(IntAttr::Get(value));
  SetAttr(attr, ListAttr::Get(items));
}

void LayoutCall::SetText(std::string_view attr, std::string_view value) { SetAttr(attr, StrAttr::Get(value)); }

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

namespace {

struct Row {
  LayoutRule rule = nullptr;
  bool unlike_tvm = false;
  LayoutChoices choices;
};

std::vector<Row> RowsById() {
  std::vector<Row> rows(AllOps().size());
#define IROPT_LAYOUT_RULE(op, function) rows[FindOp("relax." #op)->id].rule = &function;
#define IROPT_LAYOUT_RULE_UNLIKE_TVM(op, function)                                                                     \
  IROPT_LAYOUT_RULE(op, function)                                                                                      \
  rows[FindOp("relax." #op)->id].unlike_tvm = true;
#define IROPT_LAYOUT_CHOICES(op, required, ...)                                                                        \
  {                                                                                                                    \
    static constexpr std::string_view axes[] = {__VA_ARGS__};                                                          \
    rows[FindOp("relax." #op)->id].choices = {axes, required};                                                         \
  }
#include "iropt/infer/layout_rules.def"
  return rows;
}

const Row& RowOf(const OpInfo& op) {
  static const std::vector<Row> rows = RowsById();
  return rows[op.id];
}

}  // namespace

LayoutRule LayoutRuleOf(const OpInfo& op) { return RowOf(op).rule; }
bool TvmFindsNoLayouts(const OpInfo& op) { return RowOf(op).unlike_tvm; }
LayoutChoices LayoutChoicesOf(const OpInfo& op) { return RowOf(op).choices; }

}  // namespace iropt
