// How is the model of a file found and loaded? By its architecture's name, and only if all of it is understood.
#include <fmt/ranges.h>

#include "arch/arch.h"
#include "arch/weight_loader.h"
#include "kernels/dispatch.h"

namespace ferrox {
namespace {

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const auto* const* arch = all_arch; *arch != nullptr; ++arch) names.emplace_back((*arch)->gguf_name);
  return names;
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const GgufFile& file, const ModelOptions& options) {
  TRY_ASSIGN(const KernelTable* kernels, active_kernels());
  TRY_ASSIGN(const std::string name, file.metadata().get_string("general.architecture"));
  for (const auto* const* arch = all_arch; *arch != nullptr; ++arch) {
    if (name != (*arch)->gguf_name) continue;
    WeightLoader loader(file, name, *kernels);
    TRY_ASSIGN(auto model, (*arch)->load(loader, options));
    TRY(loader.check_all_claimed());
    return model;
  }
  return make_error(ErrorCode::kUnsupported, "{}: general.architecture: expected one of {}, found '{}'", file.name(),
                    fmt::join(known_architectures(), ", "), name);
}

}  // namespace ferrox
