#include "server/schema/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/percent.h"

namespace ferrox {
namespace {

/// No path knows more than a few, and each is compared with those before it.
constexpr size_t kMostParameters = 16;

}  // namespace

ApiResult<std::vector<QueryPair>> split_query(std::string_view query) {
  std::vector<QueryPair> pairs;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const size_t equals = std::min(part.find('='), part.size());
    QueryPair pair{percent_decode(part.substr(0, equals)), ""};
    if (equals < part.size()) pair.value = percent_decode(part.substr(equals + 1));
    const auto is_same = [&pair](const QueryPair& other) { return other.name == pair.name; };
    if (std::ranges::any_of(pairs, is_same)) {
      const std::string shown = pair.name.substr(0, kShownLetters);
      return invalid_request(shown, fmt::format("{}: expected once in a query, found twice", shown));
    }
    if (pairs.size() == kMostParameters) {
      return invalid_request("", fmt::format("query: expected at most {} parameters, found more", kMostParameters));
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Json query_number(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return text;
  return number;
}

ApiError unknown_parameter(const std::string& name, const std::vector<std::string>& known) {
  const std::string shown = name.substr(0, kShownLetters);
  return invalid_request(
      shown, fmt::format("{}: expected {} in the query, found another name", shown, fmt::join(known, ", ")));
}

}  // namespace ferrox
