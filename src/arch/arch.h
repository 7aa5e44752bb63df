// How does a model family plug in? One constant in src/arch/families/<name>.cpp, found by its GGUF name.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "gguf/gguf_file.h"
#include "nn/model.h"

namespace ferrox {

struct ModelOptions {
  int32_t max_batch_rows = 512;  ///< the most rows one forward pass takes; sizes the scratch
};

/// One model family. `load` claims each tensor and each key it applies; load_model refuses what is left.
class WeightLoader;
struct ArchSpec {
  const char* gguf_name;  ///< general.architecture
  Result<std::unique_ptr<Model>> (*load)(WeightLoader& loader, const ModelOptions& options);
};

/// Every family, in name order, ended by nullptr.
extern const ArchSpec* const all_arch[];

/// Loads the model of a file. `file` must outlive the model. Errors: an architecture this build lacks, a missing
/// tensor, one that nothing claimed, a wrong shape, a scale key that the family doesn't apply.
Result<std::unique_ptr<Model>> load_model(const GgufFile& file, const ModelOptions& options);

}  // namespace ferrox
