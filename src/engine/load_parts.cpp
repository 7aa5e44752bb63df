#include "engine/load_parts.h"

#include <algorithm>

#include "arch/arch.h"
#include "base/log.h"
#include "base/memory_lock.h"
#include "engine/bundled_model.h"
#include "gguf/in_file.h"

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

/// The text of an optional token.
std::string text_of(const Vocabulary& vocabulary, std::optional<int32_t> id) {
  return id ? std::string(vocabulary.text(*id)) : std::string();
}

Result<std::unique_ptr<ChatTemplate>> load_chat_template(const EngineOptions& options, const Metadata& metadata,
                                                         const Vocabulary& vocabulary) {
  constexpr const char* kKey = "tokenizer.chat_template";
  const ChatTokens tokens{text_of(vocabulary, vocabulary.bos()), text_of(vocabulary, vocabulary.eos())};
  if (options.chat_template) {
    TRY_ASSIGN(ChatTemplate given, ChatTemplate::parse(*options.chat_template, tokens));
    return std::make_unique<ChatTemplate>(std::move(given));
  }
  std::optional<std::string> source;
  if (metadata.contains(kKey)) {
    TRY_ASSIGN(source, metadata.get_string(kKey));
  }
  auto found = std::make_unique<ChatTemplate>(ChatTemplate::from_file(source, tokens));
  if (!found->problem().empty()) log().warn("chat template of the file isn't used: {}", found->problem());
  return found;
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

/// Every token that text may become has a row of the embedding.
Result<void> check_vocabulary(const EngineParts& parts) {
  const int32_t n_tokens = parts.tokenizer->vocabulary().size();
  const int32_t n_rows = parts.model->shape().n_vocab;
  if (n_tokens <= n_rows) return {};
  return make_error(ErrorCode::kCorrupt,
                    "{}: token_embd.weight: expected a row for each of the vocabulary's {} tokens, found {}",
                    parts.file->name(), n_tokens, n_rows);
}

Result<void> lock_weights(const EngineOptions& options, const GgufFile& file) {
  if (!options.model_path) {
    TRY_ASSIGN(const auto bytes, bundled_model());
    return lock_in_memory(bytes);
  }
  for (const FileMap& map : file.maps()) TRY(lock_in_memory(map.bytes()));
  return {};
}

}  // namespace

Result<EngineParts> load_parts(const EngineOptions& options) {
  TRY_ASSIGN(GgufFile file, open_model(options));
  EngineParts parts;
  parts.file = std::make_unique<GgufFile>(std::move(file));
  parts.model_id = id_of(options);
  TRY_ASSIGN(parts.tokenizer, in_file(*parts.file, make_tokenizer(parts.file->metadata())));
  TRY_ASSIGN(parts.chat_template, load_chat_template(options, parts.file->metadata(), parts.tokenizer->vocabulary()));
  const int32_t batch_rows = std::max({options.batch_rows, options.n_parallel, 1});
  TRY_ASSIGN(parts.model, in_file(*parts.file, load_model(*parts.file, ModelOptions{batch_rows})));
  TRY(check_vocabulary(parts));
  read_in(*parts.file, options.on_load_progress);
  if (options.lock_weights) TRY(in_file(*parts.file, lock_weights(options, *parts.file)));
  return parts;
}

}  // namespace ferrox
