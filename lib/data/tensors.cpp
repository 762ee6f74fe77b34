#include "iropt/data/tensors.h"

#include "iropt/support/extension.h"
#include "iropt/support/lookup.h"
#include "npy.h"
#include "tvm_params.h"
#include "zip.h"

namespace iropt {

namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kNpyMagic = "\x93NUMPY";
// A name's length has two bytes in an archive.
constexpr size_t kLongestName = 0xffff - kSuffix.size();

std::string_view BytesOf(const NDArray& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

Status CheckNames(std::span<const NamedTensor> tensors) {
  LookupSet<std::string_view> names;
  for (const NamedTensor& named : tensors) {
    if (!names.insert(named.name)) return data::Malformed(fmt::format("it has two tensors '{}'", named.name));
    if (named.name.size() > kLongestName) return data::Malformed("a name is too long");
  }
  return {};
}

}  // namespace

Result<std::vector<NamedTensor>> ReadNpz(const std::shared_ptr<const FileBuffer>& file) {
  std::vector<NamedTensor> tensors;
  IROPT_RETURN_IF_ERROR(
      data::ForEachZipEntry(file, data::NpySize, [&](std::string_view name, const data::Bytes& contents) -> Status {
        auto array = data::ReadNpy(contents);
        if (!array) return data::Malformed(fmt::format("entry '{}': {}", name, array.error().message));
        if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
        tensors.push_back({std::string(name), *std::move(array)});
        return {};
      }));
  IROPT_RETURN_IF_ERROR(CheckNames(tensors));
  return tensors;
}

Result<std::vector<NamedTensor>> ReadTensors(const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(const auto file, ReadFile(path));
  const bool is_zip = data::IsZip(file->text());
  if (!is_zip && HasExtension(path, ".npz")) return data::Malformed(fmt::format("{}: not an .npz archive", path));
  if (file->text().starts_with(kNpyMagic)) {
    auto array = data::ReadNpy({file->text(), file});
    if (!array.ok()) return data::Malformed(fmt::format("{}: {}", path, array.error().message));
    return std::vector<NamedTensor>{{"", *std::move(array)}};
  }
  auto tensors = is_zip                            ? ReadNpz(file)
                 : data::IsTvmParams(file->text()) ? data::ReadTvmParams({file->text(), file})
                                                   : ReadSafetensors(file, path);
  if (!tensors) return Error{ErrorCode::Usage, fmt::format("{}: {}", path, tensors.error().message)};
  return tensors;
}

Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors) {
  IROPT_RETURN_IF_ERROR(CheckNames(tensors));
  return WriteFileAtomically(path, [&](OutputStream& out) -> Status {
    data::ZipWriter archive(out);
    for (const NamedTensor& named : tensors) {
      auto header = data::NpyHeader(*named.tensor);
      if (!header) return data::Malformed(fmt::format("tensor '{}': {}", named.name, header.error().message));
      archive.Add(named.name + std::string(kSuffix), *header, BytesOf(*named.tensor));
    }
    archive.Finish();
    return out.status();
  });
}

Status WriteNpy(const std::string& path, const NDArray& tensor) {
  IROPT_ASSIGN_OR_RETURN(const std::string header, data::NpyHeader(tensor));
  return WriteFileAtomically(path, [&](OutputStream& out) -> Status {
    out.Append(header);
    out.Append(BytesOf(tensor));
    return out.status();
  });
}

Status WriteTensors(const std::string& path, std::span<const NamedTensor> tensors) {
  if (HasExtension(path, ".npz")) return WriteNpz(path, tensors);
  if (HasExtension(path, ".safetensors")) return WriteSafetensors(path, tensors);
  if (!path.ends_with(kSuffix))
    return data::Malformed(fmt::format("{}: the name does not end in .npz, .npy or .safetensors", path));
  if (tensors.size() != 1)
    return data::Malformed(fmt::format("{}: a .npy file holds one tensor, not {}", path, tensors.size()));
  return WriteNpy(path, *tensors[0].tensor);
}

}  // namespace iropt
