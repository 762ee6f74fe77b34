#include "zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace iropt::data {

namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kLocalHeaderSize = 30;
constexpr size_t kDirectoryEntrySize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64Size = 56;
constexpr size_t kLocatorSize = 20;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kZip64Version = 45;
// In the place of a number that is in the Zip64 field.
constexpr uint32_t kIn64 = std::numeric_limits<uint32_t>::max();
// Deflating makes nothing more than this many times smaller; a bigger claim is a lie.
constexpr uint64_t kMostDeflated = 1032;

const char* const kDamaged = "the archive's directory is damaged";

// Whether `size` bytes from `offset` on are there.
bool Contains(std::string_view archive, uint64_t offset, uint64_t size) {
  return offset <= archive.size() && size <= archive.size() - offset;
}

struct Directory {
  uint64_t entries = 0;
  uint64_t offset = 0;
};

// The end record is followed by nothing but a comment.
Result<Directory> FindDirectory(std::string_view archive) {
  if (archive.size() < kEndSize) return Malformed("the archive is cut off");
  const size_t last = archive.size() - kEndSize;
  const size_t first = last - std::min<size_t>(last, std::numeric_limits<uint16_t>::max());
  for (size_t at = last + 1; at-- > first;) {
    if (Load<uint32_t>(archive, at) != kEnd || Load<uint16_t>(archive, at + 20) != last - at) continue;
    Directory found{Load<uint16_t>(archive, at + 10), Load<uint32_t>(archive, at + 16)};
    if (at < kLocatorSize || Load<uint32_t>(archive, at - kLocatorSize) != kEnd64Locator) return found;
    const auto end64 = Load<uint64_t>(archive, at - kLocatorSize + 8);
    if (!Contains(archive, end64, kEnd64Size) || Load<uint32_t>(archive, end64) != kEnd64) return Malformed(kDamaged);
    return Directory{Load<uint64_t>(archive, end64 + 32), Load<uint64_t>(archive, end64 + 48)};
  }
  return Malformed("the archive is cut off");
}

// Takes the numbers that the entry itself has no room for, in the order in which the field has them.
bool ReadZip64Field(std::string_view extra, std::initializer_list<uint64_t*> numbers) {
  if (std::ranges::none_of(numbers, [](const uint64_t* n) { return *n == kIn64; })) return true;
  while (extra.size() >= 4) {
    const auto id = Load<uint16_t>(extra);
    const auto size = Load<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (size > extra.size()) return false;
    std::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != kZip64Field) continue;
    for (uint64_t* number : numbers) {
      if (*number != kIn64) continue;
      if (field.size() < 8) return false;
      *number = Load<uint64_t>(field);
      field.remove_prefix(8);
    }
    return true;
  }
  return false;
}

// Reads the entry at `at` and moves it behind.
Result<ZipEntry> ReadDirectoryEntry(std::string_view archive, uint64_t& at) {
  if (!Contains(archive, at, kDirectoryEntrySize) || Load<uint32_t>(archive, at) != kDirectoryEntry)
    return Malformed(kDamaged);
  const std::string_view record = archive.substr(at, kDirectoryEntrySize);
  const auto name_size = Load<uint16_t>(record, 28);
  const auto extra_size = Load<uint16_t>(record, 30);
  const auto comment_size = Load<uint16_t>(record, 32);
  at += kDirectoryEntrySize;
  if (!Contains(archive, at, uint64_t{name_size} + extra_size + comment_size)) return Malformed(kDamaged);
  ZipEntry entry;
  entry.name = archive.substr(at, name_size);
  entry.method = Load<uint16_t>(record, 10);
  entry.crc = Load<uint32_t>(record, 16);
  uint64_t stored_size = Load<uint32_t>(record, 20);
  entry.size = Load<uint32_t>(record, 24);
  uint64_t offset = Load<uint32_t>(record, 42);
  if (!ReadZip64Field(archive.substr(at + name_size, extra_size), {&entry.size, &stored_size, &offset}))
    return Malformed(kDamaged);
  at += uint64_t{name_size} + extra_size + comment_size;
  if ((Load<uint16_t>(record, 8) & 1) != 0) return Malformed(fmt::format("entry '{}' is encrypted", entry.name));

  // The local header repeats the name, and has an extra field of its own.
  if (!Contains(archive, offset, kLocalHeaderSize) || Load<uint32_t>(archive, offset) != kLocalHeader)
    return Malformed(kDamaged);
  const uint64_t skip =
      kLocalHeaderSize + uint64_t{Load<uint16_t>(archive, offset + 26)} + Load<uint16_t>(archive, offset + 28);
  if (!Contains(archive, offset, skip) || !Contains(archive, offset + skip, stored_size))
    return Malformed(fmt::format("entry '{}' reaches past the end of the file", entry.name));
  entry.stored = archive.substr(offset + skip, stored_size);
  return entry;
}

Result<std::string> Inflate(const ZipEntry& entry) {
  if (entry.size / kMostDeflated > entry.stored.size())
    return Malformed(fmt::format("entry '{}' cannot have {} bytes", entry.name, entry.size));
  std::string contents(entry.size, '\0');
  z_stream stream = {};
  // Negative: no zlib header around the deflated bytes.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Malformed("out of memory");
  constexpr uint64_t kMost = std::numeric_limits<uInt>::max();
  std::string_view in = entry.stored;
  uint64_t done = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const auto available_in = static_cast<uInt>(std::min<uint64_t>(in.size(), kMost));
    const auto available_out = static_cast<uInt>(std::min<uint64_t>(contents.size() - done, kMost));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = available_in;
    stream.next_out = reinterpret_cast<Bytef*>(contents.data() + done);
    stream.avail_out = available_out;
    status = inflate(&stream, Z_NO_FLUSH);
    in.remove_prefix(available_in - stream.avail_in);
    done += available_out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || done != contents.size())
    return Malformed(fmt::format("entry '{}' is damaged: it does not inflate to its {} bytes", entry.name, entry.size));
  return contents;
}

uint32_t Checksum(std::string_view text, uint32_t before = 0) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

// ---- Writing

template <class... T>
void AppendNumbers(OutputStream& out, T... numbers) {
  const auto append = [&](auto number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.Append(std::string_view(bytes, sizeof number));
  };
  (append(numbers), ...);
}

// Version, flags (names in UTF-8), method, time and date (the earliest there is), checksum, sizes, length of the name.
void AppendCommonHeader(OutputStream& out, uint32_t crc, size_t name_size) {
  AppendNumbers(out, kZip64Version, uint16_t{0x800}, kStored, uint16_t{0}, uint16_t{0x21}, crc, kIn64, kIn64,
                static_cast<uint16_t>(name_size));
}

}  // namespace

Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view archive) {
  IROPT_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(archive));
  std::vector<ZipEntry> entries;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    IROPT_ASSIGN_OR_RETURN(const ZipEntry entry, ReadDirectoryEntry(archive, at));
    entries.push_back(entry);
  }
  return entries;
}

Result<Bytes> ReadZipEntry(const ZipEntry& entry, const std::shared_ptr<const FileBuffer>& archive) {
  Bytes contents{entry.stored, archive};
  if (entry.method == kDeflated) {
    IROPT_ASSIGN_OR_RETURN(std::string inflated, Inflate(entry));
    const auto buffer = std::make_shared<const FileBuffer>(std::move(inflated));
    contents = {buffer->text(), buffer};
  } else if (entry.method != kStored) {
    return Malformed(
        fmt::format("entry '{}' is compressed by method {}, which is not supported", entry.name, entry.method));
  }
  if (contents.text.size() != entry.size || Checksum(contents.text) != entry.crc)
    return Malformed(fmt::format("entry '{}' is damaged: its checksum is another one", entry.name));
  return contents;
}

// Sizes and offsets are always in Zip64 fields, so that there is one way to write archives of any size.
void ZipWriter::Add(std::string_view name, std::string_view head, std::string_view body) {
  const uint64_t size = head.size() + body.size();
  entries_.push_back({std::string(name), Checksum(body, Checksum(head)), size, out_.position()});
  AppendNumbers(out_, kLocalHeader);
  AppendCommonHeader(out_, entries_.back().crc, name.size());
  AppendNumbers(out_, uint16_t{20});
  out_.Append(name);
  AppendNumbers(out_, kZip64Field, uint16_t{16}, size, size);
  out_.Append(head);
  out_.Append(body);
}

void ZipWriter::Finish() {
  const uint64_t start = out_.position();
  for (const Entry& entry : entries_) {
    AppendNumbers(out_, kDirectoryEntry, kZip64Version);
    AppendCommonHeader(out_, entry.crc, entry.name.size());
    // Lengths of the extra field and the comment, number of the disk, attributes, offset.
    AppendNumbers(out_, uint16_t{28}, uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0}, kIn64);
    out_.Append(entry.name);
    AppendNumbers(out_, kZip64Field, uint16_t{24}, entry.size, entry.size, entry.offset);
  }
  const uint64_t end = out_.position();
  const uint64_t count = entries_.size();
  AppendNumbers(out_, kEnd64, uint64_t{kEnd64Size - 12}, kZip64Version, kZip64Version, uint32_t{0}, uint32_t{0}, count,
                count, end - start, start);
  AppendNumbers(out_, kEnd64Locator, uint32_t{0}, end, uint32_t{1});
  AppendNumbers(out_, kEnd, uint16_t{0}, uint16_t{0}, std::numeric_limits<uint16_t>::max(),
                std::numeric_limits<uint16_t>::max(), kIn64, kIn64, uint16_t{0});
}

}  // namespace iropt::data
