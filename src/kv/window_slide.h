// Up to where may a request forget a sliding kind's rows, and when is that looked at?
#pragma once

#include <cstdint>
#include <optional>

#include "kv/kv_terms.h"

namespace ferrox {

/// Positions of one range, [from, to).
struct SlideRange {
  int64_t from;
  int64_t to;
};

/// When one request's kind of one window slides. A tool call's opening is its anchor: the next turn of an agent rejoins
/// the conversation there, so the window before it is kept as long as it may be.
class WindowSlide {
 public:
  WindowSlide(const KvTerms& terms, int window)
      : window_(window), interval_(terms.interval()), page_rows_(terms.page_rows) {}

  /// A decode step begins, with which the request has `position` tokens. True every interval tokens since it was last
  /// true; never for the first step.
  bool is_due(int64_t position);

  /// The token before `length` opened a tool call, itself included in length. The first call of a turn is the anchor;
  /// once it is forgotten a later one may be.
  void observe_anchor(int64_t length);

  /// What may be recycled before a decode step, whole pages; nothing when to <= from. `released` and `locked` are the
  /// table's. Forgets the anchor once it is far enough behind.
  SlideRange decode_range(int64_t position, int64_t released, int64_t locked);

  /// What may be recycled after a chunk of the prompt, with `position` rows computed.
  SlideRange prompt_range(int64_t position, int64_t released, int64_t locked) const;

  const std::optional<int64_t>& anchor() const { return anchor_; }

 private:
  SlideRange whole_pages(int64_t threshold, int64_t released, int64_t locked) const;

  int64_t window_;
  int64_t interval_;
  int64_t page_rows_;
  bool has_stepped_ = false;
  std::optional<int64_t> last_slide_;
  std::optional<int64_t> anchor_;
};

}  // namespace ferrox
