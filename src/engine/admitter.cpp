#include "engine/admitter.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/check.h"
#include "sched/admission.h"
#include "sched/parking.h"

namespace ferrox {

bool Admitter::admit(TimePoint now) {
  bool is_blocked = false;
  const auto cached = [&](Choices& choices) { return cached_length(choices, now); };
  waiting_.begin_round();
  while (!is_blocked) {
    const auto first = waiting_.next(cached, running_.has_slots(1) ? RequestQueue::kMostCompared : 1);
    if (!first) break;
    Choices& choices = waiting_.choices(*first);
    if (restores(choices)) break;  // goes on after the next step
    is_blocked = !try_admit(*first, choices, now) && !park_for(*first, choices, now);
    waiting_.begin_round();  // who was admitted may compute what others wait for
  }
  if (is_blocked && running_.empty()) wait_for_outside_holders();
  return is_blocked;
}

/// Nothing runs, so that only a conversation that is being saved or restored can hold pages: its file is soon done.
void Admitter::wait_for_outside_holders() const {
  const std::vector<int32_t> available = kv_.n_available();
  CHECK(!std::ranges::equal(available, kv_.terms().n_pages), "an idle engine has room for the head of its queue");
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Tokens of a prompt that are cached; nothing while it waits for more of them.
std::optional<int64_t> Admitter::cached_length(Choices& choices, TimePoint now) {
  AcceptedRequest& first = choices.front();
  if (!first.prefix.is_on) return 0;
  const bool has_time = now < first.deadline;
  if (has_time && waits_for_source(first.prefix)) return std::nullopt;
  const std::optional<PrefixReport> cached = kv_.find_prefix(first.prefix.space, first.loop.tokens());
  if (!cached) return 0;
  if (has_time && finds_source(first, cached->n_reusable)) return std::nullopt;
  return cached->n_reusable;
}

/// Whether the request that computes what this one needs is still about to.
bool Admitter::waits_for_source(PrefixUse& prefix) const {
  if (!prefix.source) return false;
  const RunningRequest* const source = running_.find(*prefix.source);
  if (source != nullptr && source->is_before(prefix.source_length)) return true;
  prefix.source.reset();
  return false;
}

/// Whether a request that runs is about to compute more of this prompt than is cached: then that is shared once it is
/// there, whatever kind of model it is.
bool Admitter::finds_source(AcceptedRequest& waiting, int64_t n_cached) {
  RunningRequest* best = nullptr;
  int64_t n_best = n_cached + kv_.terms().page_rows - 1;
  for (const auto& request : running_) {
    const int64_t n = request->length_to_share(waiting.loop.tokens(), waiting.prefix.space);
    if (n <= n_best || !request->is_before(n)) continue;
    best = request.get();
    n_best = n;
  }
  if (best == nullptr) return false;
  best->expect_branch(n_best);
  waiting.prefix.source = best->id();
  waiting.prefix.source_length = n_best;
  return true;
}

/// Whether more of the prompt is to come from the tiers; a slice of it did. Only for a request that has room now.
bool Admitter::restores(Choices& choices) {
  const AcceptedRequest& one = choices.front();
  PrefixUse& prefix = choices.front().prefix;
  if (archive_ == nullptr || !prefix.is_on || prefix.is_restored) return false;
  if (!running_.has_slots(choices.size()) || !fits_pages(pages_of(one, choices.size()), kv_.n_available()))
    return false;
  const auto restored = archive_->restore(prefix.space, one.loop.tokens(), threads_);
  if (restored == PrefixArchive::Restored::kLost) ++prefix.n_lost;
  constexpr int kMostLost = 8;  // slices that couldn't be read: then the rest is computed
  prefix.is_restored = restored == PrefixArchive::Restored::kAll || prefix.n_lost >= kMostLost;
  return !prefix.is_restored;
}

bool Admitter::try_admit(RequestId first, Choices& choices, TimePoint now) {
  if (!running_.has_slots(choices.size())) return false;
  const AcceptedRequest& one = choices.front();
  const auto n_tokens = static_cast<int64_t>(one.loop.tokens().size());
  KvDemand demand{
      .n_prompt = n_tokens, .max_tokens = one.n_unused(), .n_choices = static_cast<int64_t>(choices.size())};
  std::optional<PrefixReport> found;
  if (one.prefix.is_on) {
    demand.prompt = one.loop.tokens();
    demand.space = one.prefix.space;
    demand.boundaries = one.prefix.boundaries;
    found = kv_.find_prefix(demand.space, demand.prompt);
  }
  std::unique_ptr<RequestKv> held = kv_.take(demand);
  if (!held) return false;
  const bool ran_before = one.history.has_value();
  if (!ran_before) inbox_.count_admission(n_tokens, found ? std::optional(held->n_reused()) : std::nullopt);
  Choices taken = waiting_.take(first, held->n_reused());
  running_.start(std::make_unique<RunningRequest>(std::move(taken), std::move(held), found, call_opener_, now));
  return true;
}

/// Admits it in the place of others, which go on later; false when nobody owes it a place.
bool Admitter::park_for(RequestId first, Choices& choices, TimePoint now) {
  for (const RequestId id : parked_for(choices)) {
    park(id);
    if (try_admit(first, choices, now)) return true;
  }
  return false;
}

/// Of those that owe it a place as few as make room, or none when all of them don't.
std::vector<RequestId> Admitter::parked_for(const Choices& choices) const {
  const AcceptedRequest& one = choices.front();
  std::vector<RunningPlace> places;
  for (const auto& request : running_) {
    const AcceptedRequest& accepted = request->accepted();
    const bool goes_on_later = request->may_park() && fits_pages(pages_of(accepted, 1), kv_.terms().n_pages);
    places.push_back({accepted.caller.name, accepted.priority, goes_on_later});
  }
  int64_t n_slots_lacking = running_.n_slots_taken() + static_cast<int64_t>(choices.size()) - running_.n_parallel();
  std::vector<int64_t> pages_lacking = pages_of(one, choices.size());
  const std::vector<int32_t> available = kv_.n_available();
  const auto has_room = [&] { return n_slots_lacking <= 0 && fits_pages(pages_lacking, available); };
  std::vector<RequestId> parked;
  for (const size_t index : parking_order(places, one.caller.name, one.priority)) {
    if (has_room()) break;
    const RunningRequest& request = running_[index];
    parked.push_back(request.id());
    --n_slots_lacking;
    const std::vector<int64_t> pages = pages_of(request.accepted(), 1);
    for (size_t kind = 0; kind < pages.size(); ++kind) pages_lacking[kind] -= pages[kind];
  }
  if (!has_room()) parked.clear();
  return parked;
}

void Admitter::park(RequestId id) {
  const std::unique_ptr<RunningRequest> request = running_.remove(id);
  waiting_.stop(request->accepted());
  waiting_.add_parked(request->park());
  inbox_.count_park();
}

/// What n answers of a request take that goes on behind its tokens.
std::vector<int64_t> Admitter::pages_of(const AcceptedRequest& request, size_t n_choices) const {
  const auto n_tokens = static_cast<int64_t>(request.loop.tokens().size());
  return choice_pages(kv_.terms(), n_tokens, request.n_unused(), static_cast<int64_t>(n_choices));
}

}  // namespace ferrox
