// Code is kept: in memory by structure, and in a folder.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "codegen_test_util.h"
#include "iropt/support/parallel.h"

namespace iropt::codegen {

namespace {

// A folder that is removed afterwards.
struct Folder {
  std::string path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "iropt-loops-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name + "/cache";
  }
  ~Folder() { std::filesystem::remove_all(std::filesystem::path(path).parent_path()); }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path)) found.push_back(entry.path());
    return found;
  }
};

int32_t FirstElement(LoopCompiler& compiler, const Module& module) {
  const CallSpec call = MakeCall(*To<PrimFunc>(module.Find("main")->func), {});
  const auto result = RunCompiled(compiler, module, "main", call);
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  return (*result)[0]->As<int32_t>()[0];
}

// Six functions, and one that cannot be compiled.
Module SeveralFunctions() {
  std::string text;
  for (int i = 0; i < 6; ++i)
    text += Func(kParams, fmt::format("for i in range(8):\n    out[i] = {}", i), fmt::format("f{}", i));
  return Parse(text + Func(kParams, "T.evaluate(T.call_extern(\"int32\", \"other\"))", "wrong"));
}

// The names and contents of the files.
std::map<std::string, std::string> ContentsOf(const Folder& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& path : folder.files()) {
    std::ifstream file(path, std::ios::binary);
    contents.emplace(path.filename(), std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return contents;
}

}  // namespace

TEST_CASE("functions of the same structure are compiled once") {
  const auto compiler = CompilerWith({});
  const Module a = Parse(Func(kParams, "for i in range(8):\n    out[i] = 5"));
  const Module b = Parse(Func(kParams, "for other in range(8):\n    out[other] = 5"));
  const Module c = Parse(Func(kParams, "for i in range(8):\n    out[i] = 6"));
  CHECK(FirstElement(*compiler, a) == 5);
  CHECK(FirstElement(*compiler, b) == 5);
  CHECK(FirstElement(*compiler, c) == 6);
  CHECK(compiler->stats().compiled == 2);
  CHECK(compiler->stats().from_memory == 1);
}

TEST_CASE("code is kept in a folder, and damaged files are replaced") {
  const Folder folder;
  const Module module = Parse(Func(kParams, "for i in range(8):\n    out[i] = 5"));
  {
    const auto first = CompilerWith({.cache_dir = folder.path});
    CHECK(FirstElement(*first, module) == 5);
    CHECK(first->stats().compiled == 1);
  }
  REQUIRE(folder.files().size() == 1);
  {
    const auto second = CompilerWith({.cache_dir = folder.path});
    CHECK(FirstElement(*second, module) == 5);
    CHECK(second->stats().from_disk == 1);
  }
  {
    // Another way of compiling is another file.
    const auto unchecked = CompilerWith({.cache_dir = folder.path, .opt_level = 1});
    CHECK(FirstElement(*unchecked, module) == 5);
    CHECK(unchecked->stats().compiled == 1);
    CHECK(folder.files().size() == 2);
  }
  for (const auto& path : folder.files()) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('\x5a').put('\x5a');
  }
  {
    const auto third = CompilerWith({.cache_dir = folder.path});
    CHECK(FirstElement(*third, module) == 5);
    CHECK(third->stats().compiled == 1);
    CHECK(third->stats().damaged == 1);
  }
  const auto fourth = CompilerWith({.cache_dir = folder.path});
  CHECK(FirstElement(*fourth, module) == 5);
  CHECK(fourth->stats().from_disk == 1);
}

TEST_CASE("code that others can write is not run") {
  const Folder folder;
  const Module module = Parse(Func(kParams, "for i in range(8):\n    out[i] = 5"));
  const auto from_disk = [&] {
    const auto compiler = CompilerWith({.cache_dir = folder.path});
    CHECK(FirstElement(*compiler, module) == 5);
    return compiler->stats().from_disk;
  };
  CHECK(from_disk() == 0);
  CHECK(from_disk() == 1);
  const std::string file = folder.files().front().string();
  for (const std::string& path : {file, folder.path}) {
    const mode_t mode = path == file ? 0600 : 0700;
    for (const mode_t writers : {0020, 0002}) {
      REQUIRE(chmod(path.c_str(), mode | writers) == 0);
      CHECK(from_disk() == 0);
      REQUIRE(chmod(path.c_str(), mode) == 0);
      CHECK(from_disk() == 1);
    }
  }
  if (geteuid() != 0) return;  // files can be given away by root alone
  for (const std::string& path : {file, folder.path}) {
    REQUIRE(chown(path.c_str(), 1, static_cast<gid_t>(-1)) == 0);
    CHECK(from_disk() == 0);
    REQUIRE(chown(path.c_str(), 0, static_cast<gid_t>(-1)) == 0);
  }
}

TEST_CASE("links in a folder are neither followed nor written through") {
  const Folder folder;
  const Module module = Parse(Func(kParams, "for i in range(8):\n    out[i] = 5"));
  CHECK(FirstElement(*CompilerWith({.cache_dir = folder.path}), module) == 5);
  const std::filesystem::path file = folder.files().front();
  const std::filesystem::path elsewhere = std::filesystem::path(folder.path).parent_path() / "elsewhere";
  std::filesystem::rename(file, elsewhere);
  const auto before = std::filesystem::last_write_time(elsewhere);
  std::filesystem::create_symlink(elsewhere, file);
  const auto compiler = CompilerWith({.cache_dir = folder.path});
  CHECK(FirstElement(*compiler, module) == 5);
  CHECK(compiler->stats().from_disk == 0);
  CHECK_FALSE(std::filesystem::is_symlink(file));
  CHECK(std::filesystem::last_write_time(elsewhere) == before);
  CHECK(folder.files().size() == 1);
}

TEST_CASE("a folder that cannot be written is not an error") {
  const auto compiler = CompilerWith({.cache_dir = "/proc/nothing/here"});
  CHECK(FirstElement(*compiler, Parse(Func(kParams, "for i in range(8):\n    out[i] = 5"))) == 5);
}

TEST_CASE("a library that is missing or not ours is an error") {
  const auto missing = LoopCompiler::Load({.library = "/nowhere/libiropt_codegen_llvm.so"});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == ErrorCode::Usage);
  CHECK_FALSE(LoopCompiler::Load({.library = "libm.so.6"}).ok());
}

TEST_CASE("the LLVM IR of a function is text") {
  const Module module = Parse(Func(kParams, "for i in range(8):\n    out[i] = A[i] + 1"));
  const auto text = SharedCompiler().EmitLlvm(module, *GlobalVar::Get("main"), /*optimized=*/false);
  REQUIRE(text.ok());
  CHECK(text->find("@main.body(") != std::string::npos);
  CHECK(text->find("iropt_fail") == std::string::npos);
  const auto optimized = SharedCompiler().EmitLlvm(module, *GlobalVar::Get("main"), /*optimized=*/true);
  REQUIRE(optimized.ok());
  CHECK(optimized->find("<8 x i32>") != std::string::npos);
}

TEST_CASE("several threads compile at the same time") {
  const auto compiler = CompilerWith({});
  std::vector<Module> modules;
  for (int i = 0; i < 8; ++i)
    modules.push_back(Parse(Func(kParams, fmt::format("for i in range(8):\n    out[i] = {}", i))));
  std::vector<int64_t> results(modules.size(), -1);
  ParallelFor(modules.size(), 4, [&](size_t i) {
    const CallSpec call = MakeCall(*To<PrimFunc>(modules[i].Find("main")->func), {});
    const auto result = RunCompiled(*compiler, modules[i], "main", call);
    if (result) results[i] = (*result)[0]->As<int32_t>()[0];
  });
  CHECK(results == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("what several callers compile at the same time is compiled once") {
  const Module module = SeveralFunctions();
  std::vector<const GlobalVar*> vars;
  for (const ModuleEntry& entry : module.functions()) vars.push_back(entry.var);
  constexpr size_t kCallers = 8;
  for (int round = 0; round < 4; ++round) {
    const auto compiler = CompilerWith({});
    std::vector<std::vector<Result<CompiledFunctionRef>>> found(kCallers);
    std::vector<std::thread> callers;
    for (size_t i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, i] {
        std::vector<const GlobalVar*> own = vars;
        if (i % 2 == 1) std::ranges::reverse(own);
        found[i] = compiler->CompileAll(module, own, 2);
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const auto& functions : found) {
      REQUIRE(functions.size() == vars.size());
      CHECK(std::ranges::count_if(functions, [](const auto& function) { return !function.ok(); }) == 1);
    }
    CHECK(compiler->stats().compiled == 6);
    CHECK(compiler->stats().from_memory == 6 * (kCallers - 1));
  }
}

TEST_CASE("functions that are compiled together do not depend on the number of threads") {
  const Module module = SeveralFunctions();
  std::vector<const GlobalVar*> vars;
  for (const ModuleEntry& entry : module.functions()) vars.push_back(entry.var);
  REQUIRE(vars.size() == 7);
  vars.insert(vars.end(), {vars[1], vars[0]});
  std::vector<std::map<std::string, std::string>> folders;
  for (const int threads : {1, 4}) {
    const Folder folder;
    const auto compiler = CompilerWith({.cache_dir = folder.path});
    const auto functions = compiler->CompileAll(module, vars, threads);
    REQUIRE(functions.size() == vars.size());
    for (size_t i = 0; i < vars.size(); ++i) {
      if (vars[i]->name == "wrong") {
        REQUIRE_FALSE(functions[i].ok());
        CHECK(functions[i].error().message.starts_with("wrong: "));
        continue;
      }
      REQUIRE(functions[i].ok());
      const CallSpec call = MakeCall(*To<PrimFunc>(module.Find(vars[i])->func), {});
      const auto compiled = CallWithValues(**functions[i], call.inputs, call.outputs);
      const auto expected = Interpret(module, *To<PrimFunc>(module.Find(vars[i])->func), call);
      REQUIRE((compiled.ok() && expected.ok()));
      CHECK(Difference(*(*expected)[0], *(*compiled)[0], 0).empty());
    }
    CHECK(compiler->stats().compiled == 6);
    CHECK(compiler->stats().from_memory == 2);
    folders.push_back(ContentsOf(folder));
  }
  CHECK(folders[0].size() == 6);
  CHECK(folders[0] == folders[1]);
}

}  // namespace iropt::codegen
