// How does a test look at a folder's files, and change their bytes?
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ferrox::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Files whose names end so, in order of names.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   const std::string& ending = "") {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What the tiers' files in a folder take: all but the lock.
inline uint64_t stored_bytes(const std::filesystem::path& folder) {
  uint64_t sum = 0;
  for (const auto& file : files_in(folder))
    sum += file.filename() == "writer.lock" ? 0 : std::filesystem::file_size(file);
  return sum;
}

}  // namespace ferrox::testing
