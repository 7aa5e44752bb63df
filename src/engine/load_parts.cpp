#include "engine/load_parts.h"

#include <algorithm>

#include "arch/arch.h"
#include "engine/bundled_model.h"
#if __has_include("text/chat_template.h")
#include "text/chat_template.h"
#else
namespace ferrox {
class ChatTemplate {};
}  // namespace ferrox
#endif

namespace ferrox {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kProgressBytes = size_t{16} << 20;  // between two reports

Result<GgufFile> open_model(const EngineOptions& options) {
  if (options.model_path) return GgufFile::open(*options.model_path);
  TRY_ASSIGN(const auto bytes, bundled_model());
  return GgufFile::parse(bytes, kBundledModelId);
}

std::string id_of(const EngineOptions& options) {
  return options.model_path ? options.model_path->stem().string() : std::string(kBundledModelId);
}

/// Touches every page of the file's maps in order; the kernel reads ahead of it.
void read_in(const GgufFile& file, const std::function<void(double)>& on_progress) {
  size_t n_total = 0;
  for (const FileMap& map : file.maps()) map.advise_will_need(), n_total += map.bytes().size();
  size_t n_done = 0;
  unsigned sink = 0;
  for (const FileMap& map : file.maps()) {
    const std::span<const std::byte> bytes = map.bytes();
    for (size_t at = 0; at < bytes.size(); at += kPageBytes) {
      sink += static_cast<unsigned>(*static_cast<const volatile std::byte*>(&bytes[at]));
      if (at % kProgressBytes == 0 && on_progress)
        on_progress(static_cast<double>(n_done + at) / static_cast<double>(n_total));
    }
    n_done += bytes.size();
  }
  static_cast<void>(sink);
  if (on_progress) on_progress(1.0);
}

}  // namespace

Result<EngineParts> load_parts(const EngineOptions& options) {
  TRY_ASSIGN(GgufFile file, open_model(options));
  EngineParts parts;
  parts.file = std::make_unique<GgufFile>(std::move(file));
  parts.model_id = id_of(options);
  TRY_ASSIGN(parts.tokenizer, make_tokenizer(parts.file->metadata()));
  const int32_t batch_rows = std::max({options.batch_rows, options.n_parallel, 1});
  TRY_ASSIGN(parts.model, load_model(*parts.file, ModelOptions{batch_rows}));
  read_in(*parts.file, options.on_load_progress);
  return parts;
}

}  // namespace ferrox
