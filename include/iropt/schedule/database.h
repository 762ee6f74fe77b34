// Tuning databases of TVM: the files database_workload.json and database_tuning_record.json of a folder.
//
//   const Result<schedule::Database> database = schedule::Database::Read(folder);
//   const std::optional<size_t> workload = database->Find(*schedule::NormalizeWorkload(func, workspace));
//   const schedule::TuningRecord* best = workload ? database->Best(*workload) : nullptr;
//
// A line of the first file is a workload, ["hash", "base64 of the JSON of a module with one function"]; a line of the
// second one is a record, [index of the workload, [trace, seconds of its runs, target, arguments]]. The JSON of modules
// is read in the form of TVM 0.21 and older and in that of newer versions, and written in that of 0.18. Hashes do not
// count: TVM computes them again when it reads a database, since they depend on the machine.
//
// Source: TVM's src/meta_schedule/database/json_database.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/trace.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"

namespace iropt::schedule {

inline constexpr std::string_view kWorkloadFile = "database_workload.json";
inline constexpr std::string_view kRecordFile = "database_tuning_record.json";

// A function that was tuned, as NormalizeWorkload gives it. The storage keeps it alive; the variable is its name.
using Workload = ModuleEntry;

struct TuningRecord {
  size_t workload = 0;  // its index
  Trace trace;
  std::vector<double> run_secs;  // empty if the candidate did not run
  std::string target = {};       // JSON; null if it is not known
  std::string args_info = {};    // JSON; null if it is not known

  // A record counts if its trace has instructions before postprocessing, one of its runs ended, and all times are
  // finite and more than 0.
  bool IsValid() const;
  double MeanSeconds() const;
};

// Returns the function in the form that TVM compares: with the attribute global_symbol, "main" if it has none, and with
// tir.noalias.
const PrimFunc* NormalizeWorkload(const PrimFunc& func, Workspace& workspace);

class Database {
 public:
  // Both files must exist. A line that is not what it should be is an error, which names the file and the line. A
  // workload with a part that is not supported is left out, with its records; `skipped` tells why. O(size of the
  // files).
  static Result<Database> Read(const std::string& folder);
  // Of the texts of the files.
  static Result<Database> Parse(std::string_view workloads, std::string_view records);

  // An entry without a function stands for a workload that is left out.
  const std::vector<Workload>& workloads() const { return workloads_; }
  const std::vector<TuningRecord>& records() const { return records_; }
  const std::vector<std::string>& skipped() const { return skipped_; }

  // The workload that is equal to the normalized function, by structure: names of blocks and variables do not count.
  std::optional<size_t> Find(const PrimFunc& workload) const;
  // The valid record with the least mean time, of several the first one; null if there is none.
  const TuningRecord* Best(size_t workload) const;

  // Adds a normalized function, unless it is known; gives its index.
  size_t AddWorkload(Workload workload);
  // Gives the index of the record.
  size_t AddRecord(TuningRecord record) {
    records_.push_back(std::move(record));
    return records_.size() - 1;
  }
  void ReplaceRecord(size_t index, TuningRecord record) { records_[index] = std::move(record); }
  // Replaces both files, each by renaming a new one, the records last: a run that ends early leaves whole files.
  // Workloads that were left out and their records are kept as they were. The folder is made if needed.
  Status Write(const std::string& folder) const;

 private:
  Status AddWorkloadLine(std::string_view line);
  Status AddRecordLine(std::string_view line);

  std::vector<Workload> workloads_;
  std::vector<std::string> workload_lines_;  // as read; empty for added ones
  LookupMap<uint64_t, std::vector<size_t>> by_hash_;
  std::vector<TuningRecord> records_;
  std::vector<std::string> left_out_;  // records of workloads that are left out
  std::vector<std::string> skipped_;
};

}  // namespace iropt::schedule
