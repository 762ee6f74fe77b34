#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catch.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/op_groups.h"
#include "iropt/op/ops/all.h"

namespace iropt {
namespace {

using nlohmann::json;

std::vector<const OpInfo*> GraphOps() {
  std::vector<const OpInfo*> ops;
  for (const OpInfo& info : AllOps()) {
    if (info.is_graph_level()) ops.push_back(&info);
  }
  return ops;
}

TEST_CASE("operators are found by name and by script") {
  const OpInfo* conv = FindOp("relax.nn.conv2d");
  REQUIRE(conv != nullptr);
  CHECK(conv->script == "R.nn.conv2d");
  CHECK(FindGraphOpByScript("nn.conv2d") == conv);
  CHECK(GetOp("relax.nn.conv2d") == conv->op);
  CHECK(conv->op->info == conv);
  CHECK(conv->op->name == "relax.nn.conv2d");

  const OpInfo* exp = FindIntrinsicByScript("exp");
  REQUIRE(exp != nullptr);
  CHECK(exp->name == "tir.exp");
  CHECK(FindOp("tir.exp") == exp);

  CHECK(FindOp("relax.nn.conv4d") == nullptr);
  CHECK(FindOp("") == nullptr);
  CHECK(FindGraphOpByScript("exp10") == nullptr);
  CHECK(FindIntrinsicByScript("nn.conv2d") == nullptr);
}

TEST_CASE("second names of operators in scripts") {
  CHECK(FindGraphOpByScript("dist.call_tir") == FindOp("relax.call_tir"));
  CHECK(FindIntrinsicByScript("call_packed") == FindOp("tir.tvm_call_packed"));
  CHECK(FindIntrinsicByScript("tvm_call_packed") == FindOp("tir.tvm_call_packed"));
  CHECK(FindOp("tir.tvm_call_packed")->script == "T.call_packed");
}

TEST_CASE("the nearest operator to a misspelt one") {
  CHECK(NearestGraphOpScript("nn.conv2") == "nn.conv2d");
  CHECK(NearestGraphOpScript("permutedims") == "permute_dims");
  CHECK(NearestGraphOpScript("zzzzzz").empty());
}

TEST_CASE("each row has an id of its own, and TIR operators come first") {
  std::set<OpId> ids;
  for (size_t i = 0; i < AllOps().size(); ++i) {
    const OpInfo& info = AllOps()[i];
    INFO(info.name);
    CHECK(ids.insert(info.id).second);
    CHECK(info.op->id == info.id);
    CHECK(info.is_graph_level() == (i >= kNumIntrinsics));
    CHECK(info.row == (info.is_graph_level() ? i - kNumIntrinsics : OpInfo::kNoRow));
    CHECK(std::min(IntrinsicRowOf(info.id), kNumIntrinsics) == std::min(i, kNumIntrinsics));
    CHECK(info.name.starts_with(info.is_graph_level() ? "relax." : "tir."));
    CHECK(FindOp(info.name) == &info);
    CHECK(&OpInfoOf(info.id) == &info);
    CHECK(GetOp(info.id) == info.op);
  }
}

TEST_CASE("a table by rows has entries for the operators of ops.def only") {
  static constexpr std::string_view kNames[] = {
#define IROPT_OP(id, name, ...) "relax." #name,
#include "iropt/op/ops.def"
  };
  for (const OpInfo& info : AllOps()) {
    const std::string_view* name = EntryOf(info, kNames);
    CHECK((name != nullptr) == info.is_graph_level());
    if (name) CHECK(*name == info.name);
  }
}

TEST_CASE("operators are told by their ids") {
  CHECK(OpInfoOf(op::kNnConv2d).name == "relax.nn.conv2d");
  CHECK(OpInfoOf(op::kTirTvmStorageSync).name == "tir.tvm_storage_sync");
  CHECK(IsOp(GetOp("relax.add"), op::kAdd));
  CHECK_FALSE(IsOp(GetOp("relax.add"), op::kSubtract));
  CHECK(IsOneOf(*GetOp(op::kCallTir), op::kAdd, op::kCallTir));

  const Call call(GetOp(op::kAdd), {}, nullptr, nullptr, nullptr);
  CHECK(CallOf(&call, op::kAdd) == &call);
  CHECK(CallOf(&call, op::kExp) == nullptr);
  CHECK(CallOf(call.op, op::kAdd) == nullptr);
  CHECK(CallOf(static_cast<const Expr*>(nullptr), op::kAdd) == nullptr);
  const tir::Call scalar(DataType::Float(32), GetOp(op::kTirExp), {});
  CHECK(CallOf(&scalar, op::kTirExp) == &scalar);
  CHECK(CallOf(&scalar, op::kTirLog) == nullptr);
}

TEST_CASE("the groups that ids have names for") {
  for (const OpInfo& info : AllOps()) {
    INFO(info.name);
    CHECK(IsInspection(info.id) == info.name.starts_with("relax.inspect."));
    const bool call_tir = info.name.starts_with("relax.call_tir");
    CHECK(IsCallTir(info.id) == call_tir);
  }
}

// The parameters of a row cover each operand and attribute once.
TEST_CASE("every Relax row is complete") {
  for (const OpInfo* info : GraphOps()) {
    INFO(info->name);
    CHECK(info->attrs.empty() == info->attrs_key.empty());
    CHECK(info->script.substr(2) == info->name.substr(6));
    std::multiset<std::pair<OpParam::Role, int>> filled;
    std::set<std::string_view> names;
    for (const OpParam& param : info->params) {
      filled.insert({param.role, param.index});
      CHECK(names.insert(param.name).second);
    }
    const bool device = info->form == ScriptForm::kDevice;
    for (size_t i = 0; i < info->args.size(); ++i) CHECK(filled.count({OpParam::Role::kArg, static_cast<int>(i)}) == 1);
    for (size_t i = 0; i < info->attrs.size(); ++i) {
      // The device fills its type and number.
      CHECK(filled.count({OpParam::Role::kAttr, static_cast<int>(i)}) == (device && i < 2 ? 0 : 1));
    }
    if (!info->extended.empty()) {
      const OpInfo* extended = FindOp(info->extended);
      REQUIRE(extended);
      CHECK(extended->args.size() == info->args.size() + 1);
      CHECK(extended->attrs_key == info->attrs_key);
    }
  }
}

TEST_CASE("only attention over sequences is written with its operands in another order") {
  for (const OpInfo* info : GraphOps()) {
    INFO(info->name);
    CHECK(info->arg_order.empty() == (info->name != "relax.nn.attention_var_len"));
  }
  const auto order = FindOp("relax.nn.attention_var_len")->arg_order;
  CHECK(std::vector<int>(order.begin(), order.end()) == std::vector<int>{0, 1, 2, 3, 5, 4, 6});
}

TEST_CASE("every intrinsic row is complete") {
  for (const OpInfo& info : AllOps()) {
    if (info.is_graph_level()) continue;
    INFO(info.name);
    CHECK(info.intrinsic->op == &info);
    CHECK(IntrinsicOf(info.op) == info.intrinsic);
    CHECK(static_cast<int>(info.intrinsic->defaults.size()) <= std::max<int>(info.intrinsic->num_args, 0));
    CHECK((info.pure == (EffectOf(info.op) <= CallEffect::kReadState)));
    // A dtype that cannot be inferred must be printed.
    if (info.intrinsic->dtype_print == DtypePrint::kLast) CHECK(info.intrinsic->result == ResultDtype::kGiven);
  }
}

TEST_CASE("dtypes of calls of intrinsics") {
  const tir::Var f("f", DataType::Float(32), 0);
  const tir::Var v("v", DataType::Float(16, 4), 1);
  const auto dtype = [](std::string_view script, std::vector<const PrimExpr*> args) {
    return ResultDtypeOf(*FindIntrinsicByScript(script)->intrinsic, args);
  };
  CHECK(dtype("exp", {&v}) == DataType::Float(16, 4));
  CHECK(dtype("if_then_else", {&f, &v, &v}) == DataType::Float(16, 4));
  CHECK(dtype("isnan", {&v}) == DataType::Bool().with_lanes(4));
  CHECK(dtype("isnullptr", {&f}) == DataType::Bool());
  CHECK(dtype("tvm_warp_shuffle", {&f, &v}) == DataType::Float(16, 4));
  CHECK(dtype("ptx_commit_group", {}) == DataType::Void());
  CHECK_FALSE(dtype("call_extern", {&f}).has_value());
  CHECK_FALSE(dtype("exp", {}).has_value());
}

TEST_CASE("an attribute record from some values and the defaults for the rest") {
  const ObjectAttr* attrs = MakeOpAttrs(op::kNnConv2d, ConvAttrs::Values{.groups = 2, .data_layout = "NHWC"});
  CHECK(attrs->type_key == "relax.attrs.Conv2DAttrs");
  CHECK(attrs->Find("groups") == IntAttr::Get(2));
  CHECK(attrs->Find("out_layout") == StrAttr::Get("NHWC"));
  CHECK(attrs->Find("kernel_layout") == StrAttr::Get("OIHW"));
  CHECK(attrs->Find("out_dtype") == DTypeAttr::Get(DataType::Void()));
  const Attr* one = IntAttr::Get(1);
  const Attr* zero = IntAttr::Get(0);
  CHECK(attrs->Find("strides") == ListAttr::Get(std::array{one, one}));
  CHECK(attrs->Find("padding") == ListAttr::Get(std::array{zero, zero, zero, zero}));
}

TEST_CASE("attributes are read by their places") {
  const ConvAttrs conv(MakeOpAttrs(op::kNnConv2d, ConvAttrs::Values{.strides = std::vector<int64_t>{2, 3}}));
  CHECK(conv.exists());
  CHECK(conv.strides().vector() == std::vector<int64_t>{2, 3});
  CHECK(conv.padding().vector() == std::vector<int64_t>{0, 0, 0, 0});
  CHECK(conv.groups() == 1);
  CHECK(conv.data_layout() == "NCHW");
  CHECK(conv.out_layout() == "NCHW");
  CHECK(conv.out_dtype().is_void());

  const AttentionAttrs none(MakeOpAttrs(op::kNnAttention, AttentionAttrs::Values{}));
  CHECK_FALSE(none.scale().has_value());
  CHECK_FALSE(none.causal_mask().has_value());
  const AttentionAttrs some(
      MakeOpAttrs(op::kNnAttention, AttentionAttrs::Values{.scale = 0.5, .causal_mask = "TopLeft"}));
  CHECK(some.scale() == 0.5);
  CHECK(some.causal_mask() == "TopLeft");
  CHECK_FALSE(some.window_size().has_value());

  const Resize2DAttrs resize(MakeOpAttrs(op::kImageResize2d, Resize2DAttrs::Values{}));
  CHECK(resize.roi() == std::vector<double>(4, 0.0));
  CHECK(resize.cubic_alpha() == -0.5);

  const SplitAttrs sections(MakeOpAttrs(op::kSplit, SplitAttrs::Values{.indices_or_sections = 3}));
  CHECK_FALSE(sections.indices_or_sections().is_list);
  CHECK(sections.indices_or_sections()[0] == 3);
  const SplitAttrs indices(
      MakeOpAttrs(op::kSplit, SplitAttrs::Values{.indices_or_sections = std::vector<int64_t>{1, 4}}));
  CHECK(indices.indices_or_sections().is_list);
  CHECK(indices.indices_or_sections().vector() == std::vector<int64_t>{1, 4});
}

TEST_CASE("without the record of the operator there are zeros") {
  const ConvAttrs conv(MakeOpAttrs(op::kSplit, SplitAttrs::Values{.indices_or_sections = 3}));
  CHECK_FALSE(conv.exists());
  CHECK(conv.strides().empty());
  CHECK(conv.groups() == 0);
  CHECK(conv.data_layout().empty());
  CHECK(TakeAttrs(static_cast<const Attr*>(nullptr)).axis() == std::nullopt);
}

TEST_CASE("a record matches an operator if every value is of its kind") {
  const OpInfo& split = OpInfoOf(op::kSplit);
  const ObjectAttr* good = MakeOpAttrs(op::kSplit, SplitAttrs::Values{.indices_or_sections = 3});
  CHECK(HasRecordOf(split, good));
  CHECK_FALSE(HasRecordOf(split, nullptr));
  CHECK_FALSE(HasRecordOf(split, good->With(SplitAttrs::Field::axis, StrAttr::Get("1"))));
  CHECK_FALSE(HasRecordOf(OpInfoOf(op::kTake), good));
  CHECK_FALSE(HasRecordOf(OpInfoOf(op::kAdd), good));
  CHECK(HasRecordOf(OpInfoOf(op::kAdd), nullptr));
}

// Every view fits the record of each operator that has one: the defaults and kinds of the rows agree.
TEST_CASE("the defaults of attributes are of their kinds") {
  for (const OpInfo* info : GraphOps()) {
    INFO(info->name);
    std::vector<const Attr*> values;
    bool complete = !info->attrs.empty();
    for (const OpAttr& attr : info->attrs) {
      values.push_back(DefaultOf(*info, attr));
      complete = complete && values.back();
    }
    if (complete) CHECK(HasRecordOf(*info, MakeOpAttrs(*info, values)));
  }
}

// ---- The table against the recorded facts of TVM

// The recorded facts, or nothing if they are not available.
json Facts(const std::string& name) {
  const char* folder = std::getenv("IROPT_CONFORMANCE_DIR");
  std::ifstream file(folder ? folder + ("/" + name) : std::string());
  return file ? json::parse(file) : json::array();
}

// Those operands, attributes, parameters or operators that TVM 0.18 has.
bool IsOld(const OpArg& arg) { return arg.since == TextVersion::kV0_18; }
bool IsOld(const OpAttr& attr) { return attr.since == TextVersion::kV0_18; }

std::vector<OpParam> OldParams(const OpInfo& info) {
  std::vector<OpParam> params;
  for (const OpParam& param : info.params) {
    const bool is_new = (param.role == OpParam::Role::kArg && !IsOld(info.args[param.index])) ||
                        (param.role == OpParam::Role::kAttr && !IsOld(info.attrs[param.index]));
    if (!is_new) params.push_back(param);
  }
  return params;
}

// Compares the kind of an attribute with TVM's name of it.
bool KindFits(AttrKind kind, const std::string& type) {
  static const std::map<std::string, std::set<AttrKind>> kKinds{
      {"bool", {AttrKind::kBool}},
      {"Bool", {AttrKind::kBool}},
      {"int", {AttrKind::kInt}},
      {"int32_t", {AttrKind::kInt}},
      {"Integer", {AttrKind::kInt}},
      {"double", {AttrKind::kDouble}},
      {"String", {AttrKind::kString}},
      {"tvm::String", {AttrKind::kString}},
      {"DataType", {AttrKind::kDataType}},
      {"Array<IntImm>", {AttrKind::kIntList}},
      {"Array<Integer>", {AttrKind::kIntList}},
      {"Array<FloatImm>", {AttrKind::kFloatList}},
      {"Optional<Integer>", {AttrKind::kOptInt}},
      {"Optional<IntImm>", {AttrKind::kOptInt}},
      {"Optional<FloatImm>", {AttrKind::kOptFloat}},
      {"Optional<String>", {AttrKind::kOptString}},
      {"Optional<Array<Integer>>", {AttrKind::kOptIntList}},
      // An absent list of axis separators is an empty one.
      {"Optional<Array<IntImm>>", {AttrKind::kOptIntList, AttrKind::kIntList}},
      {"Optional<PrimValue>", {AttrKind::kOptPrimValue}},
      {"ObjectRef", {AttrKind::kIntOrIntList}},
      {"Map<String, ObjectRef>", {AttrKind::kDict}},
      {"tir::IndexMap", {AttrKind::kIndexMap}},
      {"VDevice", {AttrKind::kVDevice}},
  };
  const auto it = kKinds.find(type);
  return it != kKinds.end() && it->second.contains(kind);
}

bool KindFits(ArgKind kind, const std::string& type) {
  static const std::map<std::string, std::set<ArgKind>> kKinds{
      {"Tensor", {ArgKind::kTensor, ArgKind::kScalar}},
      {"Optional<Tensor>", {ArgKind::kTensor}},
      {"Shape", {ArgKind::kShape}},
      {"PrimValue", {ArgKind::kPrimValue}},
      {"Prim(int64)", {ArgKind::kPrimValue}},
      {"Prim(\"int64\")", {ArgKind::kPrimValue}},
      {"StringImm", {ArgKind::kString}},
      {"DataTypeImm", {ArgKind::kDataType}},
      {"DataType", {ArgKind::kDataType}},
      {"Tuple", {ArgKind::kTuple, ArgKind::kCallArgs}},
      {"Tuple of Tensors", {ArgKind::kTuple}},
      {"Expr", {ArgKind::kExpr, ArgKind::kShape, ArgKind::kFunc}},
      {"Array<Expr>", {ArgKind::kExpr}},
  };
  const auto it = kKinds.find(type);
  return it != kKinds.end() && it->second.contains(kind);
}

// A default of the Python signature: numbers may stand for tuples of equal numbers.
bool DefaultFits(const OpDefault& fallback, const std::string& text) {
  const bool tuple = text.starts_with('(');
  const std::string first = tuple ? text.substr(1, text.find(',') - 1) : text;
  switch (fallback.kind) {
    case OpDefault::Kind::kNone:
    case OpDefault::Kind::kSameAs: return text == "None";
    case OpDefault::Kind::kBool: return text == (fallback.integer ? "True" : "False");
    case OpDefault::Kind::kInt: return first != "None" && std::stoll(first) == fallback.integer;
    case OpDefault::Kind::kFloat: return first != "None" && std::stod(first) == fallback.real;
    case OpDefault::Kind::kString: return text == fmt::format("'{}'", fallback.text);
    case OpDefault::Kind::kRequired: return false;
  }
  return false;
}

// Registrations in TVM that contradict what its functions build and its rules expect, with the reason.
const std::map<std::string, std::string> kMisregistered{
    {"relax.call_builtin_with_ctx num_inputs", "the context is not an operand"},
    {"relax.strided_slice num_inputs", "axes, begin, end and strides are operands"},
    {"relax.unique sorted", "a scalar, as are the four that follow"},
    {"relax.unique return_index", ""},
    {"relax.unique return_inverse", ""},
    {"relax.unique return_counts", ""},
    {"relax.unique axis", ""},
    {"relax.einsum operands", "a tuple of tensors"},
    {"relax.image.resize2d roi", "None stands for four zeros"},
};

bool Excused(const OpInfo& info, const std::string& what) {
  return kMisregistered.contains(std::string(info.name) + " " + what);
}

// Returns whether rows name a layout rule.
std::map<OpId, bool> LayoutRules() {
  return {
#define IROPT_OP(id, name, rule, kernel, layout, ...) {op::k##id, std::string_view(#layout) != "NoLayout"},
#include "iropt/op/ops.def"
  };
}

void CheckArguments(const OpInfo& info, const json& fact) {
  for (const json& argument : fact["arguments"]) {
    if (argument.empty()) continue;  // TVM's registration of an operator without operands
    const std::string name = argument[0];
    INFO(name);
    const auto arg =
        std::find_if(info.args.begin(), info.args.end(), [&](const OpArg& a) { return a.registered == name; });
    REQUIRE(arg != info.args.end());
    CHECK((KindFits(arg->kind, argument[1]) || Excused(info, name)));
  }
  const int num_inputs = fact["num_inputs"];
  CHECK(info.variadic == (num_inputs < 0));
  const auto num_args = std::ranges::count_if(info.args, [](const OpArg& arg) { return IsOld(arg); });
  if (num_inputs >= 0) CHECK((num_args == num_inputs || Excused(info, "num_inputs")));
}

void CheckAttributes(const OpInfo& info, const json& fact) {
  if (!fact["attrs_type"].is_null()) CHECK(info.attrs_key == fact["attrs_type"].get<std::string>());
  if (fact["attrs"].is_null()) return;
  std::vector<OpAttr> attrs;
  std::ranges::copy_if(info.attrs, std::back_inserter(attrs), [](const OpAttr& attr) { return IsOld(attr); });
  REQUIRE(attrs.size() == fact["attrs"].size());
  for (size_t i = 0; i < attrs.size(); ++i) {
    const json& attr = fact["attrs"][i];
    INFO(attr.dump());
    CHECK(attrs[i].name == attr["name"].get<std::string>());
    CHECK(KindFits(attrs[i].kind, attr["type"]));
  }
}

void CheckSignature(const OpInfo& info, const json& fact) {
  if (fact["script"].is_null()) return;
  CHECK(info.script == fact["script"].get<std::string>());
  const json& signature = fact["script_signature"];
  const std::vector<OpParam> params = OldParams(info);
  REQUIRE(params.size() == signature.size());
  for (size_t i = 0; i < signature.size(); ++i) {
    const OpParam& param = params[i];
    std::string name = signature[i][0];
    INFO(name);
    if (name.starts_with('*')) {
      CHECK(param.rest);
      name = name.substr(1);
    }
    CHECK(param.name == name);
    if (signature[i][1].is_null()) {
      CHECK((param.required() || param.rest));
    } else if (!param.rest) {
      CHECK((DefaultFits(param.fallback, signature[i][1]) || Excused(info, name)));
    }
  }
}

// The operators with a legalization, and those with a gradient.
std::set<OpId> Legalized() {
  return {
#define IROPT_LEGALIZE(id) op::k##id,
#define IROPT_LEGALIZE_ANY_SHAPE(id) op::k##id,
#include "legalize/legalizations.def"
  };
}
// Of those without one, whether the table says why.
std::map<OpId, bool> SaysWhyNot() {
  return {
#define IROPT_LEGALIZE(id)
#define IROPT_NOT_LEGALIZED(id, why) {op::k##id, !std::string_view(why).empty()},
#include "legalize/legalizations.def"
  };
}
std::set<OpId> Differentiable() {
  return {
#define IROPT_GRADIENT(id, rule) op::k##id,
#define IROPT_NO_GRADIENT(id) op::k##id,
#include "transform/relax/gradient/rules.def"
  };
}

MixedPrecision PolicyOf(const json& fact) {
  static constexpr MixedPrecision kPolicies[] = {MixedPrecision::kAlways, MixedPrecision::kFollow,
                                                 MixedPrecision::kNever};
  const auto policy = fact.find("TMixedPrecisionPolicy");
  return policy == fact.end() ? MixedPrecision::kNever : kPolicies[policy->get<size_t>()];
}

// Hidden, because it runs as a separate test, which shows whether it was skipped.
TEST_CASE("the table states the recorded facts of every operator", "[.recorded]") {
  const json facts = Facts("ops.json");
  if (facts.empty()) {
    WARN("skipped: no ops.json in IROPT_CONFORMANCE_DIR");
    return;
  }
  // Operators that have a layout rule, or a policy of precision, since a later version.
  const std::set<std::string> newer_policies = {"relax.dynamic_strided_slice", "relax.nn.conv1d_transpose",
                                                "relax.nn.conv2d_transpose"};
  const std::set<std::string> newer_layout_rules = {
      "relax.dequantize", "relax.flip",   "relax.nn.conv1d_transpose", "relax.nn.conv2d_transpose",
      "relax.quantize",   "relax.repeat", "relax.scatter_elements",    "relax.tile"};
  std::set<std::string_view> recorded;
  for (const json& fact : facts) {
    const std::string name = fact["name"];
    INFO(name);
    const OpInfo* info = FindOp(name);
    REQUIRE(info != nullptr);
    recorded.insert(info->name);
    CHECK(info->since == TextVersion::kV0_18);
    CHECK(info->pure == fact["FPurity"].get<bool>());
    if (!newer_policies.contains(name)) CHECK(info->mixed_precision == PolicyOf(fact));
    CHECK(info->packed == fact.value("FCallPacked", ""));
    if (!newer_layout_rules.contains(name)) CHECK(LayoutRules().at(info->id) == fact.value("FRelaxInferLayout", false));
    CheckArguments(*info, fact);
    CheckAttributes(*info, fact);
    CheckSignature(*info, fact);
  }
  const auto is_old = [](const OpInfo* info) { return info->since == TextVersion::kV0_18; };
  CHECK(static_cast<ptrdiff_t>(recorded.size()) == std::ranges::count_if(GraphOps(), is_old));
}

std::vector<std::string> Names(const json& items, const json::json_pointer& name) {
  std::vector<std::string> names;
  for (const json& item : items) {
    if (!item.empty()) names.push_back(item.at(name));
  }
  return names;
}

std::vector<std::string> NewestAttrs(const OpInfo& info) {
  std::vector<std::string> names;
  for (const OpAttr& attr : info.attrs) {
    if (!attr.until) names.emplace_back(attr.renamed.empty() ? attr.name : attr.renamed);
  }
  for (const OpArg& arg : info.args) {
    if (arg.attr_since) names.emplace(names.begin() + arg.attr_place, arg.registered);
  }
  return names;
}

TEST_CASE("the table states the recorded facts of the newest operators, operands and attributes", "[.recorded]") {
  const json facts = Facts("ops_0.27.json");
  if (facts.empty()) {
    WARN("skipped: no ops_0.27.json in IROPT_CONFORMANCE_DIR");
    return;
  }
  for (const json& fact : facts) {
    const std::string name = fact["name"];
    INFO(name);
    const OpInfo* info = FindOp(name);
    REQUIRE(info != nullptr);
    std::vector<std::string> operands;
    for (const OpArg& arg : info->args) {
      if (!arg.until && !arg.attr_since && !info->variadic) operands.emplace_back(arg.registered);
    }
    // Recorded without the operands that are keywords, in the order of the script, or by a name of their own.
    static const std::set<std::string> recorded_otherwise = {"relax.dist.call_tir_local_view", "relax.strided_slice",
                                                             "relax.vm.alloc_storage"};
    if (!info->variadic && !recorded_otherwise.contains(name))
      CHECK(operands == Names(fact["arguments"], json::json_pointer("/0")));
    if (!fact["attrs"].empty()) CHECK(NewestAttrs(*info) == Names(fact["attrs"], json::json_pointer("/name")));
    CHECK(info->pure == fact["FPurity"].get<bool>());
    CHECK(info->mixed_precision == PolicyOf(fact));
    // Those of the slices are as if they had none, and that of scatter_nd lets the indices point to other elements.
    static const std::set<std::string> without_layout_rule = {"relax.dynamic_strided_slice", "relax.scatter_nd"};
    // TVM has none for these.
    static const std::set<std::string> own_layout_rule = {"relax.dequantize", "relax.quantize"};
    const bool has_layout_rule = own_layout_rule.contains(name) ||
                                 (fact.value("FRelaxInferLayout", false) && !without_layout_rule.contains(name));
    CHECK(LayoutRules().at(info->id) == has_layout_rule);
    if (fact.value("FLegalize", false)) CHECK((Legalized().contains(info->id) || SaysWhyNot().at(info->id)));
    if (fact.value("FPrimalGradient", false)) CHECK(Differentiable().contains(info->id));
    if (info->since == TextVersion::kV0_18) continue;
    if (!fact["attrs_type"].is_null()) CHECK(info->attrs_key == fact["attrs_type"].get<std::string>());
  }
  CHECK(facts.size() == GraphOps().size());
}

}  // namespace
}  // namespace iropt
