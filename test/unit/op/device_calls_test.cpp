#include "iropt/op/device_calls.h"

#include <catch2/catch.hpp>

#include "iropt/ir/module.h"
#include "iropt/op/assert_message.h"
#include "iropt/op/tile_layout.h"

namespace iropt {
namespace {

class Nodes {
 public:
  const PrimExpr* Int(int64_t value, DataType dtype = DataType::Int(32)) {
    return workspace_.New<tir::IntImm>(dtype, value);
  }
  const PrimExpr* Text(std::string_view text) { return workspace_.New<tir::StringImm>(text); }
  const PrimExpr* Call(std::string_view op, std::vector<const PrimExpr*> args) {
    return workspace_.New<tir::Call>(DataType::Handle(), GetOp(op), workspace_.Copy(args));
  }

 private:
  Workspace workspace_;
};

TEST_CASE("instructions of devices are found by name", "[op]") {
  const DeviceCallInfo* load = FindDeviceCall("nki.load");
  REQUIRE(load != nullptr);
  CHECK(load->least == 2);
  CHECK(load->most == 2);
  CHECK(load->effect == CallEffect::kOpaque);
  CHECK(ResultDtypeOf(*load, {}) == DataType::Void());
  CHECK(FindDeviceCall("nki.unknown") == nullptr);
  CHECK(FindDeviceCall("") == nullptr);
  // PTX has too many instructions to list.
  REQUIRE(FindDeviceCall("ptx.any.thing") != nullptr);
  CHECK(FindDeviceCall("ptx.any.thing")->most == -1);
  CHECK(FindDeviceCall("ptx.addr")->effect == CallEffect::kPure);
}

TEST_CASE("the dtype of an instruction may follow from its operands", "[op]") {
  Nodes n;
  const PrimExpr* const wide[] = {n.Int(64), n.Text("clock")};
  CHECK(ResultDtypeOf(*FindDeviceCall("cuda.mov_sreg"), wide) == DataType::Int(64));
  const PrimExpr* const odd[] = {n.Int(3), n.Text("clock")};
  CHECK(ResultDtypeOf(*FindDeviceCall("cuda.mov_sreg"), odd) == std::nullopt);
  const PrimExpr* const sum[] = {n.Int(1, DataType::Int(8)), n.Text("sum")};
  CHECK(ResultDtypeOf(*FindDeviceCall("cuda.warp_reduce"), sum) == DataType::Int(8));
  CHECK(ResultDtypeOf(*FindDeviceCall("cuda.warp_reduce"), {}) == std::nullopt);
}

TEST_CASE("layouts are decoded if they are well formed", "[op]") {
  Nodes n;
  const PrimExpr* iter = n.Call("tir.layout_iter", {n.Int(8), n.Int(1), n.Text("F")});
  const PrimExpr* list = n.Call("tir.list_arg", {iter});
  const PrimExpr* none = n.Call("tir.list_arg", {});
  const auto layout = AsTileLayout(n.Call("tir.TileLayout", {list, none, none}));
  REQUIRE(layout.has_value());
  REQUIRE(layout->shard.size() == 1);
  CHECK(layout->shard[0].axis == "F");
  CHECK(layout->replica.empty());
  CHECK_FALSE(AsTileLayout(nullptr));
  CHECK_FALSE(AsTileLayout(list));
  CHECK_FALSE(AsTileLayout(n.Call("tir.TileLayout", {list, none})));
  CHECK_FALSE(AsTileLayout(n.Call("tir.TileLayout", {iter, none, none})));
  CHECK_FALSE(AsTileLayout(n.Call("tir.TileLayout", {n.Call("tir.list_arg", {n.Int(1)}), none, none})));
  CHECK(IsThreadAxis("laneid"));
  CHECK_FALSE(IsThreadAxis("m"));
}

TEST_CASE("the message of an assertion may have parts", "[op]") {
  Nodes n;
  CHECK(AssertMessageText(n.Text("plain")) == "plain");
  CHECK(AssertMessageText(n.Call("tir.assert_message", {n.Text("TypeError"), n.Text("a "), n.Text("b")})) == "a b");
  CHECK(AssertMessageText(n.Call("tir.assert_message", {})) == "no message");
  CHECK(AssertMessageText(n.Int(1)) == "no message");
}

}  // namespace
}  // namespace iropt
