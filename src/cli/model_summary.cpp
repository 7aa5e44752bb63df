#include "cli/model_summary.h"

#include <algorithm>
#include <map>

#include "base/checked_math.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

constexpr uint64_t kF16Bytes = 2;
// No model has more; a number from a file sizes nothing without a bound.
constexpr uint64_t kMostLayers = 1 << 16;

/// Reads `<architecture>.<name>` integers.
class ShapeKeys {
 public:
  ShapeKeys(const Metadata& metadata, const std::string& architecture)
      : metadata_(metadata), prefix_(architecture + ".") {}

  std::optional<uint64_t> number(const std::string& name) const {
    const auto value = metadata_.get_uint(prefix_ + name);
    return value ? std::optional(*value) : std::nullopt;
  }

  /// One value a layer, from an array or from a number that holds for all.
  std::optional<std::vector<uint64_t>> per_layer(const std::string& name, uint64_t n_layers) const {
    if (const auto one = number(name)) return std::vector<uint64_t>(n_layers, *one);
    const auto all = metadata_.get_uints(prefix_ + name);
    return all && all->size() == n_layers ? std::optional(*all) : std::nullopt;
  }

 private:
  const Metadata& metadata_;
  std::string prefix_;
};

// Elements of one head's K and V rows together.
std::optional<uint64_t> head_elements(const ShapeKeys& keys) {
  const auto n_embd = keys.number("embedding_length");
  const auto n_heads = keys.number("attention.head_count");
  const bool has_quotient = n_embd && n_heads && *n_heads > 0;
  const uint64_t quotient = has_quotient ? *n_embd / *n_heads : 0;
  const auto k_dim = keys.number("attention.key_length");
  const auto v_dim = keys.number("attention.value_length");
  if ((!k_dim || !v_dim) && quotient == 0) return std::nullopt;
  return saturating_add(k_dim.value_or(quotient), v_dim.value_or(quotient));
}

/// Which layers attend? Those with keys; all of them in a file without layers, such as a vocabulary.
std::vector<bool> attending_layers(const GgufFile& file, uint64_t n_layers) {
  const bool has_layers = std::any_of(file.tensors().begin(), file.tensors().end(),
                                      [](const GgufTensor& tensor) { return tensor.name.starts_with("blk."); });
  std::vector<bool> attends(n_layers, !has_layers);
  for (uint64_t i = 0; i < n_layers && has_layers; ++i) {
    for (const char* keys : {"attn_k", "attn_qkv", "attn_kv_a_mqa"}) {
      attends[i] = attends[i] || file.find_tensor(fmt::format("blk.{}.{}.weight", i, keys)) != nullptr;
    }
  }
  return attends;
}

std::optional<uint64_t> kv_bytes_per_token(const GgufFile& file, const ShapeKeys& keys) {
  const auto n_layers = keys.number("block_count");
  if (!n_layers || *n_layers > kMostLayers) return std::nullopt;
  const std::vector<bool> attends = attending_layers(file, *n_layers);
  if (const auto latent = keys.number("attention.kv_lora_rank")) {  // one latent row and the rotated part of K
    const uint64_t row = saturating_add(*latent, keys.number("rope.dimension_count").value_or(0));
    const auto n_attending = static_cast<uint64_t>(std::count(attends.begin(), attends.end(), true));
    return saturating_mul(saturating_mul(row, n_attending), kF16Bytes);
  }
  auto n_kv_heads = keys.per_layer("attention.head_count_kv", *n_layers);
  if (!n_kv_heads) n_kv_heads = keys.per_layer("attention.head_count", *n_layers);
  const auto elements = head_elements(keys);
  if (!n_kv_heads || !elements) return std::nullopt;
  uint64_t total = 0;
  for (uint64_t i = 0; i < *n_layers; ++i) {
    const uint64_t n = attends[i] ? (*n_kv_heads)[i] : 0;
    total = saturating_add(total, saturating_mul(saturating_mul(n, *elements), kF16Bytes));
  }
  return total;
}

std::vector<TypeShare> shares_by_type(const GgufFile& file) {
  std::map<std::string, TypeShare> by_name;
  for (const auto& tensor : file.tensors()) {
    const std::string name = dtype_name(tensor.dtype);
    TypeShare& share = by_name[name];
    share.type = name;
    ++share.n_tensors;
    share.n_elements = saturating_add(share.n_elements, tensor.n_elements);
    share.size_bytes = saturating_add(share.size_bytes, tensor.size_bytes);
  }
  std::vector<TypeShare> shares;
  for (const auto& [name, share] : by_name) shares.push_back(share);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const TypeShare& a, const TypeShare& b) { return a.size_bytes > b.size_bytes; });
  return shares;
}

}  // namespace

std::string dtype_name(DType dtype) {
  if (const FormatInfo* format = find_format(dtype)) return format->name;
  if (dtype == DType::kI32) return "I32";
  return fmt::format("type {}", static_cast<int>(dtype));
}

ModelSummary summarize(const GgufFile& file) {
  ModelSummary summary;
  const auto architecture = file.metadata().get_string("general.architecture");
  if (architecture) summary.architecture = *architecture;
  summary.types = shares_by_type(file);
  for (const auto& share : summary.types) summary.n_parameters = saturating_add(summary.n_parameters, share.n_elements);
  summary.kv_bytes_per_token = kv_bytes_per_token(file, ShapeKeys(file.metadata(), summary.architecture));
  return summary;
}

}  // namespace ferrox
