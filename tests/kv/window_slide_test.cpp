// Does a window recycle what it has left behind, and wait for a tool call's opening?
#include "kv/window_slide.h"

#include <gtest/gtest.h>

namespace ferrox {
namespace {

KvTerms terms_with(int32_t page_rows, int64_t interval) {
  KvTerms terms;
  terms.page_rows = page_rows;
  terms.slide_interval = interval;
  return terms;
}

/// One token a step from a prompt of 3, the anchor observed before the step at position 199.
int64_t released_at(int64_t position, bool with_anchor) {
  WindowSlide slide(terms_with(4, 4), 8);
  int64_t released = 0;
  for (int64_t at = 4; at <= position; ++at) {
    if (with_anchor && at == 199) slide.observe_anchor(200);
    if (!slide.is_due(at)) continue;
    const SlideRange range = slide.decode_range(at, released, 0);
    if (range.to > range.from) released = range.to;
  }
  return released;
}

TEST(WindowSlide, RecyclesWholePagesBehindTheWindow) {
  WindowSlide slide(terms_with(64, 128), 512);
  SlideRange range = slide.decode_range(4096, 0, 0);
  EXPECT_EQ(range.from, 0);
  EXPECT_EQ(range.to, 3456);
  range = slide.decode_range(4096, 0, 3008);
  EXPECT_EQ(range.from, 3008);
  EXPECT_EQ(range.to, 3456);
  slide.observe_anchor(3000);
  EXPECT_EQ(slide.decode_range(4096, 0, 0).to, 3456);
  EXPECT_FALSE(slide.anchor()) << "too far behind to wait for";
}

TEST(WindowSlide, AnAnchorHoldsItsWindow) {
  EXPECT_EQ(released_at(208, true), 184);
  EXPECT_EQ(released_at(208, false), 192);
  EXPECT_EQ(released_at(600, true), 584);
  EXPECT_EQ(released_at(600, false), 584);
}

TEST(WindowSlide, TheFirstCallOfATurnIsTheAnchor) {
  WindowSlide slide(terms_with(4, 4), 8);
  slide.observe_anchor(50);
  slide.observe_anchor(60);
  EXPECT_EQ(*slide.anchor(), 50);
  slide.decode_range(50 + 8 + 4 + 1, 0, 0);
  EXPECT_TRUE(slide.anchor());
  slide.decode_range(50 + 8 + 4 + 2, 0, 0);
  EXPECT_FALSE(slide.anchor());
  slide.observe_anchor(70);
  EXPECT_EQ(*slide.anchor(), 70) << "a later call may be one then";
}

TEST(WindowSlide, TheFirstStepNeverSlides) {
  WindowSlide every(terms_with(4, 0), 8);
  EXPECT_FALSE(every.is_due(100));
  EXPECT_TRUE(every.is_due(101)) << "an interval of 0 means 1";
  EXPECT_TRUE(every.is_due(102));
  WindowSlide some(terms_with(4, 3), 8);
  std::vector<int64_t> due;
  for (int64_t at = 10; at < 20; ++at) {
    if (some.is_due(at)) due.push_back(at);
  }
  EXPECT_EQ(due, (std::vector<int64_t>{11, 14, 17}));
}

TEST(WindowSlide, PromptsSlideAfterEachChunkWithoutAnAnchor) {
  WindowSlide slide(terms_with(4, 128), 8);
  slide.observe_anchor(1);
  EXPECT_EQ(slide.prompt_range(100, 0, 0).to, 88);
  EXPECT_EQ(slide.prompt_range(5, 0, 0).to, 0);
  EXPECT_EQ(slide.prompt_range(100, 40, 60).from, 60);
}

}  // namespace
}  // namespace ferrox
