#include "engine/model_identity.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/version.h"
#include "tier/checksum.h"

namespace ferrox {
namespace {

/// Raised by a change that gives rows other bits: those of before are misses then, never mixed with new ones.
constexpr int kArithmeticRevision = 1;
/// One thread's share at a time: small beside a file, large beside the cost of handing it out.
constexpr size_t kChunkBytes = size_t{16} << 20;

std::vector<std::span<const std::byte>> chunks_of(std::span<const std::span<const std::byte>> files) {
  std::vector<std::span<const std::byte>> out;
  for (auto bytes : files) {
    while (!bytes.empty()) {
      out.push_back(bytes.first(std::min(bytes.size(), kChunkBytes)));
      bytes = bytes.subspan(out.back().size());
    }
  }
  return out;
}

std::string storage_text(const KvLayout& layout) {
  std::string text =
      fmt::format("ferrox {} arithmetic {} page {} k {} v {} state {}", kVersion, kArithmeticRevision, layout.page_rows,
                  static_cast<int>(layout.k_type), static_cast<int>(layout.v_type), layout.state_floats);
  for (const KvLayerShape& layer : layout.layers) {
    text += fmt::format(" {}x{}/{}w{}", layer.n_kv_heads, layer.k_dim, layer.v_dim, layer.window);
  }
  return text;
}

}  // namespace

PageKey model_identity(std::span<const std::span<const std::byte>> files, const KvLayout& layout, ThreadPool& pool) {
  const auto chunks = chunks_of(files);
  std::vector<Checksum> sums(chunks.size());
  pool.run(static_cast<int64_t>(chunks.size()),
           [&](int64_t i, int) { sums[static_cast<size_t>(i)] = checksum_of(chunks[static_cast<size_t>(i)]); });
  const std::string storage = storage_text(layout);
  return root_key(std::as_bytes(std::span(sums)), std::as_bytes(std::span(storage)));
}

}  // namespace ferrox
