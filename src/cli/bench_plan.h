// Which measurements does a bench command line ask for? Lists and ranges become a row of tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace ferrox {

/// A prompt of n_prompt tokens and then n_gen generated ones (either may be 0) after n_depth tokens of context.
struct BenchTest {
  int64_t n_prompt;
  int64_t n_gen;
  int64_t n_depth;
  int32_t n_threads;
  int32_t n_sequences = 1;  ///< that do the same side by side
};

/// "16", "16,32", "16-64+16" (steps), "16-128*2" (factors). Errors: anything else, a range that ends before it
/// begins, more than 1000 numbers.
Result<std::vector<int64_t>> parse_number_list(const std::string& text);

/// What `-p -n -pg -d -t -npl` say, as lists.
struct BenchLists {
  std::string n_prompt = "512";
  std::string n_gen = "128";
  std::vector<std::string> prompt_gen;  ///< "pp,tg" pairs
  std::string n_depth = "0";
  std::string n_threads = "0";
  std::string n_parallel = "1";
};

/// For each thread count, number of sequences and depth: the prompts, the generations, the pairs. Zeroes ask for
/// nothing. Errors: nothing to measure, more threads than a machine has, no sequences or more than kMostSequences.
Result<std::vector<BenchTest>> plan_bench(const BenchLists& lists);

/// Far beyond what a machine serves at once.
inline constexpr int64_t kMostSequences = 4096;

/// "pp512", "tg128", "pp512+tg128", "tg128 @ d4096", "tg128 x4" for four sequences.
std::string bench_test_name(const BenchTest& test);

}  // namespace ferrox
