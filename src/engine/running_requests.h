// Who runs? The requests, in order of admission, and the slots that they have.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine_status.h"
#include "engine/prefix_archive.h"
#include "engine/request.h"
#include "engine/running_request.h"

namespace ferrox {

/// Not for several threads.
class RunningRequests {
 public:
  using Requests = std::vector<std::unique_ptr<RunningRequest>>;

  /// `archive` keeps the prefixes of those that leave; nullptr: nobody does.
  RunningRequests(int32_t n_parallel, PrefixArchive* archive);

  bool empty() const { return requests_.empty(); }
  size_t size() const { return requests_.size(); }
  Requests::const_iterator begin() const { return requests_.begin(); }
  Requests::const_iterator end() const { return requests_.end(); }
  RunningRequest& operator[](size_t index) const { return *requests_[index]; }

  /// nullptr: it doesn't run.
  RunningRequest* find(RequestId id) const;

  /// Slots that are taken or held for choices that wait for a prompt, and whether that many more are free.
  int32_t n_slots_taken() const;
  bool has_slots(size_t n) const { return n_slots_taken() + static_cast<int64_t>(n) <= n_parallel(); }
  int32_t n_parallel() const { return static_cast<int32_t>(slots_.size()); }

  /// In the first slot that is free: of those that run none has it.
  void start(std::unique_ptr<RunningRequest> request);

  /// It runs no more: its pages go back, and what it computed stays for others.
  std::unique_ptr<RunningRequest> remove(RequestId id);
  Requests remove_over();

  /// Every slot, with the tokens of whoever has or had it last.
  std::vector<SlotState> slots() const;

 private:
  void leave_slot(RunningRequest& request);

  PrefixArchive* const archive_;
  Requests requests_;
  std::vector<SlotState> slots_;
};

}  // namespace ferrox
