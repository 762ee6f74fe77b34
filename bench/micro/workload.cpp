#include "workload.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/support/check.h"
#include "iropt/text/script/parser.h"

namespace iropt::bench {

namespace {

constexpr int64_t kBindingsPerFunction = 64;
constexpr std::string_view kTensor = R"(R.Tensor((2, 3), dtype="float32"))";
constexpr std::string_view kScalar = R"(R.Tensor((), dtype="float32"))";

// Writes the bindings of one function.
class BodyWriter {
 public:
  BodyWriter(std::string& out, bool chain) : out_(out), chain_(chain) {}

  // Returns the text of the function's result.
  std::string Write(int64_t bindings) {
    for (int64_t i = 0; i < bindings; ++i) WriteBinding(i);
    if (chain_) return fmt::format("lv{}", last_);
    std::string result = "(";
    for (const int64_t i : live_) result += fmt::format("lv{}, ", i);
    return result + "x)";
  }

 private:
  void WriteBinding(int64_t i) {
    const std::string operand = chain_ && last_ >= 0 ? fmt::format("lv{}", last_) : "x";
    switch (i % 10) {
      case 2:
        return Bind(i, kScalar, fmt::format(R"(R.add(R.const({}.0, "float32"), R.const(1.5, "float32")))", i % 1000));
      case 3: return BindLive(i, fmt::format("R.multiply({}, lv{})", operand, i - 1));
      case 5: return Bind(i, kTensor, fmt::format("R.subtract({}, y)", operand));
      case 7: return Bind(i, kTensor, Plain(operand, i));
      case 8: return BindLive(i, Plain(operand, i - 1));  // the same as before
      case 9: return BindLive(i, fmt::format("R.maximum({}, lv{})", operand, i - 2));
      default: return BindLive(i, Plain(operand, i));
    }
  }

  // In a wide module the number makes the values differ.
  std::string Plain(std::string_view operand, int64_t number) const {
    if (chain_) return fmt::format("R.add({}, y)", operand);
    return fmt::format(R"(R.add({}, R.const({}.0, "float32")))", operand, number);
  }

  void BindLive(int64_t i, std::string_view value) {
    Bind(i, kTensor, value);
    last_ = i;
    live_.push_back(i);
  }

  void Bind(int64_t i, std::string_view type, std::string_view value) {
    fmt::format_to(std::back_inserter(out_), "            lv{}: {} = {}\n", i, type, value);
  }

  std::string& out_;
  bool chain_;
  int64_t last_ = -1;          // the latest binding that others use
  std::vector<int64_t> live_;  // the result of a wide function
};

void WriteFunction(std::string& out, std::string_view name, bool chain, int64_t bindings) {
  fmt::format_to(std::back_inserter(out), "    @R.function\n    def {}(x: {}, y: {}):\n        with R.dataflow():\n",
                 name, kTensor, kTensor);
  const std::string result = BodyWriter(out, chain).Write(bindings);
  fmt::format_to(std::back_inserter(out), "            gv = {}\n            R.output(gv)\n        return gv\n\n",
                 result);
}

}  // namespace

std::string_view FormName(Form form) {
  switch (form) {
    case Form::Chain: return "chain";
    case Form::Wide: return "wide";
    case Form::Functions: return "functions";
  }
  IROPT_CHECK(false, "form {}", static_cast<int>(form));
}

std::string MakeText(Form form, int64_t bindings) {
  std::string out = "@I.ir_module\nclass Module:\n";
  if (form != Form::Functions) {
    WriteFunction(out, "main", form == Form::Chain, bindings);
    return out;
  }
  for (int64_t done = 0, k = 0; done < bindings; done += kBindingsPerFunction, ++k) {
    WriteFunction(out, fmt::format("f{}", k), true, kBindingsPerFunction);
  }
  return out;
}

Workload::Workload(Form form, int64_t bindings) : text_(MakeText(form, bindings)) {
  const Result<uint32_t> base = sources_.AddBuffer("workload", text_, nullptr);
  IROPT_CHECK(base.ok(), "the workload is too big");
  base_ = *base;
  module_ = Read();
}

Module Workload::Read() {
  std::optional<Module> module = ParseModule(text_, base_, {.threads = 1}, diagnostics_);
  IROPT_CHECK(module.has_value(), "the workload does not parse: {}", buffer_.diagnostics().front().message);
  return *std::move(module);
}

}  // namespace iropt::bench
