// Proves the integer rules of passes on the graph with Z3, for all elements that tensors can have:
//
//   graph_proofs FILE
//
// Each line of FILE is an expression of R operators on the tensors x and y, "# pass NAME" before them the pass that
// changes them. DTYPE, VIA and TO stand for every dtype, and C and D for constants. All instances run through the
// pass. Where it changes one, Z3 proves that the result is the same wherever the expression is defined; a line of which
// it changes none is a failure.
#include <fmt/format.h>
#include <z3++.h>

#include <exception>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elements.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/structural.h"
#include "iropt/text/script/printer.h"

namespace iropt::proofs {
namespace {

// Steps, which are the same on all machines.
constexpr unsigned kMostSteps = 20'000'000;

void ReplaceWord(std::string& text, std::string_view word, std::string_view by) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    const size_t end = at + word.size();
    if ((at > 0 && is_part(text[at - 1])) || (end < text.size() && is_part(text[end]))) {
      at = end;
      continue;
    }
    text.replace(at, word.size(), by);
    at += by.size();
  }
}

// The texts with each of the values for the word; the text itself if it does not have the word.
std::vector<std::string> Instances(const std::vector<std::string>& texts, std::string_view word,
                                   const std::vector<std::string>& values) {
  std::vector<std::string> found;
  for (const std::string& text : texts) {
    for (const std::string& value : values) {
      std::string instance = text;
      ReplaceWord(instance, word, value);
      const bool same = instance == text;
      found.push_back(std::move(instance));
      if (same) break;
    }
  }
  return found;
}

class GraphProofs {
 public:
  int Run(const std::string& path);

 private:
  void ProveLine(const std::string& line);
  // Whether the pass changes the function.
  bool ProveInstance(z3::context& z3_context, CompilerInstance& compiler, const std::string& expression,
                     const std::string& dtype);
  void Fail(std::string_view expression, std::string_view why) {
    ++failures_;
    fmt::print("{} of {}: {}\n", pass_, expression, why);
  }

  std::string pass_;
  size_t proved_ = 0;
  size_t lines_ = 0;
  size_t failures_ = 0;
};

bool GraphProofs::ProveInstance(z3::context& z3_context, CompilerInstance& compiler, const std::string& expression,
                                const std::string& dtype) {
  Result<Module> module = compiler.ParseModule(
      fmt::format("@R.function\ndef main(x: R.Tensor((2,), \"{0}\"), y: R.Tensor((2,), \"{0}\")):\n    return {1}\n",
                  dtype, expression));
  const Result<Pass> pass = compiler.MakePass(pass_);
  if (!module.ok() || !pass.ok()) {
    compiler.Finish({});
    Fail(expression, "is not read");
    return false;
  }
  const Module before = *module;
  PassContext context = compiler.MakeContext(/*opt_level=*/3);
  const Result<PassResult> result = (*pass)(Module(before), context);
  if (!result.ok()) {
    Fail(expression, "the pass fails");
    return false;
  }
  const auto* first = To<Function>(before.Find("main")->func);
  const auto* second = To<Function>(result->module.Find("main")->func);
  if (StructuralEqual(first, second)) return false;
  Elements elements(z3_context);
  const auto expected = elements.ResultOf(*first);
  const z3::expr defined = elements.Defined();
  const auto found = elements.ResultOf(*second);
  if (!expected || !found) {
    Fail(expression, fmt::format("no term for this:\n{}", ModuleToString(result->module)));
    return true;
  }
  z3::solver solver(z3_context);
  z3::params params(z3_context);
  params.set("rlimit", kMostSteps);
  solver.set(params);
  solver.add(defined);
  solver.add(*expected != *found || !elements.Defined());
  const z3::check_result verdict = solver.check();
  if (verdict == z3::unsat) {
    ++proved_;
  } else {
    Fail(expression,
         fmt::format("{}:\n{}", verdict == z3::sat ? "wrong" : "not proved", ModuleToString(result->module)));
  }
  return true;
}

void GraphProofs::ProveLine(const std::string& line) {
  const std::vector<std::string> integers = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
  std::vector<std::string> all = integers;
  all.insert(all.end(), {"bool", "float16", "float32", "float64"});
  const std::vector<std::string> with_sign = {"0", "1", "3", "-1", "-128", "127"};
  const std::vector<std::string> without_sign = {"0", "1", "3", "128", "255"};
  bool changed = false;
  const bool has_casts = line.find("VIA") != std::string::npos && line.find("clip") == std::string::npos;
  for (const std::string& dtype : has_casts ? all : integers) {
    CompilerInstance compiler;
    z3::context z3_context;
    const bool has_sign = dtype[0] == 'i';
    std::vector<std::string> texts = Instances({line}, "DTYPE", {dtype});
    texts = Instances(texts, "VIA", all);
    texts = Instances(texts, "TO", all);
    for (const std::string_view constant : {"C", "D"})
      texts = Instances(texts, constant, has_sign ? with_sign : without_sign);
    for (const std::string& text : texts) changed |= ProveInstance(z3_context, compiler, text, dtype);
  }
  if (!changed) Fail(line, "no instance changes");
  ++lines_;
}

int GraphProofs::Run(const std::string& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kPass = "# pass ";
    if (line.starts_with(kPass)) pass_ = line.substr(kPass.size());
    if (line.empty() || line[0] == '#') continue;
    ProveLine(line);
  }
  fmt::print("{} rules, {} instances proved, {} failures\n", lines_, proved_, failures_);
  return failures_ == 0 && lines_ > 0 ? 0 : 1;
}

}  // namespace
}  // namespace iropt::proofs

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: graph_proofs FILE\n");
    return 2;
  }
  try {
    return iropt::proofs::GraphProofs().Run(argv[1]);
  } catch (const std::exception& error) {  // of Z3
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
