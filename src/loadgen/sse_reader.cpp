#include "loadgen/sse_reader.h"

#include <utility>

namespace ferrox {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

void SseReader::end_line(std::vector<std::string>& events) {
  std::string_view line = line_;
  if (is_first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  is_first_line_ = false;
  if (line.empty()) {
    if (has_data_) events.push_back(std::exchange(data_, {}));
    has_data_ = false;
  } else if (const size_t colon = line.find(':'); line.substr(0, colon) == "data") {
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  line_.clear();
}

std::vector<std::string> SseReader::take(std::string_view bytes) {
  std::vector<std::string> events;
  for (const char byte : bytes) {
    const bool ends_crlf = byte == '\n' && after_cr_;
    after_cr_ = byte == '\r';
    if (ends_crlf) continue;
    if (byte == '\n' || byte == '\r') {
      end_line(events);
    } else {
      line_ += byte;
    }
  }
  return events;
}

std::string SseReader::finish() {
  std::vector<std::string> events;
  if (!line_.empty()) end_line(events);
  end_line(events);
  return events.empty() ? std::string() : std::move(events.front());
}

}  // namespace ferrox
