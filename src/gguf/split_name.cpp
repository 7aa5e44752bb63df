#include "gguf/split_name.h"

#include <string>

namespace ferrox {
namespace {

std::string suffix(uint64_t index, uint64_t n_parts) { return fmt::format("-{:05}-of-{:05}.gguf", index + 1, n_parts); }

}  // namespace

Result<std::filesystem::path> split_part(const std::filesystem::path& first, uint64_t index, uint64_t n_parts) {
  const std::string name = first.filename().string();
  const std::string first_suffix = suffix(0, n_parts);
  if (!name.ends_with(first_suffix)) {
    return make_error(ErrorCode::kInvalidArgument,
                      "this is the first of {} parts: expected a name that ends in '{}', found '{}'", n_parts,
                      first_suffix, name);
  }
  const std::string stem = name.substr(0, name.size() - first_suffix.size());
  return first.parent_path() / (stem + suffix(index, n_parts));
}

}  // namespace ferrox
