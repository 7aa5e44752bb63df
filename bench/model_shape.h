// What are the sizes of models that people run? Speed doesn't depend on the values of weights, so shapes are enough.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ferrox::bench {

struct ModelShapeSpec {
  const char* name;
  const char* architecture;
  int64_t n_layers;
  int64_t n_embd;
  int64_t n_ff;
  int64_t n_heads;
  int64_t n_kv_heads;
  int64_t head_dim;
  int64_t n_vocab;
  int64_t context_length;
  float rope_base;
  int64_t n_experts;  ///< 0: dense
  int64_t n_experts_used;
};

inline constexpr ModelShapeSpec kModelShapes[] = {
    // SmolLM2-135M with the vocabulary of Llama 3
    {"135m", "llama", 30, 576, 1536, 9, 3, 64, 128256, 8192, 100000.0f, 0, 0},
    // Qwen2.5-0.5B
    {"0.5b", "qwen2", 24, 896, 4864, 14, 2, 64, 151936, 32768, 1000000.0f, 0, 0},
    // Qwen3-0.6B
    {"0.6b", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, 1000000.0f, 0, 0},
    // Llama-3.2-1B
    {"1b", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, 500000.0f, 0, 0},
    // Gemma-3-1B: five layers of six see 512 positions
    {"gemma-1b", "gemma3", 26, 1152, 6912, 4, 1, 256, 262144, 32768, 1000000.0f, 0, 0},
    // OLMoE-1B-7B's sizes in a llama file with experts
    {"moe", "llama", 16, 2048, 1024, 16, 16, 128, 50304, 4096, 10000.0f, 64, 8},
};

}  // namespace ferrox::bench
