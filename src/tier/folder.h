// How do files of one folder come and go so that a kill at any moment leaves whole ones? Written beside, then renamed,
// by the one process that holds the folder's lock.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tier/file_io.h"

namespace ferrox {

struct FolderFile {
  std::string name;
  uint64_t size_bytes;
  double modified_s;  ///< seconds since 1970
};

/// Fills a new file. What it returns is what write_beside returns.
using FileFiller = std::function<Result<void>(int fd)>;

enum class Existing { kKept, kReplaced };

class Folder {
 public:
  /// Makes the folder where it isn't there. Errors: a path that isn't a folder, what the system refuses.
  static Result<Folder> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }

  /// Becomes the folder's writer until this goes away, and sweeps what a killed one was writing. Errors: another
  /// process (or another Folder) is (kUnavailable); a folder that was removed, and what the system refuses (kIo).
  Result<void> lock();
  bool is_locked() const { return lock_.is_open(); }
  void unlock() { lock_ = Descriptor(); }

  /// Regular files, in no order. Errors: what the system refuses.
  Result<std::vector<FolderFile>> files() const;

  /// A file to read, never waiting for a pipe. Errors: kNotFound, kIo.
  Result<Descriptor> open_file(const std::string& name) const;

  /// Makes a file that is there whole, stamped modified_s, or not at all. Only under the lock. Errors: the filler's, a
  /// file of that name that is kept (kInvalidArgument), what the system refuses.
  Result<void> write_beside(const std::string& name, double modified_s, Existing existing,
                            const FileFiller& fill) const;

  /// False when the file is still there.
  bool remove(const std::string& name) const;

 private:
  Folder(std::filesystem::path path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  Result<void> publish(const std::string& name, Existing existing) const;
  Error refusal(const std::string& name, const char* step) const;

  std::filesystem::path path_;
  Descriptor folder_;
  Descriptor lock_;
};

/// The file's time stamp; a refusal costs nothing.
void stamp_file(int fd, double modified_s);

}  // namespace ferrox
