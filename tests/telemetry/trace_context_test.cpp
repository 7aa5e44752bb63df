// Which traceparent headers are honoured?
#include "telemetry/trace_context.h"

#include <gtest/gtest.h>

#include <set>

namespace ferrox {
namespace {

constexpr const char* kGood = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContext, AGoodHeaderIsRead) {
  const auto context = parse_traceparent(kGood);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(context->span_id, "b7ad6b7169203331");
  EXPECT_TRUE(context->is_sampled);
}

TEST(TraceContext, TheLastFlagSaysWhetherItIsRecorded) {
  const std::string ids = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";
  EXPECT_FALSE(parse_traceparent(ids + "00")->is_sampled);
  EXPECT_FALSE(parse_traceparent(ids + "02")->is_sampled);
  EXPECT_TRUE(parse_traceparent(ids + "03")->is_sampled);
}

TEST(TraceContext, LaterVersionsMayHaveMore) {
  EXPECT_TRUE(parse_traceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_TRUE(parse_traceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what"));
  EXPECT_FALSE(parse_traceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what"));
}

TEST(TraceContext, WhatIsMalformedIsIgnored) {
  for (const char* header : {
           "",
           "00",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
           "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
           "00-0af7651916cd43dd8448eb211c8031-c-b7ad6b7169203331-01",
       }) {
    EXPECT_FALSE(parse_traceparent(header)) << header;
  }
}

TEST(TraceContext, StatesAreShortAndPrintable) {
  EXPECT_TRUE(is_trace_state("a=1,b=2"));
  EXPECT_FALSE(is_trace_state("a=\x1b"));
  EXPECT_FALSE(is_trace_state(std::string(513, 'a')));
}

TEST(TraceContext, NewIdsDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.insert(new_trace_id());
    ids.insert(new_span_id());
  }
  EXPECT_EQ(ids.size(), 2000u);
  EXPECT_EQ(new_trace_id().size(), 32u);
  EXPECT_EQ(new_span_id().size(), 16u);
}

}  // namespace
}  // namespace ferrox
