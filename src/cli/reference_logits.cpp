#include "cli/reference_logits.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/checked_math.h"
#include "engine/log_prob_row.h"

namespace ferrox {
namespace {

constexpr std::string_view kMagic = "_logits_";
constexpr size_t kHeaderBytes = 8 + 3 * sizeof(int32_t);
constexpr int32_t kMostVocab = 1 << 24;
constexpr int32_t kMostContext = 1 << 24;

template <class T>
void write_numbers(std::ofstream& out, std::span<const T> numbers) {
  out.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size_bytes()));
}

Error malformed(const std::string& path, const std::string& found) {
  return make_error(ErrorCode::kCorrupt, "{}: expected predictions as --save-logits writes them, found {}", path,
                    found);
}

/// Bytes of the tokens and of the whole file, or nothing where they are more than there can be.
struct FileSizes {
  uint64_t token_bytes;
  uint64_t file_bytes;
};
std::optional<FileSizes> file_sizes(const TextChunks& chunks, int32_t n_vocab) {
  const auto n_chunks = static_cast<uint64_t>(chunks.n_chunks);
  const auto token_bytes = checked_mul(n_chunks, static_cast<uint64_t>(chunks.context) * sizeof(int32_t));
  const auto chunk_bytes = checked_mul(static_cast<uint64_t>(chunks.n_scored()),
                                       static_cast<uint64_t>(packed_row_words(n_vocab)) * sizeof(uint16_t));
  const auto row_bytes = chunk_bytes ? checked_mul(n_chunks, *chunk_bytes) : std::nullopt;
  if (!token_bytes || !row_bytes) return std::nullopt;
  const auto data_bytes = checked_add(*token_bytes, *row_bytes);
  const auto file_bytes = data_bytes ? checked_add(*data_bytes, uint64_t{kHeaderBytes}) : std::nullopt;
  return file_bytes ? std::optional(FileSizes{*token_bytes, *file_bytes}) : std::nullopt;
}

Result<void> check_tokens(const std::string& path, const TextChunks& chunks, int32_t n_vocab) {
  for (const int32_t token : chunks.tokens) {
    if (token < 0 || token >= n_vocab) return malformed(path, fmt::format("token {} of {}", token, n_vocab));
  }
  return {};
}

}  // namespace

Result<ReferenceWriter> ReferenceWriter::create(const std::string& path, const TextChunks& chunks, int32_t n_vocab) {
  ReferenceWriter writer;
  writer.path_ = path;
  writer.out_.open(path, std::ios::binary | std::ios::trunc);
  if (!writer.out_) return make_error(ErrorCode::kIo, "{}: can't write: {}", path, std::strerror(errno));
  writer.out_.write(kMagic.data(), static_cast<std::streamsize>(kMagic.size()));
  const std::array numbers = {static_cast<int32_t>(chunks.context), n_vocab, static_cast<int32_t>(chunks.n_chunks)};
  write_numbers<int32_t>(writer.out_, numbers);
  write_numbers<int32_t>(writer.out_, chunks.tokens);
  return writer;
}

void ReferenceWriter::add_row(std::span<const uint16_t> packed) { write_numbers(out_, packed); }

Result<void> ReferenceWriter::close() {
  out_.close();
  if (!out_) return make_error(ErrorCode::kIo, "{}: can't write all of it: {}", path_, std::strerror(errno));
  return {};
}

Result<ReferenceFile> ReferenceFile::open(const std::string& path) {
  ReferenceFile file;
  TRY_ASSIGN(file.map_, FileMap::open(path));
  const auto bytes = file.map_.bytes();
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return malformed(path, "another file");
  }
  int32_t numbers[3];
  std::memcpy(numbers, bytes.data() + kMagic.size(), sizeof numbers);
  const auto [context, n_vocab, n_chunks] = numbers;
  if (context < 4 || context > kMostContext || n_vocab < 1 || n_vocab > kMostVocab || n_chunks < 1) {
    return malformed(path, fmt::format("{} chunks of {} tokens, a vocabulary of {}", n_chunks, context, n_vocab));
  }
  file.n_vocab_ = n_vocab;
  file.chunks_.context = context;
  file.chunks_.n_chunks = n_chunks;
  const auto sizes = file_sizes(file.chunks_, n_vocab);
  if (!sizes || sizes->file_bytes != bytes.size()) {
    return malformed(path, fmt::format("{} bytes where its numbers ask for {}", bytes.size(),
                                       sizes ? std::to_string(sizes->file_bytes) : "more than there can be"));
  }
  file.chunks_.tokens.resize(static_cast<size_t>(int64_t{context} * n_chunks));
  std::memcpy(file.chunks_.tokens.data(), bytes.data() + kHeaderBytes, sizes->token_bytes);
  file.rows_ = bytes.data() + kHeaderBytes + sizes->token_bytes;
  TRY(check_tokens(path, file.chunks_, n_vocab));
  return file;
}

void ReferenceFile::shorten(int64_t n_chunks) {
  if (n_chunks >= chunks_.n_chunks) return;
  chunks_.n_chunks = n_chunks;
  chunks_.tokens.resize(static_cast<size_t>(n_chunks * chunks_.context));
}

std::span<const uint16_t> ReferenceFile::row(int64_t chunk, int64_t place) const {
  const auto n_words = static_cast<size_t>(packed_row_words(n_vocab_));
  const auto index = static_cast<size_t>(chunk * chunks_.n_scored() + place);
  return {reinterpret_cast<const uint16_t*>(rows_ + index * n_words * sizeof(uint16_t)), n_words};
}

}  // namespace ferrox
