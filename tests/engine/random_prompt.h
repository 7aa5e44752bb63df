// Which prompts tell one sequence from another? Random tokens of the fake vocabulary that end no answer.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace ferrox::testing {

inline std::vector<int32_t> random_prompt(int32_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n; ++i) ids.push_back(3 + static_cast<int32_t>(random() % 50));
  return ids;
}

}  // namespace ferrox::testing
