#include "zip.h"

#include <clocale>
#include <new>
#include <optional>

namespace iropt::data {

namespace {

Error Failed(const LibArchive& library, struct archive* archive) {
  const char* message = library.error_string(archive);
  return Malformed(fmt::format("the archive is damaged: {}", message ? message : "unknown error"));
}

using Reader = std::unique_ptr<struct archive, decltype(LibArchive::read_free)>;
using Entry = std::unique_ptr<struct archive_entry, decltype(LibArchive::entry_free)>;

// While it lives, this thread has names of files in UTF-8, whatever the locale of the program is: libarchive converts
// the names of entries to the character set of the locale, and refuses those that it lacks.
class Utf8Names {
 public:
  Utf8Names() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(uselocale(locale_)) {}
  ~Utf8Names() {
    if (locale_ == nullptr) return;  // where the system lacks it
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t locale_;
  locale_t before_;
};

// Deflate makes data smaller by less than this factor.
constexpr uint64_t kMostCompression = 1040;

// Reads an entry, with a limit against bytes that unpack to very many: an entry that has another size than its contents
// state, or states more than the archive can hold, is not read to its end. The directory's size of an entry is not
// trusted.
class EntryReader {
 public:
  EntryReader(const LibArchive& library, struct archive* archive, uint64_t archive_size, StatedSize stated)
      : library_(library), archive_(archive), limit_(archive_size * kMostCompression), stated_(stated) {}

  Result<std::string> Read() {
    const void* block = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
      const int status = library_.read_data_block(archive_, &block, &size, &offset);
      if (status == ARCHIVE_EOF) return std::move(contents_);
      if (status != ARCHIVE_OK) return Failed(library_, archive_);
      contents_.append(static_cast<const char*>(block), size);
      IROPT_RETURN_IF_ERROR(Check());
    }
  }

 private:
  Status Check() {
    if (!size_) {
      IROPT_ASSIGN_OR_RETURN(size_, stated_(contents_));
      if (!size_) return {};
      if (*size_ > limit_)
        return Malformed(fmt::format("its header states {} bytes, more than the archive can hold", *size_));
      contents_.reserve(*size_);
    }
    if (contents_.size() <= *size_) return {};
    return Malformed(fmt::format("it has more than the {} bytes that its header states", *size_));
  }

  const LibArchive& library_;
  struct archive* archive_;
  uint64_t limit_;
  StatedSize stated_;
  std::optional<uint64_t> size_;
  std::string contents_;
};

la_ssize_t Append(struct archive*, void* out, const void* bytes, size_t size) {
  static_cast<OutputStream*>(out)->Append(std::string_view(static_cast<const char*>(bytes), size));
  return static_cast<la_ssize_t>(size);
}

}  // namespace

Status ForEachZipEntry(std::string_view file, StatedSize stated, FunctionRef<Status(std::string_view, Bytes)> visit) {
  if (IsEmptyZip(file)) return {};  // libarchive does not recognize it
  IROPT_ASSIGN_OR_RETURN(const LibArchive* library, LoadLibArchive());
  const Utf8Names names;
  const Reader reader(library->read_new(), library->read_free);
  if (!reader) throw std::bad_alloc();
  // Only by the directory, so that a truncated archive is refused.
  if (library->read_support_format_zip_seekable(reader.get()) != ARCHIVE_OK ||
      library->read_open_memory(reader.get(), file.data(), file.size()) != ARCHIVE_OK) {
    return Failed(*library, reader.get());
  }
  for (;;) {
    struct archive_entry* entry = nullptr;
    const int status = library->read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return {};
    if (status != ARCHIVE_OK) return Failed(*library, reader.get());
    const char* path = library->entry_pathname(entry);
    const std::string name = path ? path : "";
    auto contents = EntryReader(*library, reader.get(), file.size(), stated).Read();
    if (!contents) return Malformed(fmt::format("entry '{}': {}", name, contents.error().message));
    const auto buffer = std::make_shared<const FileBuffer>(*std::move(contents));
    IROPT_RETURN_IF_ERROR(visit(name, {buffer->text(), buffer}));
  }
}

ZipWriter::ZipWriter(const LibArchive& library, OutputStream& out) : library_(library), archive_(library.write_new()) {
  if (!archive_) throw std::bad_alloc();
  library_.write_set_format_zip(archive_);
  library_.write_zip_set_compression_store(archive_);
  // The stream has a buffer, and archives need no padding.
  library_.write_set_bytes_per_block(archive_, 0);
  library_.write_open(archive_, &out, nullptr, Append, nullptr);
}

ZipWriter::~ZipWriter() { library_.write_free(archive_); }

Status ZipWriter::Add(const std::string& name, std::string_view head, std::string_view body) {
  const Utf8Names names;
  const Entry entry(library_.entry_new(), library_.entry_free);
  if (!entry) throw std::bad_alloc();
  library_.entry_set_pathname(entry.get(), name.c_str());
  library_.entry_set_filetype(entry.get(), AE_IFREG);
  library_.entry_set_perm(entry.get(), 0644);
  library_.entry_set_size(entry.get(), static_cast<la_int64_t>(head.size() + body.size()));
  IROPT_RETURN_IF_ERROR(Check(library_.write_header(archive_, entry.get())));
  for (const std::string_view text : {head, body}) {
    if (library_.write_data(archive_, text.data(), text.size()) < 0) return Failed(library_, archive_);
  }
  return {};
}

Status ZipWriter::Finish() { return Check(library_.write_close(archive_)); }

Status ZipWriter::Check(int status) const {
  if (status == ARCHIVE_OK) return {};
  return Failed(library_, archive_);
}

}  // namespace iropt::data
