// How are measurements shown? llama-bench's table and its JSON field names, and the median beside the mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/profile.h"
#include "base/result.h"
#include "cli/bench_plan.h"
#include "cli/machine_limits.h"
#include "cli/model_work.h"

namespace ferrox {

/// What holds for every row.
struct BenchContext {
  std::string cpu_info;
  std::string isa;
  std::string model_filename;
  std::string model_type;  ///< "llama Q8_0": family and the type of most bytes
  uint64_t model_size = 0;
  uint64_t model_n_params = 0;
  int32_t n_batch = 0;
  std::string type_k;
  std::string type_v;
  ModelWork work;
  std::string peer;  ///< the program that ran the same tests; empty: none did
};

/// One test, measured.
struct BenchRow {
  BenchTest test;
  std::string test_time;                    ///< UTC, ISO 8601
  std::vector<int64_t> samples_ns;          ///< one per repetition
  MachineLimits limits;                     ///< measured between the repetitions
  std::vector<double> peer_ts;              ///< the peer's tokens a second, taken in turn with ours
  std::optional<ProfileNode> profile = {};  ///< of all repetitions
};

/// What bounds a test, and how near it came.
struct LimitShare {
  const char* limit;  ///< "read", "int8" or "f32"
  double share;       ///< of 1
};

/// Absent for a prompt with generation, which has two limits. Prompts are judged by the operations of their matrix
/// products, generation by the bytes of weights, K and V that a step reads or, where sequences are so many that it is
/// the nearer limit, by the operations.
std::optional<LimitShare> limit_share(const ModelWork& work, const BenchRow& row);

/// Tokens a second of each sample, of all sequences together.
std::vector<double> samples_ts(const BenchRow& row);

double mean(const std::vector<double>& samples);
double sample_deviation(const std::vector<double>& samples);  ///< 0 for fewer than two
double median(std::vector<double> samples);

enum class BenchFormat { kMarkdown, kJson, kJsonLines, kCsv };

/// "md", "json", "jsonl", "csv".
Result<BenchFormat> bench_format(const std::string& name);

std::string format_bench(const BenchContext& context, const std::vector<BenchRow>& rows, BenchFormat format);

}  // namespace ferrox
