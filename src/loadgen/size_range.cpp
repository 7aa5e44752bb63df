#include "loadgen/size_range.h"

#include <charconv>
#include <optional>

namespace ferrox {
namespace {

std::optional<size_t> parse_size_number(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<SizeRange> parse_size_range(std::string_view where, std::string_view text) {
  const size_t colon = text.find(':');
  const auto lowest = parse_size_number(text.substr(0, colon));
  const auto highest = colon == std::string_view::npos ? lowest : parse_size_number(text.substr(colon + 1));
  if (!lowest || !highest || *lowest < 1 || *highest < *lowest || *highest > kMostRangeSize) {
    return make_error(ErrorCode::kInvalidArgument,
                      "{}: expected a number such as 512 or a range such as 128:1024, found '{}'", where, text);
  }
  return SizeRange{*lowest, *highest};
}

}  // namespace ferrox
