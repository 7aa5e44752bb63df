// What does a request take of each attention kind's pages? The one place that knows: the store and the scheduler ask
// it.
//
// A full kind keeps every position. A sliding kind recycles pages that fell behind its window, so it takes at most what
// lies between two slides:
//
//   0 ....... recycled ....... | window | interval | anchored turn, chunk of a prompt | position
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferrox {

/// Positions kept behind the window of a tool call's opening.
inline constexpr int64_t kRetainGap = 16;
/// The "window" of the kind whose pages are recurrent states: a sequence has one, whatever its length.
inline constexpr int kStateKind = -1;
/// Tokens between two slides, unless something else is asked for.
inline constexpr int64_t kSlideInterval = 128;

/// What all requests of one engine are priced by.
struct KvTerms {
  std::vector<int> windows;          ///< of each attention kind; 0: full. kStateKind, the last, if there is a state
  std::vector<int32_t> n_pages;      ///< of each kind in the store
  std::vector<uint64_t> page_bytes;  ///< of one page of each kind, over its layers
  int32_t page_rows = 1;
  int64_t chunk_rows = 1;  ///< most rows of one sequence in a step
  int64_t slide_interval = kSlideInterval;
  int64_t max_draft = 0;  ///< most rows written ahead when speculating

  int64_t interval() const { return slide_interval > 0 ? slide_interval : 1; }
  bool has_state() const { return !windows.empty() && windows.back() == kStateKind; }

  /// Kinds that have a page table.
  size_t n_attention_kinds() const { return windows.size() - (has_state() ? 1 : 0); }
};

/// The most positions that a request holds past its prompt in a kind of this window: bound = 2 * (window + 16) +
/// interval + 2 * page, plus the largest draft.
int64_t sliding_bound(const KvTerms& terms, int window);

/// Positions that a request of n_prompt + max_tokens ever holds at once in a kind; saturates. A state is one.
int64_t held_positions(const KvTerms& terms, int window, int64_t n_prompt, int64_t max_tokens);

/// Pages of each kind that it takes, at least 1.
std::vector<int64_t> lease_pages(const KvTerms& terms, int64_t n_prompt, int64_t max_tokens);

/// Pages of each kind that a fork of a request takes of its own, at least 1: everything past the whole pages that
/// `length` rows fill. Those are shared, and neither of the two recycles them.
std::vector<int64_t> fork_pages(const KvTerms& terms, int64_t length, int64_t max_tokens);

/// Pages of each kind for n_choices answers to one prompt, of which all but the first are forked from it where the
/// prompt ends. n_choices >= 1.
std::vector<int64_t> choice_pages(const KvTerms& terms, int64_t n_prompt, int64_t max_tokens, int64_t n_choices);

/// Whether n[kind] pages of each kind are no more than available[kind].
bool fits_pages(std::span<const int64_t> n, std::span<const int32_t> available);

/// Bytes of n[kind] pages of each kind; saturates.
uint64_t bytes_of_pages(const KvTerms& terms, std::span<const int64_t> n);

/// The most positions of one request, the first n_prompt of them prompt, that terms.n_pages hold; at most `limit`. With
/// n_prompt = limit it is what a request of any prompt is sure to hold.
int64_t longest_request(const KvTerms& terms, int64_t n_prompt, int64_t limit);

}  // namespace ferrox
