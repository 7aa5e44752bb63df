// How do pieces of strings carry their origins along?
#include "text/jinja/text.h"

#include <algorithm>
#include <utility>

namespace ferrox::jinja {

Text::Text(std::string bytes, Origin origin) : bytes_(std::move(bytes)) {
  if (!bytes_.empty()) runs_.push_back({bytes_.size(), origin});
}

void Text::append(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return;
  bytes_.append(bytes);
  if (!runs_.empty() && runs_.back().origin == origin) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), origin});
  }
}

void Text::append(const Text& other, size_t begin, size_t end) {
  other.for_each_run(begin, end, [this](std::string_view bytes, Origin origin) { append(bytes, origin); });
}

Text Text::slice(size_t begin, size_t end) const {
  Text result;
  result.append(*this, begin, end);
  result.set_markup(markup_);
  return result;
}

size_t Text::run_at(size_t byte) const {
  const auto found =
      std::upper_bound(runs_.begin(), runs_.end(), byte, [](size_t at, const Run& run) { return at < run.end; });
  return static_cast<size_t>(found - runs_.begin());
}

}  // namespace ferrox::jinja
