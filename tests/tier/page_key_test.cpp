// Does a key name its whole prefix, and nothing else? Judged by SHA-256 values from another implementation.
#include "tier/page_key.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace ferrox {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

PageKey root() { return root_key(bytes_of("model"), bytes_of("salt")); }

// hashlib: sha256(b"\0" + pack("<Q", 5) + b"model" + pack("<Q", 4) + b"salt"), and so on.
TEST(PageKey, IsSha256OfThePrefix) {
  const std::vector<int32_t> tokens{7, -1, 300'000};
  EXPECT_EQ(to_hex(root()), "c00a8ddafdb84b095a003cc94e95414f46700fc9d822b48507835b355835b082");
  const PageKey page = next_key(root(), tokens);
  EXPECT_EQ(to_hex(page), "3b4f506958d2795f067ce53731ef334cc4269f72254080be9d8e3a2265b10a48");
  EXPECT_EQ(to_hex(state_key(page, {})), "8dfd6fbd49a690b283f9dd2582ae8d4a68870b3838938197a5218d74ff0d3013");
}

TEST(PageKey, DiffersWithEachThingThatItNames) {
  const std::vector<int32_t> tokens{1, 2, 3, 4};
  const auto first = std::span(tokens).first(2);
  const auto last = std::span(tokens).last(2);
  std::set<std::string> seen;
  const auto is_new = [&seen](const PageKey& key) { return seen.insert(to_hex(key)).second; };
  EXPECT_TRUE(is_new(root()));
  EXPECT_TRUE(is_new(root_key(bytes_of("model"), bytes_of("salu"))));
  EXPECT_TRUE(is_new(root_key(bytes_of("modem"), bytes_of("salt"))));
  EXPECT_TRUE(is_new(root_key(bytes_of("models"), bytes_of("alt"))));
  EXPECT_TRUE(is_new(root_key(bytes_of("model"), {})));
  EXPECT_TRUE(is_new(next_key(root(), first)));
  EXPECT_TRUE(is_new(next_key(root(), last)));
  EXPECT_TRUE(is_new(next_key(root(), tokens)));
  EXPECT_TRUE(is_new(next_key(next_key(root(), first), last)));
  EXPECT_TRUE(is_new(state_key(root(), first)));
  EXPECT_TRUE(is_new(state_key(root(), {})));
}

TEST(PageKey, HexIsReadBackStrictly) {
  const std::string hex = to_hex(root());
  EXPECT_EQ(parse_page_key(hex), root());
  EXPECT_FALSE(parse_page_key(""));
  EXPECT_FALSE(parse_page_key(hex.substr(1)));
  EXPECT_FALSE(parse_page_key(hex + "0"));
  for (const char bad : {'A', 'F', 'g', '/', '.', ' ', '\0', ':', '`'}) {
    std::string wrong = hex;
    wrong[63] = bad;
    EXPECT_FALSE(parse_page_key(wrong)) << bad;
  }
}

TEST(PageKey, ThreadsDontShareWhatTheyHashWith) {
  std::vector<PageKey> ends(4);
  std::vector<std::thread> threads;
  for (PageKey& end : ends) {
    threads.emplace_back([&end] {
      end = root();
      for (int32_t i = 0; i < 2'000; ++i) end = next_key(end, std::vector<int32_t>{i, i + 1});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const PageKey& end : ends) EXPECT_EQ(end, ends.front());
}

}  // namespace
}  // namespace ferrox
