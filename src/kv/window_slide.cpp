#include "kv/window_slide.h"

#include <algorithm>

namespace ferrox {

bool WindowSlide::is_due(int64_t position) {
  const bool due = has_stepped_ && (!last_slide_ || position - *last_slide_ >= interval_);
  has_stepped_ = true;
  if (due) last_slide_ = position;
  return due;
}

void WindowSlide::observe_anchor(int64_t length) {
  if (!anchor_) anchor_ = length;
}

SlideRange WindowSlide::whole_pages(int64_t threshold, int64_t released, int64_t locked) const {
  const int64_t to = threshold > 0 ? threshold / page_rows_ * page_rows_ : 0;
  return {std::max(released, locked), to};
}

SlideRange WindowSlide::decode_range(int64_t position, int64_t released, int64_t locked) {
  int64_t threshold = position - 1 - window_ - page_rows_;
  if (anchor_ && position - *anchor_ > window_ + page_rows_ + 1) anchor_.reset();
  if (anchor_) threshold = std::min(threshold, *anchor_ - window_ - kRetainGap);
  return whole_pages(threshold, released, locked);
}

SlideRange WindowSlide::prompt_range(int64_t position, int64_t released, int64_t locked) const {
  return whole_pages(position - window_ - page_rows_, released, locked);
}

}  // namespace ferrox
