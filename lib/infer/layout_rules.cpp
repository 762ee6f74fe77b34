#include "iropt/infer/layout_rules.h"

#include <algorithm>

#include "iropt/arith/analyzer.h"
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
  if (!from.ConvertibleTo(to) || std::ranges::any_of(from.axes(), is_split) || to.ndim() > kMaxRank)
    return std::nullopt;
  AxisOrder order;
  for (const Layout::Axis& axis : to.axes()) order.push_back(from.IndexOf(axis.primal()), axis.length);
  return order;
}

int AxisOrder::num_axes() const { return static_cast<int>(std::count(parts_.begin(), parts_.begin() + size_, 0)); }

bool AxisOrder::is_identity() const {
  for (int place = 0; place < ndim(); ++place) {
    if ((*this)[place] != place || PartAt(place) != 0) return false;
  }
  return true;
}

int AxisOrder::PlaceOf(int64_t axis) const {
  if (axis < 0) axis += num_axes();
  int place = 0;
  while (place < ndim() && ((*this)[place] != axis || PartAt(place) != 0)) ++place;
  IROPT_CHECK(place < ndim(), "a tensor of rank {} has no axis {}", num_axes(), axis);
  return place;
}

std::optional<AxisOrder> AxisOrder::To(const AxisOrder& other) const {
  if (ndim() != other.ndim()) return std::nullopt;
  AxisOrder order;
  for (int place = 0; place < other.ndim(); ++place) {
    int from = 0;
    while (from < ndim() && ((*this)[from] != other[place] || PartAt(from) != other.PartAt(place))) ++from;
    if (from == ndim()) return std::nullopt;
    order.push_back(from);
  }
  return order;
}

std::string AxisOrder::Reorder(std::string_view layout) const {
  std::string text;
  for (int place = 0; place < ndim(); ++place) {
    const char letter = layout[static_cast<size_t>((*this)[place])];
    if (PartAt(place) != 0) {
      text += std::to_string(PartAt(place));
      text += static_cast<char>(letter - 'A' + 'a');
    } else {
      text += letter;
    }
  }
  return text;
}

std::vector<const PrimExpr*> AxisOrder::Indices(std::span<const PrimExpr* const> indices, const AxisOrder& from) const {
  const arith::PrimBuilder make;
  // The number of elements of its axis that a step at the position skips: the product of the parts after it.
  const auto stride = [](const AxisOrder& order, int place) {
    int64_t product = 1;
    const bool is_part = order.PartAt(place) != 0;
    for (int other = is_part ? place + 1 : 0; other < order.ndim(); ++other) {
      if (order[other] == order[place] && order.PartAt(other) != 0) product *= order.PartAt(other);
    }
    return product;
  };
  std::vector<const PrimExpr*> stored;
  arith::Analyzer analyzer;
  for (int place = 0; place < ndim(); ++place) {
    const PrimExpr* whole = nullptr;
    for (int source = 0; source < from.ndim(); ++source) {
      if (from[source] != (*this)[place]) continue;
      const PrimExpr* index = indices[static_cast<size_t>(source)];
      const PrimExpr* term = make.Mul(index, make.Const(stride(from, source), index->dtype));
      whole = whole ? make.Add(whole, term) : term;
    }
    const int64_t step = stride(*this, place);
    const auto constant = [&](int64_t value) { return make.Const(value, whole->dtype); };
    if (PartAt(place) != 0) whole = make.FloorMod(whole, constant(step * PartAt(place)));
    stored.push_back(analyzer.Simplify(make.FloorDiv(whole, constant(step))));
  }
  return stored;
}

bool AxisOrder::Divides(const TensorType& type) const {
  if (!type.known || type.ndim != num_axes()) return false;
  for (int axis = 0; axis < type.ndim; ++axis) {
    int64_t parts = 1;
    for (int place = 0; place < ndim(); ++place) {
      if ((*this)[place] == axis && PartAt(place) != 0) parts *= PartAt(place);
    }
    const int64_t* length = arith::AsInt(type.dims[static_cast<uint32_t>(axis)]);
    if (length && *length % parts != 0) return false;
  }
  return true;
}

bool operator==(const AxisOrder& a, const AxisOrder& b) {
  return a.size_ == b.size_ && std::equal(a.axes_.begin(), a.axes_.begin() + a.size_, b.axes_.begin()) &&
         std::equal(a.parts_.begin(), a.parts_.begin() + a.size_, b.parts_.begin());
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

const ValueLayout* LayoutCall::PlainLayout(size_t operand) const {
  const ValueLayout* layout = layouts_[operand];
  return layout && layout->order.is_split() ? nullptr : layout;
}

AxisOrder LayoutCall::PlainOrderOf(size_t operand) const {
  return PlainLayout(operand) ? OrderOf(operand) : AxisOrder::Identity(NdimOf(operand));
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

void LayoutCall::SetOperandInts(size_t operand, std::vector<int64_t> values) { ints_[operand] = std::move(values); }

bool LayoutCall::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// ---- The table

// Each rule is declared by the rows that name it.
#define IROPT_OP(id, name, rule, kernel, layout, ...) bool layout(LayoutCall& call);
#include "iropt/op/ops.def"

bool NoLayout(LayoutCall&) { return true; }

LayoutRule LayoutRuleOf(const OpInfo& op) {
  static constexpr LayoutRule kRules[] = {
#define IROPT_OP(id, name, rule, kernel, layout, ...) &layout,
#include "iropt/op/ops.def"
  };
  const LayoutRule* rule = EntryOf(op, kRules);
  return rule && *rule != &NoLayout ? *rule : nullptr;
}

}  // namespace iropt
