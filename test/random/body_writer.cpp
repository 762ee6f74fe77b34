#include "body_writer.h"

#include <algorithm>

namespace iropt::generate {

namespace {

// Results have at most so many parts.
constexpr int kMaxResults = 4;

bool UsesOnly(const Type& type, const Dims& vars) {
  return std::ranges::all_of(type.dims,
                             [&](const Dim& dim) {
                               return dim.is_static() || std::ranges::find(vars, Dim::Of(dim.var)) != vars.end();
                             }) &&
         std::ranges::all_of(type.fields, [&](const Type& field) { return UsesOnly(field, vars); });
}

}  // namespace

const Value* BodyWriter::Find(const Filter& filter) {
  std::vector<const Value*> found;
  for (const Value& value : values_) {
    if (filter(value)) found.push_back(&value);
  }
  if (found.empty()) return nullptr;
  // The recent ones are at the end.
  const size_t recent = std::min<size_t>(found.size(), 4);
  return choices().OneIn(2) ? choices().Pick(found) : choices().Pick(std::span(found).last(recent));
}

Value BodyWriter::Bind(const std::string& expr, Type type, Traits traits) {
  Value value{{}, std::move(type), traits};
  // Sometimes twice, so that there are common subexpressions.
  for (int i = choices().OneIn(10) ? 2 : 1; i > 0; --i) {
    value.name = NewName();
    Line(fmt::format("{} = {}", value.name, expr));
    values_.push_back(value);
  }
  return value;
}

std::string BodyWriter::BindHidden(const std::string& expr) {
  std::string name = NewName();
  Line(fmt::format("{} = {}", name, expr));
  return name;
}

void BodyWriter::Line(const std::string& text) {
  text_ += fmt::format("{}{}\n", std::string(static_cast<size_t>(indent_) * 4, ' '), text);
}

std::string BodyWriter::Condition() {
  const Value* value = Find([](const Value& v) { return v.type.is_float() && v.traits.is_exact; });
  if (!value) return BindHidden("R.const(True, \"bool\")");
  const std::string dtype = value->type.dtype;
  const std::string largest = BindHidden(fmt::format("R.max({})", value->name));
  return BindHidden(fmt::format("R.greater({}, R.const(0.5, \"{}\"))", largest, dtype));
}

void BodyWriter::WriteBlocks(int num_bindings) {
  while (num_bindings > 0) {
    const int size = std::min(num_bindings, 1 + choices().Below(8));
    num_bindings -= size;
    switch (choices().Below(8)) {
      case 0:
        for (int i = 0; i < size; ++i) WriteBinding();
        break;
      case 1: WriteIf(); break;
      case 2: WriteClosure(); break;
      case 3: WriteMatchCast(); break;
      case 4: WritePrint(); break;
      default: WriteDataflowBlock(size); break;
    }
  }
}

void BodyWriter::WriteBinding() {
  // Most kinds of operators apply to something.
  for (int attempt = 0; attempt < 8; ++attempt) {
    if (WriteOperator(*this)) return;
  }
}

void BodyWriter::WriteDataflowBlock(int num_bindings) {
  const size_t first = values_.size();
  Line("with R.dataflow():");
  ++indent_;
  for (int i = 0; i < num_bindings; ++i) WriteBinding();
  if (values_.size() == first) Bind("R.const(1.0, \"float32\")", {"float32"}, {});
  std::vector<Value> outputs;
  for (size_t i = first; i < values_.size(); ++i) {
    if (i + 1 == values_.size() || choices().OneIn(3)) outputs.push_back(values_[i]);
  }
  std::vector<std::string> names;
  for (const Value& output : outputs) names.push_back(output.name);
  Line(fmt::format("R.output({})", Join(names)));
  --indent_;
  values_.resize(first);
  values_.insert(values_.end(), outputs.begin(), outputs.end());
}

void BodyWriter::WriteIf() {
  const Value* found = Find([](const Value& v) { return !v.type.is_tuple(); });
  if (!found || is_nested_) return;
  const Value operand = *found;
  const std::string condition = Condition();
  const std::string name = NewName();
  const size_t num_values = values_.size();
  Traits traits;
  is_nested_ = true;
  for (const char* head : {"if {}:", "else:"}) {
    Line(fmt::format(fmt::runtime(head), condition));
    ++indent_;
    for (int i = choices().Below(3); i > 0; --i) WriteBinding();
    const Value result = WriteSameType(*this, operand);
    Line(fmt::format("{} = {}", name, result.name));
    traits.is_exact &= result.traits.is_exact;
    traits.is_small &= result.traits.is_small;
    --indent_;
    values_.resize(num_values);
  }
  is_nested_ = false;
  Add({name, operand.type, traits});
}

void BodyWriter::WriteClosure() {
  // The function sees the symbolic variables that are dimensions of its parameter.
  const Value* found = Find([](const Value& v) { return !v.type.is_tuple() && UsesOnly(v.type, v.type.dims); });
  if (!found || is_nested_) return;
  const Value argument = *found;
  const std::string function = fmt::format("f{}", module_.NewId());
  const Value param{NewName(), argument.type, argument.traits};
  std::vector<Value> outer = values_;
  std::erase_if(values_, [&](const Value& v) { return !UsesOnly(v.type, argument.type.dims); });
  const std::string type = TypeText(argument.type, Place::kBody);
  Line("@R.function");
  Line(fmt::format("def {}({}: {}) -> {}:", function, param.name, type, type));
  ++indent_;
  is_nested_ = true;
  Add(param);
  for (int i = choices().Below(3); i > 0; --i) WriteBinding();
  const Value result = WriteSameType(*this, param);
  Line(fmt::format("return {}", result.name));
  is_nested_ = false;
  --indent_;
  values_ = std::move(outer);
  const auto call = [&](const std::string& operand) { return fmt::format("{}({})", function, operand); };
  const Value once = Bind(call(argument.name), argument.type, result.traits);
  if (choices().OneIn(2) && argument.traits.is_exact == result.traits.is_exact &&
      argument.traits.is_small == result.traits.is_small) {
    Bind(call(once.name), argument.type, result.traits);
  }
}

void BodyWriter::WriteMatchCast() {
  const Value* found = Find([](const Value& v) { return !v.type.is_tuple() && v.type.ndim() > 0; });
  if (!found || is_nested_) return;
  Type type = found->type;
  const std::string operand = found->name;
  const Traits traits = found->traits;
  if (is_main_ && choices().OneIn(2)) {
    const std::string var = fmt::format("k{}", module_.NewId());
    Line(fmt::format("{} = T.int64()", var));
    type.dims[static_cast<size_t>(choices().Below(type.ndim()))] = Dim::Of(var);
  }
  Bind(fmt::format("R.match_cast({}, {})", operand, TypeText(type, Place::kBody)), type, traits);
}

void BodyWriter::WritePrint() {
  if (!is_main_ || module_.is_pure()) return;
  const Value* value = Find([](const Value& v) { return !v.type.is_tuple(); });
  if (value) Line(fmt::format("{} = R.print({}, format=\"{{}}\")", NewName(), value->name));
}

Type BodyWriter::Return() {
  std::vector<std::string> names;
  Type type;
  for (int i = 1 + choices().Below(kMaxResults); i > 0; --i) {
    const Value* value = Any();
    names.push_back(value->name);
    type.fields.push_back(value->type);
  }
  if (names.size() == 1) {
    Line(fmt::format("return {}", names[0]));
    return type.fields[0];
  }
  const Value result = Bind(fmt::format("({})", Join(names)), type, {});
  Line(fmt::format("return {}", result.name));
  return type;
}

}  // namespace iropt::generate
