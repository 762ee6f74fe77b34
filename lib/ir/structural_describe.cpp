#include "structural_describe.h"

#include <fmt/format.h>

#include "iropt/ir/ndarray.h"

namespace iropt::structural {

namespace {

// Nodes with a name or a value are described by it; others by their kind.
std::string Describe(const Op* op) { return std::string(op->name); }
std::string Describe(const GlobalVar* var) { return fmt::format("function {}", var->name); }
std::string Describe(const ExternFunc* func) { return fmt::format("external function {}", func->global_symbol); }
std::string Describe(const Var* var) { return fmt::format("variable {}", var->name()); }
std::string Describe(const Call* call) { return fmt::format("call of {}", DescribeValue(call->op)); }
std::string Describe(const tir::Var* var) { return fmt::format("variable {}", var->name); }
std::string Describe(const tir::IntImm* imm) { return fmt::format("{}({})", imm->dtype.ToString(), imm->value); }
std::string Describe(const tir::FloatImm* imm) { return fmt::format("{}({})", imm->dtype.ToString(), imm->value); }
std::string Describe(const tir::Call* call) { return fmt::format("call of {}", DescribeValue(call->op)); }
std::string Describe(const tir::Buffer* buffer) { return fmt::format("buffer {}", buffer->name); }
std::string Describe(const IntAttr* attr) { return fmt::format("{}({})", attr->dtype.ToString(), attr->value); }
std::string Describe(const FloatAttr* attr) { return fmt::format("{}({})", attr->dtype.ToString(), attr->value); }
std::string Describe(const StrAttr* attr) { return DescribeValue(attr->value); }
std::string Describe(const DTypeAttr* attr) { return attr->value.ToString(); }
std::string Describe(const Node* node) { return std::string(NodeKindName(node->kind)); }

}  // namespace

std::string DescribeValue(const Node* node) {
  if (node == nullptr) return "nothing";
  return Dispatch(node, [](const auto* exact) { return Describe(exact); });
}

std::string DescribeValue(const NDArray* array) {
  return array ? fmt::format("array of {} {}", array->num_elements(), array->dtype().ToString()) : "nothing";
}

std::string DescribeValue(const tir::PointerInfo* pointer) {
  return pointer ? fmt::format("pointer to {} \"{}\"", pointer->elem.ToString(), pointer->scope) : "nothing";
}

std::string DescribeValue(DataType dtype) { return dtype.ToString(); }
std::string DescribeValue(std::string_view text) { return fmt::format("\"{}\"", text); }
std::string DescribeValue(double value) { return fmt::format("{}", value); }
std::string DescribeValue(bool value) { return value ? "true" : "false"; }
std::string DescribeValue(int64_t value) { return fmt::format("{}", value); }

}  // namespace iropt::structural
