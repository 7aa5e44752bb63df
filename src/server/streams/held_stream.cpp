#include "server/streams/held_stream.h"

#include <fmt/format.h>

#include <utility>

#include "server/streams/event_id.h"

namespace ferrox {

HeldStream::HeldStream(const asio::any_io_executor& executor, std::string id, const ApiKey* owner,
                       std::unique_ptr<AnswerWriter> writer, size_t window_bytes, Time now)
    : id_(std::move(id)),
      owner_(owner),
      writer_(std::move(writer)),
      window_(window_bytes),
      detached_since_(now),
      changed_(executor),
      end_(executor) {}

void HeldStream::begin() {
  has_begun_ = true;
  wake();
}

/// An event ends with an empty line, and no line of it holds another end: all that varies is JSON in one line.
void HeldStream::append(std::string_view events) {
  constexpr std::string_view kEnd = "\n\n";
  while (!events.empty()) {
    const size_t end = events.find(kEnd);
    const std::string_view event = events.substr(0, end == std::string_view::npos ? end : end + kEnd.size());
    events.remove_prefix(event.size());
    if (event.starts_with(':')) continue;
    window_.append(fmt::format("id: {}\n{}", to_text({id_, window_.last() + 1}), event));
  }
  begin();
}

void HeldStream::refuse(ApiError error) {
  refusal_ = std::move(error);
  begin();
}

void HeldStream::finish(Time now) {
  ended_at_ = now;
  begin();
}

bool HeldStream::is_abandoned(Time now, std::chrono::milliseconds patience) const {
  return !is_attached() && now - detached_since_ >= patience;
}

awaitable<void> HeldStream::linger(std::chrono::milliseconds longest) {
  if (is_let_go_) co_return;
  end_.expires_after(longest);
  co_await end_.async_wait(kAwait);
}

void HeldStream::let_go() {
  is_let_go_ = true;
  end_.cancel();
}

uint64_t HeldStream::attach() {
  reader_ = ++n_readers_;
  wake();  // who was attached before ends
  return reader_;
}

void HeldStream::detach(uint64_t number, Time now) {
  if (reader_ != number) return;
  reader_ = 0;
  detached_since_ = now;
}

awaitable<bool> HeldStream::is_quiet_for(std::chrono::milliseconds longest) {
  changed_.expires_after(longest);
  const auto [error] = co_await changed_.async_wait(kAwait);
  co_return !error;
}

}  // namespace ferrox
