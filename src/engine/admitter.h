// Who runs next? Whoever's turn it is, once there is room, and once nobody computes for it what both need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "engine/accepted_request.h"
#include "engine/prefix_archive.h"
#include "engine/request_inbox.h"
#include "engine/running_requests.h"
#include "engine/waiting_requests.h"
#include "kv/request_kv.h"

namespace ferrox {

/// On the engine thread. All that it is given outlives it.
class Admitter {
 public:
  /// `archive`, of the same memory, may be nullptr. `call_opener`: the token that opens a tool call, or -1.
  Admitter(KvMemory& kv, PrefixArchive* archive, ThreadPool& threads, WaitingRequests& waiting,
           RunningRequests& running, RequestInbox& inbox, int32_t call_opener)
      : kv_(kv),
        archive_(archive),
        threads_(threads),
        waiting_(waiting),
        running_(running),
        inbox_(inbox),
        call_opener_(call_opener) {}

  /// In the order of their turns; whoever has the time to wait for a prefix that is being computed lets others pass.
  /// Gives whether somebody waits for room.
  bool admit(TimePoint now);

 private:
  std::optional<int64_t> cached_length(Choices& choices, TimePoint now);
  bool waits_for_source(PrefixUse& prefix) const;
  bool finds_source(AcceptedRequest& waiting, int64_t n_cached);
  bool restores(Choices& choices);
  bool try_admit(RequestId first, Choices& choices, TimePoint now);
  bool park_for(RequestId first, Choices& choices, TimePoint now);
  std::vector<RequestId> parked_for(const Choices& choices) const;
  void park(RequestId id);
  std::vector<int64_t> pages_of(const AcceptedRequest& request, size_t n_choices) const;
  void wait_for_outside_holders() const;

  KvMemory& kv_;
  PrefixArchive* const archive_;
  ThreadPool& threads_;
  WaitingRequests& waiting_;
  RunningRequests& running_;
  RequestInbox& inbox_;
  const int32_t call_opener_;
};

}  // namespace ferrox
