// What does a request hold of paged storage from its first step to its last? Pages of every kind, and its windows.
#pragma once

#include <optional>
#include <vector>

#include "kv/kv_terms.h"
#include "kv/sequence_kv.h"
#include "kv/window_slide.h"

namespace ferrox {

/// Pages that slide out of a window stay private to the request and back its later positions: handing them back would
/// let a later step fail. Every CHECK is a bug of the caller.
class KvLease {
 public:
  /// Takes choice_pages(terms, n_prompt, max_tokens, n_choices), or nothing. `groups` and `terms` must outlive the
  /// lease.
  static std::optional<KvLease> take(PageGroups& groups, const KvTerms& terms, int64_t n_prompt, int64_t max_tokens,
                                     int64_t n_choices = 1);

  int64_t length() const { return kv_.length(); }
  std::span<const PageTable> begin_step(int64_t n_rows);
  void end_step();
  void observe_anchor(int64_t length);

  /// A second request with the same rows and max_tokens still to come: full pages are shared, the tail is copied.
  /// Nothing when what it needs of its own, or what this then lacks, isn't free.
  std::optional<KvLease> fork(PagedStore& store, int64_t max_tokens);

  /// The first n of the other choices that take() set pages aside for, once the prompt is done. They can't fail, and
  /// what was set aside for more goes back.
  std::vector<KvLease> fork_choices(PagedStore& store, int64_t n);

  /// Pages of each kind, and over all of them.
  const SequenceKv& sequence() const { return kv_; }
  int64_t n_held() const { return kv_.n_held(); }

  /// CHECKs the tables, and that the pages of the trailing window are owned.
  void check_integrity() const;

 private:
  KvLease(SequenceKv kv, const KvTerms& terms, int64_t n_prompt, int64_t n_positions);
  void slide_decode(int64_t position);
  void slide_prompt();

  SequenceKv kv_;
  const KvTerms* terms_;
  int64_t n_prompt_;
  int64_t n_positions_;              ///< prompt and answer
  std::vector<WindowSlide> slides_;  ///< of each kind; unused for full ones
  int64_t n_choices_ = 1;            ///< that pages are held for, this one included
  int64_t step_rows_ = 0;
};

}  // namespace ferrox
