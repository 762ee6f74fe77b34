#include "module_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "body_writer.h"
#include "iropt/support/hash.h"
#include "random_module.h"

namespace iropt::generate {

namespace {

constexpr int kMaxFunctions = 3;
constexpr int kMaxDepth = 2;  // of private functions that call others

void AddVars(const Type& type, std::vector<std::string>& vars) {
  for (const Dim& dim : type.dims) {
    if (!dim.is_static() && std::ranges::find(vars, dim.var) == vars.end()) vars.push_back(dim.var);
  }
  for (const Type& field : type.fields) AddVars(field, vars);
}

// Lines that define the symbolic variables of the types.
std::string DefineVars(const std::vector<Type>& types) {
  std::vector<std::string> vars;
  for (const Type& type : types) AddVars(type, vars);
  std::string text;
  for (const std::string& var : vars) text += fmt::format("        {} = T.int64()\n", var);
  return text;
}

// Names symbolic dimensions in a private function, and finds the dimensions of the caller again.
class DimNames {
 public:
  explicit DimNames(std::string prefix) : prefix_(std::move(prefix)) {}

  Type Inside(Type type) {
    for (Dim& dim : type.dims) {
      if (dim.is_static()) continue;
      const auto found = std::ranges::find(dims_, dim);
      const auto index = found - dims_.begin();
      if (found == dims_.end()) dims_.push_back(dim);
      dim = Dim::Of(fmt::format("{}{}", prefix_, index));
    }
    for (Type& field : type.fields) field = Inside(field);
    return type;
  }

  Type Outside(Type type) const {
    for (Dim& dim : type.dims) {
      if (dim.is_static()) continue;
      const Dim& caller = dims_[std::stoul(dim.var.substr(prefix_.size()))];
      dim = {caller.var, dim.scale * caller.scale, dim.scale * caller.offset + dim.offset};
    }
    for (Type& field : type.fields) field = Outside(field);
    return type;
  }

 private:
  std::string prefix_;
  Dims dims_ = {};
};

std::string ParamList(const std::vector<Value>& params) {
  std::vector<std::string> texts;
  for (const Value& param : params)
    texts.push_back(fmt::format("{}: {}", param.name, TypeText(param.type, Place::kSignature)));
  return Join(texts);
}

}  // namespace

std::string RandomModule(Choices& choices, int size) { return ModuleWriter(choices, size).Write(); }

std::string RandomModule(uint64_t seed, uint64_t index, int size) {
  Choices choices(HashCombine(seed, index));
  return RandomModule(choices, size);
}

std::string ModuleWriter::Write() {
  is_pure_ = !choices_.OneIn(6);
  WriteMain();
  return fmt::format(
      "from tvm.script import ir as I\nfrom tvm.script import tir as T\nfrom tvm.script import relax as R\n\n"
      "@I.ir_module\nclass Module:\n"
      "    I.module_global_infos({{\"vdevice\": [I.vdevice(\"llvm\")]}})\n{}",
      text_);
}

void ModuleWriter::WriteMain() {
  const Dim n = Dim::Of("n");
  std::vector<Value> params = {{"x", {"float32", {n, Dim::Of(4)}}},
                               {"y", {"float32", {choices_.OneIn(2) ? Dim::Of("m") : Dim::Of(2), Dim::Of(4)}}}};
  if (choices_.OneIn(2)) params.push_back({"i", {"int32", {choices_.OneIn(2) ? n : Dim::Of(4)}}});
  if (choices_.OneIn(4)) params.push_back({"image", {"float32", {Dim::Of(1), Dim::Of(4), Dim::Of(6), Dim::Of(6)}}});
  const int num_inputs = static_cast<int>(params.size());
  params.push_back({"w", {"float32", {Dim::Of(4)}}});
  if (choices_.OneIn(2)) params.push_back({"w1", {"float32", {Dim::Of(4), Dim::Of(3)}}});
  if (choices_.OneIn(3)) params.push_back({"w2", {"float16", {Dim::Of(2), Dim::Of(4)}}});
  if (choices_.OneIn(4)) params.push_back({"kernel", {"float32", {Dim::Of(2), Dim::Of(4), Dim::Of(3), Dim::Of(3)}}});
  std::vector<Type> types;
  for (const Value& param : params) types.push_back(param.type);
  const std::string head =
      fmt::format("    @R.function{}\n    def main({}):\n{}", is_pure_ ? "" : "(pure=False)", ParamList(params),
                  DefineVars(types)) +
      (choices_.OneIn(2) ? fmt::format("        R.func_attr({{\"num_input\": {}}})\n", num_inputs) : std::string()) +
      "        cls = Module\n";
  BodyWriter body(*this, std::move(params), true);
  body.WriteBlocks(size_);
  body.Return();
  text_ += head + body.text();
}

PrimFuncInfo ModuleWriter::PrimFunc(const std::vector<Type>& params) {
  std::vector<PrimFuncInfo> known;
  std::ranges::copy_if(prim_funcs_, std::back_inserter(known), [&](const auto& info) { return info.params == params; });
  if (!known.empty() && !choices_.OneIn(3)) return choices_.Pick(known);
  WrittenPrimFunc written = WritePrimFunc(choices_, fmt::format("loops{}", prim_funcs_.size()), params);
  text_ += written.text;
  prim_funcs_.push_back(written.info);
  return written.info;
}

std::optional<FunctionInfo> ModuleWriter::PrivateFunction(const std::vector<Type>& params) {
  std::vector<FunctionInfo> known;
  std::ranges::copy_if(functions_, std::back_inserter(known), [&](const auto& info) { return info.params == params; });
  if (!known.empty() && !choices_.OneIn(3)) return choices_.Pick(known);
  if (functions_.size() >= kMaxFunctions || depth_ >= kMaxDepth) return std::nullopt;
  ++depth_;
  FunctionInfo info = WritePrivateFunction(fmt::format("private{}", NewId()), params);
  --depth_;
  functions_.push_back(info);
  return info;
}

FunctionInfo ModuleWriter::WritePrivateFunction(const std::string& name, const std::vector<Type>& params) {
  DimNames names("k");
  std::vector<Value> values;
  std::vector<Type> types;
  for (const Type& type : params) {
    types.push_back(names.Inside(type));
    values.push_back({fmt::format("p{}", values.size()), types.back()});
  }
  const std::string signature = ParamList(values);
  BodyWriter body(*this, std::move(values), false);
  body.WriteBlocks(1 + choices_.Below(5));
  const Type result = body.Return();
  text_ += fmt::format("    @R.function(private=True)\n    def {}({}) -> {}:\n{}        cls = Module\n{}", name,
                       signature, TypeText(result, Place::kSignature), DefineVars(types), body.text());
  return {name, params, names.Outside(result)};
}

}  // namespace iropt::generate
