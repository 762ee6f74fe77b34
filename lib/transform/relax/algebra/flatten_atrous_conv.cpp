// FlattenAtrousConv: makes dilated convolutions of those whose data are spread to batches.
//
//   lv = space_to_batch(x)       -->    gv = R.nn.conv2d(x, w, padding=..., dilation=[4, 4], data_layout="NHWC")
//   lv1 = R.nn.conv2d(lv, w)
//   gv = batch_to_space(lv1)
//
// where space_to_batch is R.reshape, R.permute_dims and R.reshape of a tensor that may be padded with zeros, and
// batch_to_space is the same backward, with a slice that crops the image; so TensorFlow writes such convolutions. The
// convolution has strides of 1 and no padding. The new padding is what is left of the old one after the crop. Changed
// functions are cleaned up. O(nodes).
//
// Source: the pass of Relay of TVM 0.18 of this name, which takes the padding that keeps the size of the image, and
// does not look at the old one.
#include <array>
#include <memory>
#include <optional>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

using Sizes = std::vector<int64_t>;

std::optional<Sizes> StaticSizes(const Expr* expr) {
  const TensorType* tensor = TensorTypeOf(expr);
  if (!tensor || !tensor->known) return std::nullopt;
  Sizes sizes;
  for (const PrimExpr* dim : tensor->dims) {
    const int64_t* size = arith::AsInt(dim);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

// The data of a padding of the image with zeros, and how wide it is before the image; nothing for another one.
struct Padded {
  const Expr* data;
  std::array<int64_t, 2> before = {0, 0};
};
std::optional<Padded> PaddingOf(const Expr* padded, const Match& match) {
  const Expr* definition = DefinitionOf(padded, match.definitions());
  const Call* pad = CallOf(definition, op::kNnPad);
  if (!pad) return Padded{padded};
  const auto* number = As<Constant>(DefinitionOf(pad->args[1], match.definitions()));
  const std::optional<Scalar> value = number ? ScalarOf(*number->data) : std::nullopt;
  const Sizes widths = PadAttrs(*pad).pad_width().vector();
  const bool of_image = widths.size() == 8 && widths[0] + widths[1] + widths[6] + widths[7] == 0;
  if (PadAttrs(*pad).pad_mode() != "constant" || !value || value->ToDouble() != 0 || !of_image) return std::nullopt;
  return Padded{pad->args[0], {widths[2], widths[4]}};
}

// The first element along the two axes of the image that a slice keeps; nothing for other slices.
std::optional<std::array<int64_t, 2>> BeginOf(const Call& slice) {
  const auto number = [&](size_t operand, uint32_t i) {
    const auto* tuple = As<TupleType>(slice.args[operand]->type);
    const auto* scalar = tuple && i < tuple->fields.size() ? As<PrimType>(tuple->fields[i]) : nullptr;
    const int64_t* value = scalar && scalar->value ? arith::AsInt(scalar->value) : nullptr;
    return value ? *value : int64_t{-1};
  };
  const auto* axes = As<TupleType>(slice.args[1]->type);
  if (slice.args.size() != 4 || !axes || axes->fields.size() != 2 || number(1, 0) != 1 || number(1, 1) != 2)
    return std::nullopt;
  const std::array<int64_t, 2> begin = {number(2, 0), number(2, 1)};
  if (begin[0] < 0 || begin[1] < 0) return std::nullopt;
  return begin;
}

// The parts of such a convolution.
struct Atrous {
  Pattern padded = Wildcard();
  Pattern weight = Wildcard();
  Pattern split = IsCall(GetOp(op::kReshape), {padded, Wildcard()});
  Pattern spread = IsCall(GetOp(op::kPermuteDims), {split});
  Pattern batches = IsCall(GetOp(op::kReshape), {spread, Wildcard()});
  Pattern conv = IsCall(GetOp(op::kNnConv2d), {batches, weight});
  Pattern parts = IsCall(GetOp(op::kReshape), {conv, Wildcard()});
  Pattern gathered = IsCall(GetOp(op::kPermuteDims), {parts});
  Pattern image = IsCall(GetOp(op::kReshape), {gathered, Wildcard()});
};

const Call& CallAt(const Pattern& pattern, const Match& match) {
  return *To<Call>(DefinitionOf(match[pattern], match.definitions()));
}

// The block of the two reorderings, if they undo each other.
std::optional<std::array<int64_t, 2>> BlockOf(const Atrous& atrous, const Match& match) {
  const auto split = StaticSizes(&CallAt(atrous.split, match));
  const auto parts = StaticSizes(&CallAt(atrous.parts, match));
  const auto batches = StaticSizes(&CallAt(atrous.batches, match));
  const auto padded = StaticSizes(match[atrous.padded]);
  if (!split || !parts || !batches || !padded || split->size() != 6 || parts->size() != 6 || padded->size() != 4)
    return std::nullopt;
  const Sizes& s = *split;
  const std::array<int64_t, 2> block = {s[2], s[4]};
  const bool splits = s[0] == (*padded)[0] && s[1] * s[2] == (*padded)[1] && s[3] * s[4] == (*padded)[2];
  const bool spreads = PermutationOf(CallAt(atrous.spread, match)) == Sizes{2, 4, 0, 1, 3, 5} &&
                       *batches == Sizes{s[2] * s[4] * s[0], s[1], s[3], s[5]};
  const bool gathers = PermutationOf(CallAt(atrous.gathered, match)) == Sizes{2, 3, 0, 4, 1, 5} &&
                       (*parts)[0] == block[0] && (*parts)[1] == block[1] && (*parts)[2] == s[0];
  if (!splits || !spreads || !gathers) return std::nullopt;
  return block;
}

bool IsPlain(const ConvAttrs& attrs) {
  const auto all = [](const IntList& list, int64_t value) {
    for (const int64_t number : list) {
      if (number != value) return false;
    }
    return true;
  };
  const bool of_images = attrs.data_layout() == "NHWC" && (attrs.out_layout().empty() || attrs.out_layout() == "NHWC");
  return of_images && all(attrs.strides(), 1) && all(attrs.padding(), 0) && all(attrs.dilation(), 1);
}

// The convolution of the data whose result has this type, and begins with what the slice keeps; null if there is none.
const Expr* Flatten(const Atrous& atrous, const Match& match, const Expr* result, std::array<int64_t, 2> begin,
                    BlockBuilder& builder) {
  const Call& conv = CallAt(atrous.conv, match);
  const ConvAttrs attrs(conv);
  const auto block = BlockOf(atrous, match);
  const auto padded = PaddingOf(match[atrous.padded], match);
  if (!block || !padded || !IsPlain(attrs)) return nullptr;
  const auto data = StaticSizes(padded->data);
  const auto kernel = StaticSizes(conv.args[1]);
  const auto image = StaticSizes(result);
  if (!data || !kernel || !image) return nullptr;
  Sizes padding(4);
  for (size_t i = 0; i < 2; ++i) {
    const size_t axis = attrs.kernel_layout().find(i == 0 ? 'H' : 'W');
    const int64_t reach = ((*kernel)[axis] - 1) * (*block)[i];
    padding[i] = padded->before[i] - begin[i];
    padding[i + 2] = (*image)[i + 1] + reach - (*data)[i + 1] - padding[i];
    if (padding[i] < 0 || padding[i + 2] < 0) return nullptr;
  }
  const auto* record = To<ObjectAttr>(conv.attrs);
  const Attr* dilated = record->With(ConvAttrs::Field::padding, op_attrs::FromInts(padding));
  dilated = To<ObjectAttr>(dilated)->With(ConvAttrs::Field::dilation, op_attrs::FromInts(*block));
  return OpBuilder(builder).Make(op::kNnConv2d, {padded->data, match[atrous.weight]}, dilated);
}

RuleSet MakeAtrousRules() {
  RuleSet rules;
  const Atrous atrous;
  const Pattern slice = IsCall(GetOp(op::kStridedSlice), {atrous.image, Wildcard(), Wildcard(), Wildcard()});
  rules.Add({"flatten-cropped-atrous-conv", slice, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Call& cropped = CallAt(slice, match);
               const auto begin = BeginOf(cropped);
               return begin ? Flatten(atrous, match, &cropped, *begin, builder) : nullptr;
             }});
  // A bigger image than the data is cropped.
  rules.Add({"flatten-atrous-conv", atrous.image, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Call& image = CallAt(atrous.image, match);
               const auto padded = PaddingOf(match[atrous.padded], match);
               const auto data = padded ? StaticSizes(padded->data) : std::nullopt;
               const auto sizes = StaticSizes(&image);
               const bool same = data && sizes && data->size() == 4 && sizes->size() == 4 &&
                                 (*data)[1] == (*sizes)[1] && (*data)[2] == (*sizes)[2];
               return same ? Flatten(atrous, match, &image, {0, 0}, builder) : nullptr;
             }});
  return rules;
}

}  // namespace

Pass CreateFlattenAtrousConv(const PassOptions& options) {
  return CreateOrderedRulePass(options.info(), std::make_shared<const RuleSet>(MakeAtrousRules()));
}

}  // namespace iropt
