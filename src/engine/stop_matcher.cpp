#include "engine/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ferrox {

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  for (std::string& stop : stops) stops_.push_back(make_stop(std::move(stop)));
}

// Knuth, Morris, Pratt 1977: how far a match falls back when the next byte disproves it.
StopMatcher::Stop StopMatcher::make_stop(std::string text) {
  CHECK(!text.empty(), "a stop string has bytes");
  Stop stop{.text = std::move(text), .border = {0, 0}};
  size_t border = 0;
  for (size_t n = 1; n < stop.text.size(); ++n) {
    while (border > 0 && stop.text[n] != stop.text[border]) border = stop.border[border];
    if (stop.text[n] == stop.text[border]) ++border;
    stop.border.push_back(border);
  }
  return stop;
}

void StopMatcher::advance(Stop& stop, char byte) {
  while (stop.n_matched > 0 && stop.text[stop.n_matched] != byte) stop.n_matched = stop.border[stop.n_matched];
  if (stop.text[stop.n_matched] == byte) ++stop.n_matched;
}

void StopMatcher::match_byte(char byte) {
  held_.push_back(byte);
  const Stop* longest = nullptr;
  for (Stop& stop : stops_) {
    advance(stop, byte);
    const bool complete = stop.n_matched == stop.text.size();
    if (complete && (longest == nullptr || stop.text.size() > longest->text.size())) longest = &stop;
  }
  if (longest != nullptr) matched_ = longest->text;
}

std::string StopMatcher::push(std::string_view text) {
  if (matched_) return {};
  if (stops_.empty()) return std::string(text);
  for (const char byte : text) {
    match_byte(byte);
    if (!matched_) continue;
    std::string before = std::exchange(held_, {});
    before.resize(before.size() - matched_->size());
    return before;
  }
  size_t n_held = 0;
  for (const Stop& stop : stops_) n_held = std::max(n_held, stop.n_matched);
  std::string released = held_.substr(0, held_.size() - n_held);
  held_.erase(0, released.size());
  return released;
}

std::string StopMatcher::flush() {
  for (Stop& stop : stops_) stop.n_matched = 0;
  return std::exchange(held_, {});
}

}  // namespace ferrox
