#include "result_cache.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "iropt/support/data_hash.h"
#include "iropt/support/file.h"

namespace iropt {

namespace {

constexpr std::string_view kMagic = "iropt-run-1\n";
constexpr std::string_view kInputs = ".inputs";
constexpr std::string_view kRun = ".run";

DataHash HashText(std::string_view text) { return HashData(std::as_bytes(std::span(text))); }

// Texts one after the other, each after its size: no two lists have the same form.
class FieldWriter {
 public:
  void Add(uint64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void Add(std::string_view field) {
    Add(uint64_t{field.size()});
    text_ += field;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Reads them back. After damaged text, ok() is false and all fields are empty.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : text_(text) {}

  uint64_t Number() {
    uint64_t number = 0;
    if (text_.size() < sizeof number) return Fail();
    std::memcpy(&number, text_.data(), sizeof number);
    text_.remove_prefix(sizeof number);
    return number;
  }
  std::string_view Text() {
    const uint64_t size = Number();
    if (size > text_.size()) Fail();
    const std::string_view field = text_.substr(0, ok_ ? size : 0);
    text_.remove_prefix(field.size());
    return field;
  }
  bool ok() const { return ok_; }

 private:
  uint64_t Fail() {
    ok_ = false;
    text_ = {};
    return 0;
  }

  std::string_view text_;
  bool ok_ = true;
};

// With a checksum: damaged files count as missing.
std::string Seal(std::string_view fields) {
  std::string text(kMagic);
  text += HashText(fields).Digits();
  text += fields;
  return text;
}

std::optional<std::string_view> Unseal(std::string_view text) {
  const size_t digits = DataHash().Digits().size();
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + digits) return std::nullopt;
  text.remove_prefix(kMagic.size());
  const std::string_view fields = text.substr(digits);
  if (HashText(fields).Digits() != text.substr(0, digits)) return std::nullopt;
  return fields;
}

// Nothing if the file cannot be read.
std::optional<DataHash> HashFile(const std::string& path) {
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
  if (!file.ok()) return std::nullopt;
  return HashText((*file)->text());
}

std::string RenderPaths(std::span<const std::string> paths) {
  FieldWriter fields;
  fields.Add(uint64_t{paths.size()});
  for (const std::string& path : paths) fields.Add(path);
  return Seal(fields.text());
}

std::optional<std::vector<std::string>> ParsePaths(std::string_view text) {
  const std::optional<std::string_view> sealed = Unseal(text);
  if (!sealed) return std::nullopt;
  FieldReader fields(*sealed);
  std::vector<std::string> paths;
  for (uint64_t left = fields.Number(); left > 0 && fields.ok(); --left) paths.emplace_back(fields.Text());
  if (!fields.ok()) return std::nullopt;
  return paths;
}

std::string RenderRun(const CachedRun& run) {
  FieldWriter fields;
  fields.Add(run.messages);
  fields.Add(uint64_t{run.files.size()});
  for (const CachedRun::File& file : run.files) {
    fields.Add(file.name);
    fields.Add(file.contents);
  }
  return Seal(fields.text());
}

std::optional<CachedRun> ParseRun(std::string_view text) {
  const std::optional<std::string_view> sealed = Unseal(text);
  if (!sealed) return std::nullopt;
  FieldReader fields(*sealed);
  CachedRun run;
  run.messages = fields.Text();
  for (uint64_t left = fields.Number(); left > 0 && fields.ok(); --left) {
    std::string name(fields.Text());
    run.files.push_back({std::move(name), std::string(fields.Text())});
  }
  if (!fields.ok()) return std::nullopt;
  return run;
}

}  // namespace

std::optional<std::string> ResultCache::Read(const std::string& name) const {
  const OwnFolder folder = FolderOf(name);
  std::optional<std::string> text = folder.Read(name);
  if (text) folder.Touch(name);
  return text;
}

bool ResultCache::Write(const std::string& name, std::string_view text) const {
  const uint64_t most = bytes_ / kFolders;
  if (text.size() > most) return false;
  const OwnFolder folder = FolderOf(name);
  if (!folder.Write(name, {text})) return false;
  constexpr std::string_view kExtensions[] = {kInputs, kRun};
  folder.Trim(most, kExtensions);
  return true;
}

std::optional<std::string> ResultCache::StepOf(std::string_view identity, const std::string& input) {
  const std::optional<DataHash> contents = HashFile(input);
  if (!contents) return std::nullopt;
  FieldWriter fields;
  fields.Add(identity);
  fields.Add(input);
  fields.Add(contents->Digits());
  return HashText(fields.text()).Digits();
}

// The step with the contents of the files that it reads; nothing if one of them cannot be read.
std::optional<std::string> ResultCache::RunOf(std::string_view step, const std::vector<std::string>& read) const {
  FieldWriter fields;
  fields.Add(step);
  if (read.size() > 1) fields.Add(place_);
  for (const std::string& path : read) {
    const std::optional<DataHash> contents = HashFile(path);
    if (!contents) return std::nullopt;
    fields.Add(path);
    fields.Add(contents->Digits());
  }
  return HashText(fields.text()).Digits();
}

std::optional<CachedRun> ResultCache::Find(const std::string& step) const {
  const std::optional<std::string> inputs = Read(fmt::format("{}{}", step, kInputs));
  std::optional<std::vector<std::string>> read = inputs ? ParsePaths(*inputs) : std::nullopt;
  const std::optional<std::string> name = read ? RunOf(step, *read) : std::nullopt;
  const std::optional<std::string> text = name ? Read(fmt::format("{}{}", *name, kRun)) : std::nullopt;
  std::optional<CachedRun> run = text ? ParseRun(*text) : std::nullopt;
  if (run) run->read = *std::move(read);
  return run;
}

void ResultCache::Add(const std::string& step, const CachedRun& run) const {
  const std::optional<std::string> name = RunOf(step, run.read);
  if (name && Write(fmt::format("{}{}", *name, kRun), RenderRun(run)))
    Write(fmt::format("{}{}", step, kInputs), RenderPaths(run.read));
}

}  // namespace iropt
