#include "cli/nearest_name.h"

#include <algorithm>
#include <vector>

namespace ferrox {
namespace {

// Nobody mistypes more than this, and the table below is quadratic.
constexpr size_t kLongestName = 64;

std::string_view without_dashes(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return name.substr(0, kLongestName);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> cost((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> int& { return cost[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitution = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::optional<std::string> nearest_name(std::string_view typed, std::span<const std::string> known) {
  typed = without_dashes(typed);
  std::optional<std::string> nearest;
  int least = 0;
  for (const auto& name : known) {
    const auto bare = without_dashes(name);
    const int distance = edit_distance(typed, bare);
    const int tolerated = std::max<int>(1, static_cast<int>(bare.size()) / 3);
    const bool too_short = bare.size() < 2;  // one edit turns any letter into any other
    if (too_short || distance > tolerated || (nearest && distance >= least)) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

}  // namespace ferrox
