#include "cli/model_file.h"

#include "engine/bundled_model.h"

namespace ferrox {

Result<GgufFile> open_model_file(const std::string& path) {
  if (!path.empty()) return GgufFile::open(path);
  TRY_ASSIGN(const auto bytes, bundled_model());
  return GgufFile::parse(bytes, kBundledModelId);
}

}  // namespace ferrox
