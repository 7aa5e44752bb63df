#include "server/streams/held_streams.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "server/streams/event_id.h"

namespace ferrox {

std::unordered_map<const ApiKey*, int64_t> HeldStreams::count_by_owner() const {
  std::unordered_map<const ApiKey*, int64_t> n_held;
  for (const auto& [id, stream] : by_id_) ++n_held[stream->owner()];
  return n_held;
}

/// Places that are free, without those that are kept for others who hold less and asked in vain.
int64_t HeldStreams::n_places_for(const ApiKey* owner, Time now) const {
  auto n_held = count_by_owner();
  const auto n_kept = std::ranges::count_if(refused_, [&](const auto& other) {
    return other.first != owner && now < other.second && n_held[other.first] < n_held[owner];
  });
  return options_.most_streams - static_cast<int64_t>(by_id_.size()) - n_kept;
}

std::shared_ptr<HeldStream> HeldStreams::who_gives_way_to(const ApiKey* owner) const {
  auto n_held = count_by_owner();
  const auto may_go = [&](const HeldStream& stream) {
    if (!stream.is_finished() || stream.is_attached()) return false;
    return stream.is_told() || stream.owner() == owner || n_held[stream.owner()] > n_held[owner];
  };
  const auto order = [&](const HeldStream& stream) {
    return std::tuple(!stream.is_told(), stream.is_told() ? 0 : -n_held[stream.owner()], *stream.ended_at());
  };
  std::shared_ptr<HeldStream> first;
  for (const auto& [id, stream] : by_id_) {
    if (may_go(*stream) && (first == nullptr || order(*stream) < order(*first))) first = stream;
  }
  return first;
}

/// One that has ended goes when its time is over; of n that run for answer_s each one ends in about an n-th of that.
int64_t HeldStreams::seconds_until_one_goes(double answer_s, Time now) const {
  double least_s = answer_s / static_cast<double>(std::max<size_t>(n_running(), 1));
  if (n_running() == 0) least_s = std::chrono::duration<double>(options_.patience).count();
  for (const auto& [id, stream] : by_id_) {
    if (!stream->is_finished()) continue;
    const std::chrono::duration<double> left = *stream->ended_at() + options_.patience - now;
    least_s = std::min(least_s, left.count());
  }
  return std::max<int64_t>(static_cast<int64_t>(std::ceil(least_s)), 1);
}

std::optional<int64_t> HeldStreams::wait_for_room(const ApiKey* owner, double answer_s, Time now) {
  if (n_places_for(owner, now) > 0 || who_gives_way_to(owner) != nullptr) return std::nullopt;
  ++stats_.n_refused;
  const int64_t wait_s = seconds_until_one_goes(answer_s, now);
  refused_[owner] = now + 2 * std::chrono::seconds(wait_s);  // who comes back when told so finds it kept
  return wait_s;
}

std::shared_ptr<HeldStream> HeldStreams::open(const ApiKey* owner, std::unique_ptr<AnswerWriter> writer, Time now) {
  if (n_places_for(owner, now) <= 0) {
    const std::shared_ptr<HeldStream> old = who_gives_way_to(owner);
    CHECK(old != nullptr, "there is room for one more");
    old->let_go();
    remove(*old);
  }
  refused_.erase(owner);
  auto stream =
      std::make_shared<HeldStream>(executor_, new_stream_id(), owner, std::move(writer), options_.window_bytes, now);
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
