#include "cli/model_work.h"

#include <cmath>

#include "cli/model_summary.h"

namespace ferrox {
namespace {

bool is_output(const GgufFile& file, const GgufTensor& tensor) {
  if (tensor.name == "output.weight") return true;
  return tensor.name == "token_embd.weight" && file.find_tensor("output.weight") == nullptr;
}

bool is_float(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16; }

bool is_expert(const GgufTensor& tensor) { return tensor.name.find("_exps.") != std::string::npos; }

/// The part of the experts that one token meets.
double expert_share(const GgufFile& file, const std::string& architecture) {
  const auto n_used = file.metadata().get_uint(architecture + ".expert_used_count");
  const auto n_experts = file.metadata().get_uint(architecture + ".expert_count");
  if (!n_used || !n_experts || *n_experts == 0) return 1.0;
  return static_cast<double>(*n_used) / static_cast<double>(*n_experts);
}

}  // namespace

ModelWork count_work(const GgufFile& file) {
  const ModelSummary summary = summarize(file);
  ModelWork work;
  work.expert_share = expert_share(file, summary.architecture);
  double float_bytes = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    if (tensor.dims.size() < 2) continue;
    const auto n_weights = static_cast<double>(tensor.n_elements);
    const auto n_bytes = static_cast<double>(tensor.size_bytes);
    if (is_output(file, tensor)) {
      work.logit_weights += n_weights;
      work.logit_bytes += n_bytes;
    } else if (tensor.name.starts_with("blk.")) {
      const double part = is_expert(tensor) ? work.expert_share : 1.0;
      if (is_expert(tensor)) work.expert_bytes += n_bytes;
      work.layer_weights += part * n_weights;
      work.layer_bytes += part * n_bytes;
      if (is_float(tensor.dtype)) float_bytes += part * n_bytes;
    }
  }
  work.kv_bytes_per_token = static_cast<double>(summary.kv_bytes_per_token.value_or(0));
  work.is_float = float_bytes > work.layer_bytes / 2;
  return work;
}

double step_weight_bytes(const ModelWork& work, double n_rows) {
  const double met_share = 1.0 - std::pow(1.0 - work.expert_share, n_rows);
  return work.layer_bytes + work.logit_bytes + (met_share - work.expert_share) * work.expert_bytes;
}

}  // namespace ferrox
