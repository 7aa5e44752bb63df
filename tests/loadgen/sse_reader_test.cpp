// Are events the same wherever the stream is cut, and as the standard says?
#include <gtest/gtest.h>

#include "loadgen/sse_reader.h"

namespace ferrox {
namespace {

using Events = std::vector<std::string>;

Events read_pieces(const std::vector<std::string_view>& pieces) {
  SseReader reader;
  Events events;
  for (const auto piece : pieces) {
    for (auto& event : reader.take(piece)) events.push_back(std::move(event));
  }
  if (auto last = reader.finish(); !last.empty()) events.push_back(std::move(last));
  return events;
}

struct SseCase {
  const char* name;
  std::string_view stream;
  Events events;
};

const SseCase kSseCases[] = {
    {"plain", "data: a\n\ndata: b\n\n", {"a", "b"}},
    {"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"}},
    {"CR", "data: a\r\rdata: b\r\r", {"a", "b"}},
    {"mixed ends", "data: a\r\n\ndata: b\n\r\n", {"a", "b"}},
    {"comments", ": waiting\n\n:\n\ndata: a\n: in between\n\n", {"a"}},
    {"no blank", "data:a\n\ndata:  b\n\n", {"a", " b"}},
    {"several lines", "data: a\ndata: b\ndata:\n\n", {"a\nb\n"}},
    {"several lines with CRLF", "data: a\r\ndata: b\r\n\r\n", {"a\nb"}},
    {"other fields", "event: token\nid: 3\nretry: 10\ndata: a\nfoo\n\nevent: end\n\n", {"a"}},
    {"done", "data: {\"x\": \"y: z\"}\n\ndata: [DONE]\n\n", {"{\"x\": \"y: z\"}", "[DONE]"}},
    {"no end", "data: a\n\ndata: [DONE]", {"a", "[DONE]"}},
    {"half an end", "data: a\n", {"a"}},
    {"byte order mark",
     "\xef\xbb\xbf"
     "data: a\n\n",
     {"a"}},
    {"empty lines", "\n\n\r\n\ndata: a\n\n\n\n\n", {"a"}},
    {"longer name", "database: a\n\n data: b\n\n", {}},
    {"nothing", "", {}},
};

TEST(SseReader, ReadsWhatTheStandardSays) {
  for (const auto& c : kSseCases) EXPECT_EQ(read_pieces({c.stream}), c.events) << c.name;
}

TEST(SseReader, CutsChangeNothing) {
  for (const auto& c : kSseCases) {
    for (size_t first = 0; first <= c.stream.size(); ++first) {
      for (size_t second = first; second <= c.stream.size(); ++second) {
        const auto events =
            read_pieces({c.stream.substr(0, first), c.stream.substr(first, second - first), c.stream.substr(second)});
        EXPECT_EQ(events, c.events) << c.name << " cut at " << first << " and " << second;
      }
    }
  }
}

TEST(SseReader, AnEventComesWithItsLastByte) {
  SseReader reader;
  EXPECT_EQ(reader.take("data: a\n"), Events{});
  EXPECT_EQ(reader.take("\n"), Events{"a"});
  EXPECT_EQ(reader.take("data: b\r\n\r"), Events{"b"});
  EXPECT_EQ(reader.take("\ndata: c\n\n"), Events{"c"});
}

}  // namespace
}  // namespace ferrox
