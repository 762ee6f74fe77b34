// The functions of std::filesystem::path that libc++'s header declares: libc++ is built without them for WASI. Paths are those
// of POSIX, without names of roots.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

_LIBCPP_BEGIN_NAMESPACE_FILESYSTEM

namespace {

using View = std::string_view;

// The number of slashes that the path begins with.
size_t RootSize(View text) {
  const size_t end = text.find_first_not_of('/');
  return end == View::npos ? text.size() : end;
}

// The place of the extension in a name; its size if it has none.
size_t ExtensionBegin(View name) {
  const size_t dot = name.rfind('.');
  return name == "." || name == ".." || dot == 0 || dot == View::npos ? name.size() : dot;
}

// The parts as iteration visits them: a root, names, and an empty one behind a last slash.
std::vector<View> PartsOf(View text) {
  std::vector<View> parts;
  const size_t root = RootSize(text);
  if (root > 0) parts.push_back(text.substr(0, 1));
  for (size_t at = root; at < text.size();) {
    const size_t end = std::min(text.find('/', at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) break;
    at = std::min(text.find_first_not_of('/', end), text.size());
    if (at == text.size()) parts.push_back(text.substr(at));
  }
  return parts;
}

}  // namespace

path::__string_view path::__root_name() const { return {}; }
path::__string_view path::__root_directory() const { return View(__pn_).substr(0, RootSize(__pn_) > 0 ? 1 : 0); }
path::__string_view path::__root_path_raw() const { return __root_directory(); }
path::__string_view path::__relative_path() const { return View(__pn_).substr(RootSize(__pn_)); }

path::__string_view path::__filename() const {
  const View relative = __relative_path();
  return relative.substr(relative.rfind('/') + 1);  // 0 without a folder
}

path::__string_view path::__parent_path() const {
  const View text = __pn_;
  const size_t root = RootSize(text);
  if (root == text.size()) return text.substr(0, root > 0 ? 1 : 0);
  View parent = text.substr(0, text.size() - __filename().size());
  while (parent.size() > root && parent.ends_with('/')) parent.remove_suffix(1);
  return parent.size() == root ? text.substr(0, root > 0 ? 1 : 0) : parent;
}

path::__string_view path::__stem() const {
  const View name = __filename();
  return name.substr(0, ExtensionBegin(name));
}

path::__string_view path::__extension() const {
  const View name = __filename();
  return name.substr(ExtensionBegin(name));
}

path& path::replace_extension(const path& replacement) {
  __pn_.resize(__pn_.size() - __extension().size());
  if (replacement.empty()) return *this;
  if (!replacement.native().starts_with('.')) __pn_ += '.';
  __pn_ += replacement.native();
  return *this;
}

// A relative path is less than an absolute one.
int path::__compare(__string_view other) const {
  if (has_root_directory() != (RootSize(other) > 0)) return has_root_directory() ? 1 : -1;
  const std::vector<View> a = PartsOf(__pn_);
  const std::vector<View> b = PartsOf(other);
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (const int order = a[i].compare(b[i]); order != 0) return order;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

size_t hash_value(const path& path) noexcept {
  size_t hash = 0;
  for (const View part : PartsOf(path.native())) hash = hash * 31 + std::hash<View>()(part);
  return hash;
}

path path::lexically_normal() const {
  if (empty()) return {};
  const bool is_absolute = has_root_directory();
  std::vector<View> kept;
  bool ends_with_slash = false;
  for (const View part : PartsOf(__relative_path())) {
    ends_with_slash = part.empty() || part == "." || part == "..";
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      kept.push_back(part);
    } else if (!kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (!is_absolute) {
      kept.push_back(part);
    }
  }
  string_type text(is_absolute ? "/" : "");
  for (size_t i = 0; i < kept.size(); ++i) text.append(i > 0 ? "/" : "").append(kept[i]);
  if (ends_with_slash && !kept.empty() && kept.back() != "..") text += '/';
  return text.empty() ? path(".") : path(std::move(text));
}

path path::lexically_relative(const path& base) const {
  if (has_root_directory() != base.has_root_directory()) return {};
  const std::vector<View> own = PartsOf(__pn_);
  const std::vector<View> other = PartsOf(base.__pn_);
  size_t common = 0;
  while (common < own.size() && common < other.size() && own[common] == other[common]) ++common;
  if (common == own.size() && common == other.size()) return ".";
  int up = 0;
  for (size_t i = common; i < other.size(); ++i) up += other[i] == ".." ? -1 : other[i].empty() || other[i] == "." ? 0 : 1;
  if (up < 0) return {};
  if (up == 0 && (common == own.size() || own[common].empty())) return ".";
  path relative;
  for (; up > 0; --up) relative /= "..";
  for (size_t i = common; i < own.size(); ++i) relative /= own[i];
  return relative;
}

filesystem_error::~filesystem_error() = default;

void filesystem_error::__create_what(int num_paths) {
  std::string& what = __storage_->__what_;
  what = std::string("filesystem error: ") + system_error::what();
  if (num_paths >= 1) what += " [" + path1().native() + "]";
  if (num_paths >= 2) what += " [" + path2().native() + "]";
}

_LIBCPP_END_NAMESPACE_FILESYSTEM
