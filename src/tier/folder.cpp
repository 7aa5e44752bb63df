#include "tier/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <system_error>

#include "base/check.h"

namespace ferrox {
namespace {

constexpr const char* kLockName = "writer.lock";
/// The one file being written: there is one writer, and what a killed one left is found here.
constexpr const char* kBesideName = "writing.tmp1";
constexpr mode_t kPrivate = 0600;  // rows tell what was said

timespec to_timespec(double time_s) {
  const double whole = std::floor(time_s);
  return {.tv_sec = static_cast<time_t>(whole), .tv_nsec = static_cast<long>((time_s - whole) * 1e9)};
}

double to_seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Result<Folder> Folder::open(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return make_error(ErrorCode::kIo, "{}: can't make the folder: {}", path.string(), error.message());
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return system_error(path.string(), "open the folder");
  return Folder(path, std::move(folder));
}

// What the system refused to make, in a folder that may be gone.
Error Folder::refusal(const std::string& name, const char* step) const {
  const int code = errno;
  struct stat info {};
  if (code == ENOENT && ::fstat(folder_.fd(), &info) == 0 && info.st_nlink == 0) {
    return make_error(ErrorCode::kIo, "{}: the folder was removed; the next start makes it again", path_.string());
  }
  errno = code;
  return system_error((path_ / name).string(), step);
}

Result<void> Folder::lock() {
  if (is_locked()) return {};
  Descriptor lock(::openat(folder_.fd(), kLockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kPrivate));
  if (!lock.is_open()) return refusal(kLockName, "make");
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return refusal(kLockName, "lock");
    return make_error(ErrorCode::kUnavailable, "{}: another process writes here", path_.string());
  }
  lock_ = std::move(lock);
  remove(kBesideName);
  return {};
}

Result<std::vector<FolderFile>> Folder::files() const {
  Descriptor again(::openat(folder_.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.is_open()) return system_error(path_.string(), "open the folder");
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(again.fd()), ::closedir);
  if (list == nullptr) return system_error(path_.string(), "list the folder");
  again.release();
  std::vector<FolderFile> out;
  errno = 0;
  while (const dirent* const entry = ::readdir(list.get())) {
    struct stat info {};
    if (::fstatat(folder_.fd(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode)) {
      out.push_back({entry->d_name, static_cast<uint64_t>(info.st_size), to_seconds(info.st_mtim)});
    }
    errno = 0;
  }
  if (errno != 0) return system_error(path_.string(), "list the folder");
  return out;
}

Result<Descriptor> Folder::open_file(const std::string& name) const {
  Descriptor file(::openat(folder_.fd(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return system_error(name, "open");
  return file;
}

Result<void> Folder::write_beside(const std::string& name, double modified_s, Existing existing,
                                  const FileFiller& fill) const {
  CHECK(is_locked(), "only the folder's writer writes");
  const int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  Result<void> done;
  {
    const Descriptor file(::openat(folder_.fd(), kBesideName, flags, kPrivate));
    if (!file.is_open()) return refusal(kBesideName, "make");
    done = fill(file.fd());
    if (done) stamp_file(file.fd(), modified_s);
  }
  if (done) done = publish(name, existing);
  if (!done) remove(kBesideName);
  return done;
}

Result<void> Folder::publish(const std::string& name, Existing existing) const {
  if (existing == Existing::kReplaced) {
    if (::renameat(folder_.fd(), kBesideName, folder_.fd(), name.c_str()) == 0) return {};
    return system_error(name, "rename to");
  }
  if (::renameat2(folder_.fd(), kBesideName, folder_.fd(), name.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EINVAL || errno == ENOSYS) {  // a file system that can't: a second name keeps what is there as well
    if (::linkat(folder_.fd(), kBesideName, folder_.fd(), name.c_str(), 0) == 0) {
      remove(kBesideName);
      return {};
    }
  }
  if (errno == EEXIST) return make_error(ErrorCode::kInvalidArgument, "{}: expected no such file, found one", name);
  return system_error(name, "rename to");
}

bool Folder::remove(const std::string& name) const {
  return ::unlinkat(folder_.fd(), name.c_str(), 0) == 0 || errno == ENOENT;
}

void stamp_file(int fd, double modified_s) {
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, to_timespec(modified_s)};
  (void)::futimens(fd, times);
}

}  // namespace ferrox
