#include "engine/bundled_model.h"

#ifdef FERROX_HAS_BUNDLED_MODEL
extern "C" {
extern const std::byte ferrox_bundled_model_begin[];
extern const std::byte ferrox_bundled_model_end[];
}
#endif

namespace ferrox {

Result<std::span<const std::byte>> bundled_model() {
#ifdef FERROX_HAS_BUNDLED_MODEL
  return std::span(ferrox_bundled_model_begin, ferrox_bundled_model_end);
#else
  return make_error(ErrorCode::kNotFound, "this build has no bundled model: name a GGUF file with -m");
#endif
}

}  // namespace ferrox
