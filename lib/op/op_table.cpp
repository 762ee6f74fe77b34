// The operator table and its indices, built once from the rows of ops.def and intrinsics.def.
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "added_ops.h"
#include "intrinsic_dsl.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/arena.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/hash.h"
#include "op_rows.h"

namespace iropt {

namespace {

using intrinsic_dsl::IntrinsicRow;
using op_detail::FamilyOf;
using op_detail::GraphOpRows;
using op_detail::OpRow;
using op_detail::PlaceInFamily;

// Open addressing over a table that is at most half full and never changes after it was filled.
class NameIndex {
 public:
  explicit NameIndex(size_t max_names) : slots_(TableSize(max_names)) {}

  void Add(std::string_view name, size_t row) {
    size_t i = HashString(name) & (slots_.size() - 1);
    while (slots_[i].used) {
      IROPT_CHECK(slots_[i].name != name, "two operators are called {}", name);
      i = (i + 1) & (slots_.size() - 1);
    }
    slots_[i] = {name, row, true};
  }
  std::optional<size_t> Find(std::string_view name) const {
    for (size_t i = HashString(name) & (slots_.size() - 1); slots_[i].used; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].name == name) return slots_[i].row;
    }
    return std::nullopt;
  }

 private:
  struct Slot {
    std::string_view name;
    size_t row = 0;
    bool used = false;
  };
  static size_t TableSize(size_t names) {
    size_t size = 16;
    while (size < 2 * names) size *= 2;
    return size;
  }
  std::vector<Slot> slots_;
};

// ---- The table

class Table {
 public:
  Table() : names_(NumRows()), graph_scripts_(2 * NumRows()), tir_scripts_(2 * NumRows()) {
    rows_.reserve(NumRows());
    AddIntrinsics();
    for (const OpRow& row : GraphOpRows()) Add(row);
    for (OpInfo& row : rows_) row.op = nodes_.New<Op>(row.id, row.name, &row);
  }

  std::span<const OpInfo> rows() const { return rows_; }
  // Of an operator of the table.
  const OpInfo& ById(OpId id) const {
    const size_t intrinsic = IntrinsicRowOf(id);
    return rows_[intrinsic < kNumIntrinsics ? intrinsic : first_rows_[FamilyOf(id)] + PlaceInFamily(id)];
  }
  const OpInfo* ByName(std::string_view name) const { return Row(names_.Find(name)); }
  const OpInfo* ByGraphScript(std::string_view name) const { return Row(graph_scripts_.Find(name)); }
  const OpInfo* ByTirScript(std::string_view name) const { return Row(tir_scripts_.Find(name)); }

 private:
  static size_t NumRows() { return kNumIntrinsics + GraphOpRows().size(); }
  const OpInfo* Row(std::optional<size_t> row) const { return row ? &rows_[*row] : nullptr; }

  OpInfo& Append(std::string_view name, const OpInfo& info, OpId id) {
    names_.Add(name, rows_.size());
    OpInfo& row = rows_.emplace_back(info);
    row.id = id;
    row.name = name;
    return row;
  }

  void Add(const OpRow& row) {
    const size_t place = rows_.size();
    if (PlaceInFamily(row.info.id) == 0) first_rows_[FamilyOf(row.info.id)] = place;
    OpInfo& info = Append(row.info.name, row.info, row.info.id);
    info.row = static_cast<uint16_t>(place - kNumIntrinsics);
    graph_scripts_.Add(info.script.substr(2), place);
    if (!row.alias.empty()) graph_scripts_.Add(row.alias, place);
  }

  void Add(std::string_view name, const IntrinsicRow& row) {
    OpInfo info;
    info.script = row.script;
    info.pure = row.info.effect <= CallEffect::kReadState;
    const size_t place = rows_.size();
    OpInfo& stored = Append(name, info, static_cast<OpId>(kFirstIntrinsicId + place));
    IntrinsicInfo& intrinsic = intrinsics_.emplace_back(row.info);
    intrinsic.op = &stored;
    intrinsic.defaults = std::span(row.defaults).first(row.num_defaults);
    stored.intrinsic = &intrinsic;
    tir_scripts_.Add(row.script.substr(2), place);
    if (!row.alias.empty()) tir_scripts_.Add(row.alias, place);
  }

  // Long after expansion only: one statement per row of the table.
  void AddIntrinsics() {
    using namespace intrinsic_dsl;
#define IROPT_INTRINSIC(id, name, num_args, effect, print, result, ...)                                                \
  {                                                                                                                    \
    static constexpr IntrinsicRow kRow =                                                                               \
        MakeIntrinsic("T." #name, num_args, CallEffect::effect, DtypePrint::print, result __VA_OPT__(, ) __VA_ARGS__); \
    Add("tir." #name, kRow);                                                                                           \
  }
#include "iropt/op/intrinsics.def"
  }

  std::vector<OpInfo> rows_;                                            // never reallocated: operators point into it
  std::array<size_t, FamilyOf(OpId{kFirstIntrinsicId})> first_rows_{};  // by family
  std::deque<IntrinsicInfo> intrinsics_;
  Arena nodes_;
  NameIndex names_;
  NameIndex graph_scripts_;
  NameIndex tir_scripts_;
};

const Table& TheTable() {
  // Never destroyed: nodes of the table may be used until the end of the process.
  static const Table& table = *new Table;
  return table;
}

}  // namespace

std::span<const OpInfo> AllOps() { return TheTable().rows(); }
const OpInfo* FindOp(std::string_view name) {
  const OpInfo* row = TheTable().ByName(name);
  return row ? row : op_detail::FindAddedOp(name);
}
const OpInfo* FindGraphOpByScript(std::string_view name) {
  const OpInfo* row = TheTable().ByGraphScript(name);
  return row ? row : op_detail::FindAddedOpByScript(name);
}
const OpInfo* FindIntrinsicByScript(std::string_view name) { return TheTable().ByTirScript(name); }
std::string_view NearestGraphOpScript(std::string_view name) {
  std::vector<std::string_view> candidates;
  for (const OpInfo& info : AllOps()) {
    if (info.is_graph_level()) candidates.push_back(info.script.substr(2));
  }
  for (const OpInfo& info : AddedOps()) candidates.push_back(info.script.substr(2));
  return NearestName(name, candidates).value_or(std::string_view());
}

const OpInfo& OpInfoOf(OpId id) {
  const auto number = static_cast<uint16_t>(id);
  return number < kFirstAddedId ? TheTable().ById(id) : AddedOps()[number - kFirstAddedId];
}
const Op* GetOp(OpId id) { return OpInfoOf(id).op; }

const Op* GetOp(std::string_view name) {
  const OpInfo* info = FindOp(name);
  IROPT_CHECK(info != nullptr, "no operator is called {}", name);
  return info->op;
}

const OpAttr* OpInfo::FindAttr(std::string_view attr_name) const {
  for (const OpAttr& attr : attrs) {
    if (attr.name == attr_name) return &attr;
  }
  return nullptr;
}

std::optional<DataType> ResultDtypeOf(const IntrinsicInfo& info, std::span<const PrimExpr* const> args) {
  const auto operand = [&](size_t i) { return i < args.size() ? std::optional(args[i]->dtype) : std::nullopt; };
  switch (info.result) {
    case ResultDtype::kFixed: return info.dtype;
    case ResultDtype::kOperand0: return operand(0);
    case ResultDtype::kOperand1: return operand(1);
    case ResultDtype::kBoolLanes: {
      const auto first = operand(0);
      return first ? std::optional(DataType::Bool().with_lanes(first->lanes)) : std::nullopt;
    }
    case ResultDtype::kGiven: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace iropt
