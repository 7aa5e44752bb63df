// What does a request hold of paged storage from its first step to its last? Pages of every kind, and its windows.
#pragma once

#include <optional>
#include <vector>

#include "kv/kv_terms.h"
#include "kv/prefix_tree.h"
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

  /// The same behind match.n_usable tokens that the tree has: whole pages are shared, the rest is copied, and the
  /// lease takes choice_pages of what follows the shared ones. Or nothing.
  static std::optional<KvLease> resume(PagedStore& store, PageGroups& groups, const KvTerms& terms,
                                       const PrefixMatch& match, int64_t n_prompt, int64_t max_tokens,
                                       int64_t n_choices = 1);

  int64_t length() const { return kv_.length(); }
  int64_t n_prompt() const { return n_prompt_; }
  std::span<const PageTable> begin_step(int64_t n_rows);

  /// The rows of the step are computed; then, in a second call, pages behind the windows are recycled.
  void end_rows();
  void slide();
  void end_step() {
    end_rows();
    slide();
  }
  void observe_anchor(int64_t length);

  /// A second request with the same rows and max_tokens still to come: full pages are shared, the tail is copied.
  /// Nothing when what it needs of its own, or what this then lacks, isn't free.
  std::optional<KvLease> fork(PagedStore& store, int64_t max_tokens);

  /// The first n of the other choices that take() set pages aside for, once the prompt is done. They can't fail, and
  /// what was set aside for more goes back.
  std::vector<KvLease> fork_choices(PagedStore& store, int64_t n);

  /// Pages of each kind, and over all of them.
  const SequenceKv& sequence() const { return kv_; }
  SequenceKv& sequence() { return kv_; }
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
