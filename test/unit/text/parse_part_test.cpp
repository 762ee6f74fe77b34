// Parsing of parts of modules.
#include "catch.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/text/script/parser.h"

namespace iropt {

namespace {

struct PartTester {
  const Type* ReadType(std::string_view text, std::vector<const tir::Var*> variables = {}) {
    return ParseType(text, 1, {module, variables}, workspace, diagnostics);
  }
  const Attr* ReadAttr(std::string_view text) { return ParseAttribute(text, 1, {module}, workspace, diagnostics); }
  std::string FirstMessage() const { return buffer.diagnostics().empty() ? "" : buffer.diagnostics()[0].message; }

  Module module;
  Workspace workspace;
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics{&buffer};
};

}  // namespace

TEST_CASE("a type refers to the variables that it is given, and makes the others", "[parse_part]") {
  PartTester t;
  const tir::Var* n = IRContext::Current().NewSymVar("n", DataType::Int(64));
  const auto* type = As<TensorType>(t.ReadType(" R.Tensor((n, m, \"m\", \"n * 2\"), \"float16\") ", {n}));
  REQUIRE(type);
  CHECK(TypeToString(type) == "R.Tensor((n, m, m, n * 2), dtype=\"float16\")");
  CHECK(type->dims[0] == n);
  CHECK(type->dims[1] == type->dims[2]);
}

TEST_CASE("a type knows the virtual devices of the module", "[parse_part]") {
  PartTester t;
  CHECK_FALSE(t.ReadType("R.Tensor((2,), \"float32\", \"cuda:0\")"));
  CHECK(t.FirstMessage() == "the module has no virtual device 'cuda:0'");
  const auto* cuda = As<VDeviceAttr>(t.ReadAttr("I.vdevice('cuda', 1)"));
  REQUIRE(cuda);
  CHECK(cuda->vdevice_id == 1);
  t.module.mutable_global_infos()["vdevice"] = {cuda};
  const auto* type = As<TensorType>(t.ReadType("R.Tensor((2,), \"float32\", \"cuda:0\")"));
  REQUIRE(type);
  CHECK(type->vdevice == cuda);
}

TEST_CASE("a part ends with its text", "[parse_part]") {
  PartTester t;
  CHECK_FALSE(t.ReadType("R.Object, R.Object"));
  CHECK(t.FirstMessage() == "the type ends before this");
  CHECK_FALSE(PartTester().ReadType(""));
  CHECK_FALSE(PartTester().ReadAttr("1 2"));
  CHECK(PartTester().ReadAttr("1\n"));
}

}  // namespace iropt
