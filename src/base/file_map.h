// How are a file's bytes read without copying them? As a read-only map that lives as long as this object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace ferrox {

class FileMap {
 public:
  /// Maps the whole of a regular file. Errors: missing file, directory, no permission, not mappable.
  static Result<FileMap> open(const std::filesystem::path& path);

  FileMap() = default;
  FileMap(FileMap&& other) noexcept;
  FileMap& operator=(FileMap&& other) noexcept;
  ~FileMap();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  /// Asks the kernel to read ahead all of the map.
  void advise_will_need() const;

  /// Of a map that isn't read for a while: the kernel may take its memory before that of others, or (dropped) this
  /// process gives it up at once. What is read comes from the file again. Locked memory stays.
  void advise_cold() const;
  void advise_dropped() const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ferrox
