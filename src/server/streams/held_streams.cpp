#include "server/streams/held_streams.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "server/streams/event_id.h"

namespace ferrox {

bool HeldStreams::make_room() {
  const auto most = static_cast<size_t>(std::max<int64_t>(options_.most_streams, 0));
  if (by_id_.size() < most) return true;
  const auto told = std::ranges::find_if(by_id_, [](const auto& each) {
    return each.second->is_finished() && each.second->is_told() && !each.second->is_attached();
  });
  if (told == by_id_.end()) {
    ++stats_.n_refused;
    return false;
  }
  told->second->let_go();
  by_id_.erase(told);
  return true;
}

std::shared_ptr<HeldStream> HeldStreams::open(const ApiKey* owner, std::unique_ptr<AnswerWriter> writer) {
  CHECK(static_cast<int64_t>(by_id_.size()) < options_.most_streams, "there is room for one more");
  auto stream = std::make_shared<HeldStream>(executor_, new_stream_id(), owner, std::move(writer),
                                             options_.window_bytes, std::chrono::steady_clock::now());
  by_id_.emplace(stream->id(), stream);
  return stream;
}

std::shared_ptr<HeldStream> HeldStreams::find(std::string_view id, const ApiKey* caller) {
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end() || found->second->owner() != caller) return nullptr;
  return found->second;
}

void HeldStreams::remove(const HeldStream& stream) { by_id_.erase(stream.id()); }

void HeldStreams::let_go_all() {
  for (const auto& [id, stream] : by_id_) stream->let_go();
}

size_t HeldStreams::n_running() const {
  return static_cast<size_t>(
      std::ranges::count_if(by_id_, [](const auto& each) { return !each.second->is_finished(); }));
}

HeldStreams::Stats HeldStreams::stats() const {
  Stats stats = stats_;
  stats.n_streams = static_cast<int64_t>(by_id_.size());
  for (const auto& [id, stream] : by_id_) {
    stats.n_bytes += static_cast<int64_t>(stream->window().n_bytes());
    stats.n_detached += !stream->is_finished() && !stream->is_attached();
  }
  return stats;
}

}  // namespace ferrox
