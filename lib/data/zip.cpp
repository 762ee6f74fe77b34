#include "zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace iropt::data {

namespace {

// Deflate makes data smaller by less than this factor.
constexpr uint64_t kMostCompression = 1040;

// Records begin with a signature of four bytes. These are their sizes without what has no fixed size.
constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr size_t kLocalHeaderSize = 30;
constexpr std::string_view kEntry = "PK\x01\x02";
constexpr size_t kEntrySize = 46;
constexpr std::string_view kEnd = "PK\x05\x06";
constexpr size_t kEndSize = 22;
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr size_t kEnd64Size = 56;
constexpr std::string_view kLocator64 = "PK\x06\x07";
constexpr size_t kLocator64Size = 20;

// Fields that are too small for a number have this value, and the number is in an extra field of 64-bit numbers.
constexpr uint32_t kIn64Bits = 0xffffffff;
constexpr uint16_t kExtra64 = 1;

constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kEncrypted = 1 << 0;
constexpr uint16_t kUtf8Name = 1 << 11;

Error Damaged(std::string_view what) { return Malformed(fmt::format("the archive is damaged: {}", what)); }

// The part of a text, if it has it.
std::optional<std::string_view> Part(std::string_view text, uint64_t begin, uint64_t size) {
  if (begin > text.size() || size > text.size() - begin) return std::nullopt;
  return text.substr(begin, size);
}

// A record with its signature, of which the fields of fixed size are there.
std::optional<std::string_view> Record(std::string_view file, uint64_t begin, std::string_view signature, size_t size) {
  const auto record = Part(file, begin, size);
  if (!record || !record->starts_with(signature)) return std::nullopt;
  return record;
}

uint32_t Checksum(uint32_t before, std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

struct Directory {
  uint64_t num_entries;
  uint64_t begin;
};

// The record at the end of an archive, behind which there may be a comment.
Result<Directory> FindDirectory(std::string_view file) {
  constexpr size_t kLongestComment = 0xffff;
  if (file.size() < kEndSize) return Damaged("its directory is missing");
  const size_t last = file.size() - kEndSize;
  for (size_t at = last;; --at) {
    const auto end = Record(file, at, kEnd, kEndSize);
    if (end && Load<uint16_t>(*end, 20) == last - at) {
      const auto num_entries = Load<uint16_t>(*end, 10);
      const auto begin = Load<uint32_t>(*end, 16);
      const auto locator =
          at < kLocator64Size ? std::nullopt : Record(file, at - kLocator64Size, kLocator64, kLocator64Size);
      if (!locator) return Directory{num_entries, begin};
      const auto end64 = Record(file, Load<uint64_t>(*locator, 8), kEnd64, kEnd64Size);
      if (!end64) return Damaged("its directory is missing");
      return Directory{Load<uint64_t>(*end64, 32), Load<uint64_t>(*end64, 48)};
    }
    if (at == 0 || last - at == kLongestComment) return Damaged("its directory is missing");
  }
}

struct ZipEntry {
  std::string_view name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  uint64_t offset = 0;  // of its local header
};

// Takes the numbers of 64 bits from the extra fields of an entry.
bool ReadExtra64(std::string_view extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const auto field = Part(extra, 4, Load<uint16_t>(extra, 2));
    if (!field) return false;
    if (Load<uint16_t>(extra) == kExtra64) {
      std::string_view rest = *field;
      for (uint64_t* number : {&entry.size, &entry.packed_size, &entry.offset}) {
        if (*number != kIn64Bits) continue;
        if (rest.size() < sizeof *number) return false;
        *number = Load<uint64_t>(rest);
        rest.remove_prefix(sizeof *number);
      }
      return true;
    }
    extra.remove_prefix(4 + field->size());
  }
  return true;
}

// The entry of the directory at an offset, which moves behind it.
Result<ZipEntry> ReadEntry(std::string_view file, uint64_t& at) {
  const auto record = Record(file, at, kEntry, kEntrySize);
  if (!record) return Damaged("an entry of its directory is missing");
  const size_t name_size = Load<uint16_t>(*record, 28);
  const size_t extra_size = Load<uint16_t>(*record, 30);
  const size_t comment_size = Load<uint16_t>(*record, 32);
  const auto rest = Part(file, at + kEntrySize, name_size + extra_size + comment_size);
  if (!rest) return Damaged("an entry of its directory is cut off");
  ZipEntry entry{.name = rest->substr(0, name_size),
                 .flags = Load<uint16_t>(*record, 8),
                 .method = Load<uint16_t>(*record, 10),
                 .checksum = Load<uint32_t>(*record, 16),
                 .packed_size = Load<uint32_t>(*record, 20),
                 .size = Load<uint32_t>(*record, 24),
                 .offset = Load<uint32_t>(*record, 42)};
  if (!ReadExtra64(rest->substr(name_size, extra_size), entry))
    return Damaged("an entry of its directory has malformed fields");
  at += kEntrySize + rest->size();
  return entry;
}

// What an entry has in the archive, packed.
Result<std::string_view> PackedContents(std::string_view file, const ZipEntry& entry) {
  const auto header = Record(file, entry.offset, kLocalHeader, kLocalHeaderSize);
  if (!header) return Damaged("its header is missing");
  const uint64_t begin = entry.offset + kLocalHeaderSize + Load<uint16_t>(*header, 26) + Load<uint16_t>(*header, 28);
  const auto packed = Part(file, begin, entry.packed_size);
  if (!packed) return Damaged("it is cut off");
  return *packed;
}

// A limit against bytes that unpack to very many: contents of another size than they state, or that state more than the
// archive can hold, are not unpacked to their end. The directory's size of an entry is not trusted.
class SizeCheck {
 public:
  SizeCheck(uint64_t archive_size, StatedSize stated) : limit_(archive_size * kMostCompression), stated_(stated) {}

  // Of the contents as far as they are unpacked.
  Status Check(std::string_view contents) {
    if (!size_) {
      IROPT_ASSIGN_OR_RETURN(size_, stated_(contents));
      if (!size_) return {};
      if (*size_ > limit_)
        return Malformed(fmt::format("its header states {} bytes, more than the archive can hold", *size_));
    }
    if (contents.size() <= *size_) return {};
    return Malformed(fmt::format("it has more than the {} bytes that its header states", *size_));
  }

  std::optional<uint64_t> size() const { return size_; }

 private:
  uint64_t limit_;
  StatedSize stated_;
  std::optional<uint64_t> size_;
};

class Inflater {
 public:
  Inflater() {
    // Without the header of zlib.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> Unpack(std::string_view packed, SizeCheck check) {
    std::string contents;
    for (;;) {
      if (stream_.avail_in == 0) Feed(packed);
      char part[1 << 16];
      stream_.next_out = reinterpret_cast<Bytef*>(part);
      stream_.avail_out = sizeof part;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status != Z_OK && status != Z_STREAM_END) return Damaged("what is packed cannot be unpacked");
      contents.append(part, sizeof part - stream_.avail_out);
      IROPT_RETURN_IF_ERROR(check.Check(contents));
      if (check.size()) contents.reserve(*check.size());
      if (status == Z_STREAM_END) return contents;
    }
  }

 private:
  // zlib counts in 32 bits.
  void Feed(std::string_view& packed) {
    const size_t size = std::min<size_t>(packed.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(size);
    packed.remove_prefix(size);
  }

  z_stream stream_ = {};
};

Result<Bytes> ContentsOf(const std::shared_ptr<const FileBuffer>& file, const ZipEntry& entry, StatedSize stated) {
  if (entry.flags & kEncrypted) return Malformed("it is encrypted");
  IROPT_ASSIGN_OR_RETURN(const std::string_view packed, PackedContents(file->text(), entry));
  SizeCheck check(file->size(), stated);
  Bytes contents{packed, file};
  if (entry.method == kDeflated) {
    IROPT_ASSIGN_OR_RETURN(std::string unpacked, Inflater().Unpack(packed, check));
    const auto buffer = std::make_shared<const FileBuffer>(std::move(unpacked));
    contents = {buffer->text(), buffer};
  } else if (entry.method == kStored) {
    IROPT_RETURN_IF_ERROR(check.Check(packed));
  } else {
    return Malformed(
        fmt::format("it is compressed by method {}; numpy stores and deflates (methods 0 and 8)", entry.method));
  }
  if (contents.text.size() != entry.size) return Damaged("the size is not that of its directory");
  if (Checksum(0, contents.text) != entry.checksum) return Damaged("the checksum differs");
  return contents;
}

// A record, field by field.
class RecordWriter {
 public:
  explicit RecordWriter(std::string_view signature) : bytes_(signature) {}
  template <class T>
  RecordWriter& Add(T number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  RecordWriter& Add(std::string_view text) {
    bytes_.append(text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

uint32_t In32Bits(uint64_t number) { return static_cast<uint32_t>(std::min<uint64_t>(number, kIn64Bits)); }

// The extra field with those numbers that do not fit into 32 bits.
std::string Extra64(std::initializer_list<uint64_t> numbers) {
  RecordWriter values("");
  for (const uint64_t number : numbers) {
    if (number >= kIn64Bits) values.Add(number);
  }
  if (values.bytes().empty()) return {};
  return RecordWriter("").Add(kExtra64).Add(static_cast<uint16_t>(values.bytes().size())).Add(values.bytes()).bytes();
}

constexpr uint16_t kVersion = 45;                   // that has numbers of 64 bits
constexpr uint16_t kUnix = 3 << 8;                  // made by
constexpr uint32_t kOrdinaryFile = 0100644U << 16;  // its mode
constexpr uint32_t kNoDate = 0x21 << 16;            // 1980-01-01, the first that there is

// What the local header and the entry of the directory share.
void AddCommon(RecordWriter& record, std::string_view name, uint32_t checksum, uint64_t size, size_t extra_size) {
  const bool is_ascii = std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  record.Add(kVersion).Add(is_ascii ? uint16_t{0} : kUtf8Name).Add(kStored).Add(kNoDate).Add(checksum);
  record.Add(In32Bits(size)).Add(In32Bits(size));
  record.Add(static_cast<uint16_t>(name.size())).Add(static_cast<uint16_t>(extra_size));
}

}  // namespace

Status ForEachZipEntry(const std::shared_ptr<const FileBuffer>& file, StatedSize stated,
                       FunctionRef<Status(std::string_view, const Bytes&)> visit) {
  IROPT_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(file->text()));
  uint64_t at = directory.begin;
  uint64_t left = file->size();
  for (uint64_t i = 0; i < directory.num_entries; ++i) {
    IROPT_ASSIGN_OR_RETURN(const ZipEntry entry, ReadEntry(file->text(), at));
    // The same bytes would be unpacked many times.
    if (entry.packed_size > left) return Damaged("its entries overlap");
    left -= entry.packed_size;
    const auto contents = ContentsOf(file, entry, stated);
    if (!contents) return Malformed(fmt::format("entry '{}': {}", entry.name, contents.error().message));
    IROPT_RETURN_IF_ERROR(visit(entry.name, *contents));
  }
  return {};
}

void ZipWriter::Write(std::string_view bytes) {
  out_.Append(bytes);
  offset_ += bytes.size();
}

void ZipWriter::Add(std::string_view name, std::string_view head, std::string_view body) {
  const uint64_t size = head.size() + body.size();
  const uint32_t checksum = Checksum(Checksum(0, head), body);
  const std::string entry_extra = Extra64({size, size, offset_});
  RecordWriter entry(kEntry);
  entry.Add(static_cast<uint16_t>(kUnix | kVersion));
  AddCommon(entry, name, checksum, size, entry_extra.size());
  entry.Add(uint16_t{0}).Add(uint16_t{0}).Add(uint16_t{0}).Add(kOrdinaryFile).Add(In32Bits(offset_));
  entry.Add(name).Add(std::string_view(entry_extra));
  directory_ += entry.bytes();
  ++num_entries_;

  const std::string extra = Extra64({size, size});
  RecordWriter header(kLocalHeader);
  AddCommon(header, name, checksum, size, extra.size());
  Write(header.Add(name).Add(std::string_view(extra)).bytes());
  Write(head);
  Write(body);
}

void ZipWriter::Finish() {
  const uint64_t begin = offset_;
  const uint64_t size = directory_.size();
  Write(directory_);
  constexpr uint16_t kMany = 0xffff;
  if (num_entries_ >= kMany || begin >= kIn64Bits || size >= kIn64Bits) {
    const uint64_t end = offset_;
    RecordWriter end64(kEnd64);
    end64.Add(uint64_t{kEnd64Size - 12}).Add(static_cast<uint16_t>(kUnix | kVersion)).Add(kVersion);
    end64.Add(uint32_t{0}).Add(uint32_t{0}).Add(num_entries_).Add(num_entries_).Add(size).Add(begin);
    Write(end64.bytes());
    Write(RecordWriter(kLocator64).Add(uint32_t{0}).Add(end).Add(uint32_t{1}).bytes());
  }
  const auto count = static_cast<uint16_t>(std::min<uint64_t>(num_entries_, kMany));
  RecordWriter last(kEnd);
  last.Add(uint16_t{0})
      .Add(uint16_t{0})
      .Add(count)
      .Add(count)
      .Add(In32Bits(size))
      .Add(In32Bits(begin))
      .Add(uint16_t{0});
  Write(last.bytes());
}

}  // namespace iropt::data
