// How are a model's predictions of a text kept for comparison? In llama-perplexity's file, little endian:
//
//   | "_logits_" | context: i32 | n_vocab: i32 | n_chunks: i32 | tokens: i32 [n_chunks][context] |
//   | packed rows: u16 [n_chunks][context - 1 - context / 2][packed_row_words(n_vocab)] |
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/file_map.h"
#include "base/result.h"
#include "engine/text_chunks.h"

namespace ferrox {

class ReferenceWriter {
 public:
  /// Writes all but the rows. Errors: what the system refuses.
  static Result<ReferenceWriter> create(const std::string& path, const TextChunks& chunks, int32_t n_vocab);

  /// Rows in order of chunk and place.
  void add_row(std::span<const uint16_t> packed);

  /// Errors: a file that couldn't be written whole.
  Result<void> close();

 private:
  std::string path_;
  std::ofstream out_;
};

class ReferenceFile {
 public:
  /// Errors: a file that isn't such a one, or not as long as its numbers say.
  static Result<ReferenceFile> open(const std::string& path);

  const TextChunks& chunks() const { return chunks_; }
  int32_t n_vocab() const { return n_vocab_; }

  /// Keeps the first n chunks, if there are more.
  void shorten(int64_t n_chunks);

  /// The packed row that scores the `place`-th token of a chunk. Valid as long as the file.
  std::span<const uint16_t> row(int64_t chunk, int64_t place) const;

 private:
  FileMap map_;
  TextChunks chunks_;
  int32_t n_vocab_ = 0;
  const std::byte* rows_ = nullptr;  ///< inside the map
};

}  // namespace ferrox
