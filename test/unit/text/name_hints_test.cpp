// The hints that the reader finds in the names of buffers.
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt {
namespace {

// The names of the buffers that a function uses, in order of their first uses.
class UsedBuffers : public tir::StmtExprVisitor {
 public:
  explicit UsedBuffers(const PrimFunc* func) { VisitStmt(func->body); }
  std::vector<std::string> names;

 protected:
  void VisitBufferUse(const tir::Buffer* buffer) override {
    for (const tir::Buffer* known : known_) {
      if (known == buffer) return;
    }
    known_.push_back(buffer);
    names.emplace_back(buffer->name);
  }

 private:
  std::vector<const tir::Buffer*> known_;
};

// The names of the buffers of a function that is printed as `text` again.
std::vector<std::string> HintsIn(const std::string& text) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  const std::optional<Module> module = ParseModule("# from tvm.script import tir as T\n\n" + text, 1, {}, diagnostics);
  REQUIRE(module);
  CHECK(ModuleToString(*module) == "# from tvm.script import tir as T\n\n" + text);
  return UsedBuffers(To<PrimFunc>(module->functions()[0].func)).names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a buffer has the hint of its memory if the printer would add the number", "[name_hints]") {
  CHECK(HintsIn("@T.prim_func\n"
                "def main(A: T.Buffer((4, 4), \"float32\")):\n"
                "    S = T.allocate([16], \"float32\", \"global\")\n"
                "    S_1 = T.Buffer((16,), data=S)\n"
                "    A_1 = T.Buffer((16,), data=A.data)\n"
                "    S_1[0] = A_1[0]\n"
                "    S_2 = T.decl_buffer((8,), data=S)\n"
                "    S_2[1] = S_1[0]\n") == Names{"S", "A", "S"});
}

TEST_CASE("numbers that the printer would not give stay", "[name_hints]") {
  // S_1 is free; the numbers have leading zeros, or are 0; another name follows.
  CHECK(HintsIn("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\")):\n"
                "    S = T.allocate([16], \"float32\", \"global\")\n"
                "    S_2 = T.Buffer((16,), data=S)\n"
                "    S_01 = T.Buffer((16,), data=S)\n"
                "    S_0 = T.Buffer((16,), data=S)\n"
                "    S_view_1 = T.Buffer((16,), data=S)\n"
                "    B_1 = T.Buffer((16,), data=S)\n"
                "    S_2[0] = S_01[0] + S_0[0] + S_view_1[0] + B_1[0] + A[0]\n") ==
        Names{"S_2", "S_01", "S_0", "S_view_1", "B_1", "A"});
}

TEST_CASE("a name is taken from its first use on", "[name_hints]") {
  // S_2 is named before S_1, which is used after it, although its line comes first.
  CHECK(HintsIn("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\")):\n"
                "    S = T.allocate([16], \"float32\", \"global\")\n"
                "    S_1 = T.Buffer((16,), data=S)\n"
                "    for i in range(16):\n"
                "        S_2 = T.Buffer((16,), data=S)\n"
                "        S_2[i] = A[i]\n"
                "        S_1[i] = S_2[i]\n"
                "    S_1[0] = A[0]\n") == Names{"S_2", "A", "S"});
}

TEST_CASE("names are taken in their scope", "[name_hints]") {
  CHECK(HintsIn("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\")):\n"
                "    S = T.allocate([16], \"float32\", \"global\")\n"
                "    for i in range(16):\n"
                "        S_1 = T.Buffer((16,), data=S)\n"
                "        S_1[i] = A[i]\n"
                "    for S_1 in range(16):\n"
                "        S_2 = T.Buffer((16,), data=S)\n"
                "        A[S_1] = S_2[S_1]\n"
                "    for i in range(16):\n"
                "        S_2 = T.Buffer((16,), data=S)\n"
                "        A[i] = S_2[i]\n") == Names{"S", "A", "S", "S_2"});
}

TEST_CASE("the number comes after the whole name of the memory", "[name_hints]") {
  CHECK(HintsIn("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\"), A_1: T.Buffer((16,), \"float32\")):\n"
                "    A_2 = T.Buffer((8,), data=A.data)\n"
                "    A_3 = T.Buffer((8,), data=A_1.data)\n"
                "    A_2[0] = A_3[0]\n"
                "    A_1_1 = T.Buffer((8,), data=A_1.data)\n"
                "    A_1_1[0] = T.float32(0.0)\n") == Names{"A", "A_3", "A_1"});
}

TEST_CASE("parameters and memory keep their names", "[name_hints]") {
  CHECK(HintsIn("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\"), A_1: T.Buffer((16,), \"float32\"), b: T.handle):\n"
                "    A_2 = T.match_buffer(b, (16,), scope=\"shared\")\n"
                "    A_3 = T.decl_buffer((16,))\n"
                "    A_3[0] = A[0] + A_1[0] + A_2[0]\n") == Names{"A_3", "A", "A_1", "A_2"});
}

}  // namespace iropt
