// Does each family compute what the reference computed? Every outside model whose architecture is registered.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "arch/arch.h"
#include "support/model_runner.h"
#include "support/vectors.h"

namespace ferrox {
namespace {

struct Reference {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
};

Reference read_reference(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  int32_t sizes[2] = {};
  file.read(reinterpret_cast<char*>(sizes), sizeof sizes);
  Reference reference;
  reference.tokens.resize(static_cast<size_t>(sizes[0]));
  reference.logits.resize(static_cast<size_t>(sizes[0]) * static_cast<size_t>(sizes[1]));
  file.read(reinterpret_cast<char*>(reference.tokens.data()), sizes[0] * 4);
  file.read(reinterpret_cast<char*>(reference.logits.data()),
            static_cast<std::streamsize>(reference.logits.size() * 4));
  return reference;
}

double normalised_error(const std::vector<float>& got, const std::vector<float>& want) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
    norm += double{want[i]} * want[i];
  }
  return error / norm;
}

bool is_registered(const std::string& architecture) {
  for (const auto* const* arch = all_arch; *arch != nullptr; ++arch) {
    if (architecture == (*arch)->gguf_name) return true;
  }
  return false;
}

TEST(ArchVectors, LogitsMatchInEveryChunking) {
  FERROX_VECTORS_OR_SKIP(vectors, testing::vector_dir());
  int n_models = 0;
  std::set<std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator(vectors / "arch")) {
    if (entry.path().extension() != ".gguf") continue;
    auto file = GgufFile::open(entry.path());
    ASSERT_TRUE(file) << file.error().message;
    const auto architecture = file->metadata().get_string("general.architecture");
    ASSERT_TRUE(architecture);
    if (!is_registered(*architecture)) continue;
    SCOPED_TRACE(entry.path().filename().string());
    auto model = load_model(*file, {.max_batch_rows = 512});
    ASSERT_TRUE(model) << model.error().message;
    const Reference want = read_reference(std::filesystem::path(entry.path()).replace_extension(".logits"));
    ThreadPool pool(2);
    const auto n = static_cast<int64_t>(want.tokens.size());
    const auto whole = testing::run_sequence(**model, want.tokens, testing::even_chunks(n, 512), 32, DType::kF32, pool);
    EXPECT_LT(normalised_error(whole, want.logits), 1e-6);
    for (const int32_t chunk : {1, 7}) {
      const auto chunked =
          testing::run_sequence(**model, want.tokens, testing::even_chunks(n, chunk), chunk, DType::kF32, pool);
      EXPECT_EQ(chunked, whole) << "chunks and pages of " << chunk << " change bits";
    }
    ++n_models;
    seen.insert(*architecture);
  }
  testing::record_vectors(static_cast<size_t>(n_models));
  EXPECT_GT(n_models, 0);
  for (const auto* const* arch = all_arch; *arch != nullptr; ++arch) {
    EXPECT_TRUE(seen.contains((*arch)->gguf_name)) << (*arch)->gguf_name << " has no outside vector";
  }
}

}  // namespace
}  // namespace ferrox
