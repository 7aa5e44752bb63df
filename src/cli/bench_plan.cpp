#include "cli/bench_plan.h"

#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/option_table.h"

namespace ferrox {
namespace {

constexpr size_t kMostNumbers = 1000;
constexpr int64_t kLargest = int64_t{1} << 31;

Error malformed(const std::string& text) {
  return make_error(ErrorCode::kInvalidArgument,
                    "expected numbers such as 512 or 1,2,4 or 16-64+16 or 16-128*2, found '{}'", text);
}

/// first[-last[(+|*)step]]
struct Range {
  int64_t first = 0;
  int64_t last = 0;
  char operation = '+';
  int64_t step = 1;
};

Result<Range> parse_range(const std::string& text) {
  Range range;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&](int64_t& value) {
    const auto [rest, error] = std::from_chars(at, end, value);
    at = rest;
    return error == std::errc() && value >= 0 && value <= kLargest;
  };
  if (!number(range.first)) return malformed(text);
  range.last = range.first;
  if (at == end) return range;
  if (*at++ != '-' || !number(range.last) || range.last < range.first) return malformed(text);
  if (at == end) return range;
  range.operation = *at++;
  if ((range.operation != '+' && range.operation != '*') || !number(range.step) || at != end) return malformed(text);
  const bool grows = range.operation == '+' ? range.step > 0 : range.step > 1 && range.first > 0;
  return grows ? Result<Range>(range) : Result<Range>(malformed(text));
}

Result<void> check_threads(const std::vector<int64_t>& threads) {
  for (const int64_t n : threads) {
    if (n <= kMostThreads) continue;
    return make_error(ErrorCode::kInvalidArgument, "threads: expected 0 to {}, found {}", kMostThreads, n);
  }
  return {};
}

Result<void> check_sequences(const std::vector<int64_t>& sequences) {
  for (const int64_t n : sequences) {
    if (n >= 1 && n <= kMostSequences) continue;
    return make_error(ErrorCode::kInvalidArgument, "sequences: expected 1 to {}, found {}", kMostSequences, n);
  }
  return {};
}

/// What is run at each depth: a prompt's length and a generation's.
using Pair = std::pair<int64_t, int64_t>;

Result<std::vector<Pair>> read_pairs(const BenchLists& lists) {
  TRY_ASSIGN(const auto prompts, parse_number_list(lists.n_prompt));
  TRY_ASSIGN(const auto generations, parse_number_list(lists.n_gen));
  std::vector<Pair> pairs;
  for (const int64_t n : prompts) pairs.emplace_back(n, 0);
  for (const int64_t n : generations) pairs.emplace_back(0, n);
  for (const auto& text : lists.prompt_gen) {
    TRY_ASSIGN(const auto pair, parse_number_list(text));
    if (pair.size() != 2) return malformed(text);
    pairs.emplace_back(pair[0], pair[1]);
  }
  std::erase_if(pairs, [](const Pair& pair) { return pair.first + pair.second == 0; });
  return pairs;
}

}  // namespace

Result<std::vector<int64_t>> parse_number_list(const std::string& text) {
  std::vector<int64_t> numbers;
  if (text.ends_with(',')) return malformed(text);
  for (const auto& part : CLI::detail::split(text, ',')) {
    TRY_ASSIGN(const Range range, parse_range(part));
    for (int64_t n = range.first; n <= range.last; n = range.operation == '+' ? n + range.step : n * range.step) {
      if (numbers.size() == kMostNumbers) return malformed(text);
      numbers.push_back(n);
    }
  }
  return numbers;
}

Result<std::vector<BenchTest>> plan_bench(const BenchLists& lists) {
  TRY_ASSIGN(const auto pairs, read_pairs(lists));
  TRY_ASSIGN(const auto depths, parse_number_list(lists.n_depth));
  TRY_ASSIGN(const auto threads, parse_number_list(lists.n_threads));
  TRY_ASSIGN(const auto sequences, parse_number_list(lists.n_parallel));
  TRY(check_threads(threads));
  TRY(check_sequences(sequences));
  std::vector<BenchTest> tests;
  for (const int64_t n_threads : threads) {
    for (const int64_t n_sequences : sequences) {
      for (const int64_t n_depth : depths) {
        for (const auto& [n_prompt, n_gen] : pairs) {
          tests.push_back(
              {n_prompt, n_gen, n_depth, static_cast<int32_t>(n_threads), static_cast<int32_t>(n_sequences)});
        }
      }
    }
  }
  if (tests.empty()) {
    return make_error(ErrorCode::kInvalidArgument, "expected a prompt or a generation to measure, found none");
  }
  return tests;
}

std::string bench_test_name(const BenchTest& test) {
  std::string name;
  if (test.n_prompt > 0) name += fmt::format("pp{}", test.n_prompt);
  if (test.n_gen > 0) name += fmt::format("{}tg{}", name.empty() ? "" : "+", test.n_gen);
  if (test.n_sequences > 1) name += fmt::format(" x{}", test.n_sequences);
  if (test.n_depth > 0) name += fmt::format(" @ d{}", test.n_depth);
  return name;
}

}  // namespace ferrox
