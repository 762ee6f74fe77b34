#include "iropt/ir/target.h"

#include <string>

#include "catch.h"

namespace iropt {
namespace {

struct Read {
  const TargetAttr* target = nullptr;
  std::string message;
  size_t begin = 0;
  size_t end = 0;
};

Read ReadText(std::string_view text) {
  Read read;
  read.target = ParseTarget(text, [&](size_t begin, size_t end, std::string message) {
    read.message = std::move(message);
    read.begin = begin;
    read.end = end;
  });
  return read;
}

std::string_view Text(const TargetAttr* target, std::string_view key) {
  const auto* value = As<StrAttr>(target->config->Find(key));
  return value ? value->value : "";
}

int64_t Number(const TargetAttr* target, std::string_view key) {
  const auto* value = As<IntAttr>(target->config->Find(key));
  return value ? value->value : -1;
}

std::string Keys(const TargetAttr* target) {
  std::string keys;
  for (const Attr* key : To<ListAttr>(target->config->Find("keys"))->values) {
    keys += To<StrAttr>(key)->value;
    keys += ' ';
  }
  return keys;
}

TEST_CASE("a kind brings its keys and defaults", "[target]") {
  const Read cuda = ReadText("cuda");
  REQUIRE(cuda.target);
  CHECK(TargetKindOf(cuda.target) == "cuda");
  CHECK(Keys(cuda.target) == "cuda gpu ");
  CHECK(Text(cuda.target, "arch") == "sm_50");
  CHECK(Number(cuda.target, "thread_warp_size") == 32);
  CHECK(cuda.target->config->Find("host") == nullptr);
}

TEST_CASE("options are written with an equals sign, as two words, or alone", "[target]") {
  const Read read = ReadText("llvm --mcpu=skylake -num-cores 4 -fast-math -mattr=+avx2,+fma -mtriple='a b'");
  REQUIRE(read.target);
  CHECK(Text(read.target, "mcpu") == "skylake");
  CHECK(Number(read.target, "num-cores") == 4);
  CHECK(To<IntAttr>(read.target->config->Find("fast-math"))->value == 1);
  CHECK(To<ListAttr>(read.target->config->Find("mattr"))->values.size() == 2);
  CHECK(Text(read.target, "mtriple") == "a b");
}

TEST_CASE("processors of Arm have keys of their own", "[target]") {
  CHECK(Keys(ReadText("llvm -mtriple=aarch64-linux-gnu").target) == "arm_cpu cpu ");
  CHECK(Keys(ReadText("c -mcpu=cortex-m4").target) == "arm_cpu cpu ");
  CHECK(Keys(ReadText("llvm -device=arm_cpu").target) == "arm_cpu cpu ");
  CHECK(Keys(ReadText("llvm -keys=mine -device=arm_cpu").target) == "mine arm_cpu ");
}

TEST_CASE("a host is a target", "[target]") {
  const Read read = ReadText("cuda -host='llvm -mcpu=\\'x y\\''");
  REQUIRE(read.target);
  const auto* config = As<DictAttr>(read.target->config->Find("host"));
  REQUIRE(config);
  const TargetAttr* host = TargetAttr::Get(config);
  CHECK(TargetKindOf(host) == "llvm");
  CHECK(Text(host, "mcpu") == "x y");
}

TEST_CASE("all tags are targets", "[target]") {
  for (const TargetTag& tag : TargetTags()) {
    INFO(tag.name);
    CHECK(ReadText(tag.name).target != nullptr);
  }
}

TEST_CASE("errors say where", "[target]") {
  const Read kind = ReadText("lvm -mcpu=x");
  CHECK(kind.target == nullptr);
  CHECK(kind.message == "unknown target 'lvm'; did you mean 'llvm'?");
  CHECK((kind.begin == 0 && kind.end == 3));
  const Read option = ReadText("llvm  -fast-maths");
  CHECK(option.message == "targets of the kind 'llvm' have no option 'fast-maths'; did you mean 'fast-math'?");
  CHECK((option.begin == 6 && option.end == 17));
  CHECK(ReadText("llvm mcpu").message == "expected an option such as '-mcpu=skylake', not 'mcpu'");
  CHECK(ReadText("llvm -mcpu=").message == "the option 'mcpu' needs a value");
  CHECK(ReadText("llvm -fast-math=perhaps").message == "the option 'fast-math' is true or false, not 'perhaps'");
  CHECK(ReadText("cuda -host=llv").message == "unknown target 'llv'; did you mean 'llvm'?");
  CHECK(ReadText("llvm 'x").message == "a quote is not closed");
  CHECK(ReadText("  ").message == "a target begins with its kind, such as 'llvm'");
}

TEST_CASE("a dictionary keeps options that are not known", "[target]") {
  std::string message;
  const auto errors = [&](size_t, size_t, std::string text) { message = std::move(text); };
  const DictAttr::Entry entries[] = {
      {"kind", StrAttr::Get("vulkan")}, {"newer", IntAttr::Get(3)}, {"supports_int8", IntAttr::Get(1)}};
  const TargetAttr* target = TargetFromDict(DictAttr::Get(entries), errors);
  REQUIRE(target);
  CHECK(Number(target, "newer") == 3);
  CHECK(target->config->Find("supports_int8") == IntAttr::Bool(true));
  CHECK(TargetFromDict(DictAttr::Empty(), errors) == nullptr);
  CHECK(message == "a target needs a \"kind\"");
}

}  // namespace
}  // namespace iropt
