#include "arch/weight_loader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/dispatch.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

/// Larger than any real width, small enough that products of two stay far from 2^63.
constexpr uint64_t kLargestSize = uint64_t{1} << 24;

/// Numbers that a float holds together with their reciprocals.
constexpr double kLeastPositive = std::numeric_limits<float>::min();
constexpr double kMostPositive = 1.0 / kLeastPositive;

std::string shape_text(const std::vector<uint64_t>& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

/// Keys that change the arithmetic wherever they are applied, with the values that stand for "not used": neutral ones,
/// and what writers leave behind for families without the mechanism.
struct ScaleKey {
  const char* key;
  std::vector<double> unused;
};
const std::vector<ScaleKey>& scale_keys() {
  static const std::vector<ScaleKey> keys = {{"logit_scale", {0, 1}},
                                             {"embedding_scale", {0, 1}},
                                             {"residual_scale", {0, 1}},
                                             {"attention.scale", {0}},
                                             {"attention.output_scale", {0, 1}},
                                             {"attention.value_scale", {0, 1}},
                                             {"attention.temperature_scale", {0}},
                                             {"attention.clamp_kqv", {0}},
                                             {"attention.max_alibi_bias", {0}},
                                             {"attention.sliding_window", {0}},
                                             {"attention.causal", {1}},
                                             {"use_parallel_residual", {0}},
                                             {"swiglu_clamp_exp", {0}},
                                             {"swiglu_clamp_shexp", {0}},
                                             {"attn_logit_softcapping", {0, 50}},
                                             {"final_logit_softcapping", {0, 30}},
                                             {"router_logit_softcapping", {0, 30}},
                                             {"expert_weights_scale", {0, 1}},
                                             {"expert_group_scale", {0, 0.05}},
                                             {"expert_shared_count", {0}},
                                             {"leading_dense_block_count", {0}},
                                             {"rope.scale_linear", {0, 1}},
                                             {"rope.scaling.factor", {0, 1}},
                                             {"rope.scaling.attn_factor", {0, 1}},
                                             {"rope.scaling.yarn_attn_factor", {0, 1}},
                                             {"rescale_every_n_layers", {0}}};
  return keys;
}

bool is_unused(const ScaleKey& key, double value) {
  for (const double unused : key.unused) {
    if (std::abs(value - unused) <= 1e-6 * std::abs(unused)) return true;
  }
  return false;
}

/// Numbers and truth values by themselves, arrays when each of theirs is unused. A text is never neutral.
bool is_unused_value(const ScaleKey& key, const MetaValue& value) {
  const auto judge = [&key](const auto& held) -> bool {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_arithmetic_v<Held>) {
      return is_unused(key, static_cast<double>(held));
    } else if constexpr (std::is_same_v<Held, MetaArray>) {
      return std::visit(
          [&key](const auto& array) {
            using Element = typename std::decay_t<decltype(array)>::value_type;
            if constexpr (!std::is_arithmetic_v<Element>)
              return array.empty();
            else
              return std::all_of(array.begin(), array.end(),
                                 [&key](Element element) { return is_unused(key, static_cast<double>(element)); });
          },
          held);
    } else {
      return false;
    }
  };
  return std::visit(judge, value);
}

/// The value of a scale key in words: the number, or what kind of thing stands there instead.
std::string shown(const MetaValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* u = std::get_if<uint64_t>(&value)) return fmt::format("{}", *u);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  return value_kind(value);
}

}  // namespace

bool is_positive_float(double value) { return value >= kLeastPositive && value <= kMostPositive; }

WeightLoader::WeightLoader(const GgufFile& file, std::string architecture, const KernelTable& kernels)
    : file_(file), architecture_(std::move(architecture)), kernels_(kernels) {}

bool WeightLoader::has_key(std::string_view key) const { return file_.metadata().contains(full_key(key)); }

Result<int64_t> WeightLoader::require_size(std::string_view key) {
  TRY_ASSIGN(const uint64_t value, file_.metadata().get_uint(full_key(key)));
  if (value < 1 || value > kLargestSize) {
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected 1 to {}, found {}", file_.name(), full_key(key),
                      kLargestSize, value);
  }
  claimed_keys_.emplace(key);
  return static_cast<int64_t>(value);
}

Result<int64_t> WeightLoader::size_or(std::string_view key, int64_t fallback) {
  if (!has_key(key)) return fallback;
  TRY_ASSIGN(const uint64_t value, file_.metadata().get_uint(full_key(key)));
  if (value > kLargestSize) {
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected 0 to {}, found {}", file_.name(), full_key(key),
                      kLargestSize, value);
  }
  claimed_keys_.emplace(key);
  return static_cast<int64_t>(value);
}

Result<std::vector<int64_t>> WeightLoader::sizes_of_layers(std::string_view key, int64_t n_layers, int64_t fallback) {
  const MetaValue* value = file_.metadata().find(full_key(key));
  if (value == nullptr || !std::holds_alternative<MetaArray>(*value)) {
    TRY_ASSIGN(const int64_t size, size_or(key, fallback));
    return std::vector<int64_t>(static_cast<size_t>(n_layers), size);
  }
  TRY_ASSIGN(const std::vector<int64_t> sizes, file_.metadata().get_ints(full_key(key)));
  if (static_cast<int64_t>(sizes.size()) < n_layers) {
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected a size for each of {} layers, found {}", file_.name(),
                      full_key(key), n_layers, sizes.size());
  }
  for (const int64_t size : sizes) {
    if (size < 0 || size > static_cast<int64_t>(kLargestSize)) {
      return make_error(ErrorCode::kCorrupt, "{}: {}: expected 0 to {}, found {}", file_.name(), full_key(key),
                        kLargestSize, size);
    }
  }
  claimed_keys_.emplace(key);
  return std::vector<int64_t>(sizes.begin(), sizes.begin() + n_layers);
}

Result<std::vector<bool>> WeightLoader::flags_of_layers(std::string_view key, int64_t n_layers) {
  const MetaValue* value = file_.metadata().find(full_key(key));
  if (value == nullptr || !std::holds_alternative<MetaArray>(*value)) return std::vector<bool>{};
  std::vector<bool> flags;
  if (const auto numbers = file_.metadata().get_ints(full_key(key))) {  // some writers say 0 and 1
    for (const int64_t number : *numbers) flags.push_back(number != 0);
  } else {
    TRY_ASSIGN(flags, file_.metadata().get_bools(full_key(key)));
  }
  if (static_cast<int64_t>(flags.size()) < n_layers) {
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected a flag for each of {} layers, found {}", file_.name(),
                      full_key(key), n_layers, flags.size());
  }
  claimed_keys_.emplace(key);
  return flags;
}

Result<bool> WeightLoader::flag_or(std::string_view key, bool fallback) {
  claimed_keys_.emplace(key);
  return file_.metadata().get_bool_or(full_key(key), fallback);
}

Result<double> WeightLoader::float_or(std::string_view key, double fallback) {
  TRY_ASSIGN(const double value, file_.metadata().get_float_or(full_key(key), fallback));
  if (!(std::abs(value) <= kMostPositive)) {
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected a number up to {:.2g}, found {}", file_.name(),
                      full_key(key), kMostPositive, value);
  }
  claimed_keys_.emplace(key);
  return value;
}

Result<double> WeightLoader::non_negative_float_or(std::string_view key, double fallback) {
  TRY_ASSIGN(const double value, float_or(key, fallback));
  if (value >= 0) return value;
  return make_error(ErrorCode::kCorrupt, "{}: {}: expected 0 or more, found {}", file_.name(), full_key(key), value);
}

Result<double> WeightLoader::positive_float_or(std::string_view key, double fallback) {
  return has_key(key) ? require_positive_float(key) : fallback;
}

Result<double> WeightLoader::require_positive_float(std::string_view key) {
  TRY_ASSIGN(const double value, file_.metadata().get_float(full_key(key)));
  if (!is_positive_float(value)) {
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected a positive number from {:.2g} to {:.2g}, found {}",
                      file_.name(), full_key(key), kLeastPositive, kMostPositive, value);
  }
  claimed_keys_.emplace(key);
  return value;
}

Result<std::string> WeightLoader::string_or(std::string_view key, std::string fallback) {
  claimed_keys_.emplace(key);
  return file_.metadata().get_string_or(full_key(key), std::move(fallback));
}

Result<const GgufTensor*> WeightLoader::claim(const std::string& name, const std::vector<uint64_t>& dims) {
  const GgufTensor* tensor = file_.find_tensor(name);
  if (tensor == nullptr) {
    return make_error(ErrorCode::kCorrupt, "{}: expected tensor {} of shape {}, found none", file_.name(), name,
                      shape_text(dims));
  }
  if (tensor->dims != dims) {
    return make_error(ErrorCode::kCorrupt, "{}: tensor {}: expected shape {}, found {}", file_.name(), name,
                      shape_text(dims), shape_text(tensor->dims));
  }
  claimed_tensors_.insert(name);
  return tensor;
}

Result<Linear> WeightLoader::matrix(const std::string& name, const std::vector<uint64_t>& dims) {
  TRY_ASSIGN(const GgufTensor* tensor, claim(name, dims));
  Linear linear;
  linear.kernels = find_format_kernels(kernels_, tensor->dtype);
  const FormatInfo* format = find_format(tensor->dtype);
  if (linear.kernels == nullptr || format == nullptr) {
    return make_error(ErrorCode::kUnsupported, "{}: tensor {}: type {} can't be multiplied with", file_.name(), name,
                      static_cast<int>(tensor->dtype));
  }
  linear.weights = tensor->data;
  linear.n_in = static_cast<int64_t>(dims[0]);
  linear.n_out = dims.size() > 1 ? static_cast<int64_t>(dims[1]) : 1;
  linear.row_bytes = linear.n_in / format->block_elements * format->block_bytes;
  return linear;
}

/// `<name>.scale`, or nothing. `<name>.input_scale` is for engines that quantise activations with a scale fixed
/// beforehand; here each row finds its own, so it is known and not needed.
Result<std::vector<float>> WeightLoader::scales(const std::string& name, int64_t n) {
  if (has_tensor(name + ".input_scale")) claimed_tensors_.insert(name + ".input_scale");
  if (!has_tensor(name + ".scale")) return std::vector<float>{};
  return vector(name + ".scale", n);
}

Result<Linear> WeightLoader::linear(const std::string& name, int64_t n_in, int64_t n_out) {
  const GgufTensor* tensor = file_.find_tensor(name + ".weight");
  std::vector<uint64_t> dims = {static_cast<uint64_t>(n_in), static_cast<uint64_t>(n_out)};
  if (n_out == 1 && tensor != nullptr && tensor->dims.size() == 1) dims.pop_back();  // one row may be kept as a vector
  TRY_ASSIGN(Linear linear, matrix(name + ".weight", dims));
  if (has_tensor(name + ".bias")) {
    TRY_ASSIGN(linear.bias, vector(name + ".bias", n_out));
  }
  TRY_ASSIGN(const std::vector<float> scale, scales(name, 1));
  if (!scale.empty()) linear.scale = scale[0];
  return linear;
}

Result<Linear> WeightLoader::bare_linear(const std::string& name, int64_t n_in, int64_t n_out) {
  return matrix(name + ".weight", {static_cast<uint64_t>(n_in), static_cast<uint64_t>(n_out)});
}

Result<ExpertLinear> WeightLoader::experts(const std::string& name, int64_t n_in, int64_t n_out, int64_t n_experts) {
  ExpertLinear experts;
  TRY_ASSIGN(experts.first, matrix(name + ".weight", {static_cast<uint64_t>(n_in), static_cast<uint64_t>(n_out),
                                                      static_cast<uint64_t>(n_experts)}));
  experts.n_experts = n_experts;
  if (has_tensor(name + ".bias")) {
    TRY_ASSIGN(experts.biases,
               floats(name + ".bias", {static_cast<uint64_t>(n_out), static_cast<uint64_t>(n_experts)}));
  }
  TRY_ASSIGN(experts.scales, scales(name, n_experts));
  return experts;
}

Result<Embedding> WeightLoader::embedding(const std::string& name, int64_t n_embd, int64_t n_vocab) {
  TRY_ASSIGN(const Linear rows, bare_linear(name, n_embd, n_vocab));
  Embedding embedding;
  embedding.format = find_format(rows.kernels->dtype);
  embedding.rows = rows.weights;
  embedding.n_embd = n_embd;
  embedding.n_vocab = n_vocab;
  embedding.row_bytes = rows.row_bytes;
  return embedding;
}

Result<std::vector<float>> WeightLoader::vector(const std::string& name, int64_t n) {
  return floats(name, {static_cast<uint64_t>(n)});
}

Result<std::vector<float>> WeightLoader::divisors(const std::string& name, int64_t n) {
  TRY_ASSIGN(std::vector<float> values, vector(name, n));
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_positive_float(std::abs(values[i]))) continue;
    return make_error(ErrorCode::kCorrupt, "{}: tensor {}: expected finite numbers other than 0, found {} at {}",
                      file_.name(), name, values[i], i);
  }
  return values;
}

Result<std::vector<float>> WeightLoader::floats(const std::string& name, const std::vector<uint64_t>& dims) {
  TRY_ASSIGN(const GgufTensor* tensor, claim(name, dims));
  const FormatInfo* format = find_format(tensor->dtype);
  if (format == nullptr) {
    return make_error(ErrorCode::kUnsupported, "{}: tensor {}: type {} can't be read as floats", file_.name(), name,
                      static_cast<int>(tensor->dtype));
  }
  std::vector<float> out(tensor->n_elements);
  format->decode(tensor->data, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

Result<Norm> WeightLoader::finish_norm(const std::string& name, int64_t n, const NormStyle& style,
                                       std::vector<float> weight) {
  Norm norm;
  norm.weight = std::move(weight);
  norm.is_layer_norm = style.kind == NormKind::kLayer;
  norm.epsilon = style.epsilon;
  if (norm.is_layer_norm && has_tensor(name + ".bias")) {
    TRY_ASSIGN(norm.bias, vector(name + ".bias", n));
  }
  return norm;
}

Result<Norm> WeightLoader::norm(const std::string& name, int64_t n, const NormStyle& style) {
  TRY_ASSIGN(std::vector<float> weight, vector(name + ".weight", n));
  return finish_norm(name, n, style, std::move(weight));
}

Result<Norm> WeightLoader::head_norm(const std::string& name, int64_t n_heads, int64_t dim, const NormStyle& style) {
  const GgufTensor* tensor = file_.find_tensor(name + ".weight");
  if (tensor == nullptr) return Norm{};
  const auto heads = static_cast<uint64_t>(n_heads);
  const auto width = static_cast<uint64_t>(dim);
  std::vector<uint64_t> dims = {width};
  if (tensor->dims.size() == 2) dims = {width, heads};
  if (tensor->dims.size() == 1 && tensor->dims[0] == heads * width) dims = {heads * width};
  TRY_ASSIGN(std::vector<float> weight, floats(name + ".weight", dims));
  const auto n = static_cast<int64_t>(weight.size());
  return finish_norm(name, n, style, std::move(weight));
}

Result<void> WeightLoader::check_all_claimed() const {
  for (const GgufTensor& tensor : file_.tensors()) {
    if (!claimed_tensors_.contains(tensor.name)) {
      return make_error(ErrorCode::kUnsupported,
                        "{}: tensor {}: the {} family doesn't use it, so the model would be wrong", file_.name(),
                        tensor.name, architecture_);
    }
  }
  for (const ScaleKey& key : scale_keys()) {
    if (claimed_keys_.contains(key.key)) continue;
    const MetaValue* value = file_.metadata().find(full_key(key.key));
    if (value != nullptr && !is_unused_value(key, *value)) {
      return make_error(ErrorCode::kUnsupported, "{}: {} = {}: the {} family doesn't apply it, expected {}",
                        file_.name(), full_key(key.key), shown(*value), architecture_, fmt::join(key.unused, " or "));
    }
  }
  return {};
}

}  // namespace ferrox
