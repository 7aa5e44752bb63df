// How is JSON parsed within bounds?
#include "server/json_text.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace ferrox {
namespace {

struct Level {
  bool is_object = false;
  size_t n_members = 0;
};

/// Counts what a text would cost, from the punctuation outside strings. Malformed text may count wrongly: the parser
/// refuses it afterwards.
class ShapeCounter {
 public:
  Result<void> count(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"') {
        i = end_of_string(text, i);
      } else if (!punctuation(text[i])) {
        return make_error(ErrorCode::kInvalidArgument, "json at byte {}: nested deeper than {}", i, kMaxJsonDepth);
      }
    }
    if (n_values_ > kMaxJsonValues) {
      return make_error(ErrorCode::kInvalidArgument, "json: more than {} values", kMaxJsonValues);
    }
    if (n_comparisons_ > kMaxKeyComparisons) return make_error(ErrorCode::kInvalidArgument, "json: objects too large");
    return {};
  }

 private:
  static size_t end_of_string(std::string_view text, size_t i) {
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
    return i;
  }

  /// False: too deep.
  bool punctuation(char c) {
    if (c == '[' || c == '{') {
      if (depth_ == kMaxJsonDepth) return false;
      levels_[++depth_] = {c == '{', 0};
      ++n_values_;
    }
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
    if (c == ',') {
      ++n_values_;
      Level& level = levels_[depth_];
      if (level.is_object) n_comparisons_ += ++level.n_members;
    }
    return true;
  }

  std::array<Level, kMaxJsonDepth + 1> levels_;
  int depth_ = 0;
  size_t n_values_ = 1;
  size_t n_comparisons_ = 0;
};

/// Notices a key that an object has twice: one of its values would have to be dropped.
class KeyWatch {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) seen_.emplace_back();
    if (event == Json::parse_event_t::object_end) seen_.pop_back();
    if (event != Json::parse_event_t::key) return true;
    const auto [place, is_new] = seen_.back().insert(parsed.get<std::string>());
    if (!is_new && !repeated_) repeated_ = *place;
    return true;
  }
  const std::optional<std::string>& repeated() const { return repeated_; }

 private:
  std::vector<std::unordered_set<std::string>> seen_;  ///< keys of the objects that are open
  std::optional<std::string> repeated_;
};

/// The library's words without its name and number: "parse error at line 1, column 5: ...".
std::string_view reason_of(const Json::exception& error) {
  const std::string_view words = error.what();
  const size_t label_end = words.find("] ");
  return words.starts_with('[') && label_end != std::string_view::npos ? words.substr(label_end + 2) : words;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  TRY(ShapeCounter().count(text));
  try {
    KeyWatch keys;
    Json parsed = Json::parse(text, std::ref(keys));
    if (!keys.repeated()) return {Result<Json>::in_place_value, std::move(parsed)};
    return make_error(ErrorCode::kInvalidArgument, "json: expected each key of an object once, found '{}' twice",
                      keys.repeated()->substr(0, 64));
  } catch (const Json::exception& error) {  // text that is none, or a number that no double holds
    return make_error(ErrorCode::kInvalidArgument, "json: {}", reason_of(error));
  }
}

std::string dump_json(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

const char* kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "a number";
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return "nothing";
}

}  // namespace ferrox
