// Are URLs of servers read as they are written, and others refused?
#include <gtest/gtest.h>

#include "base/http_url.h"

namespace ferrox {
namespace {

TEST(HttpUrl, HostPortAndPathAreRead) {
  struct UrlCase {
    const char* text;
    const char* host;
    const char* port;
    const char* path;
    const char* authority;
  };
  const UrlCase cases[] = {
      {"http://127.0.0.1:8383", "127.0.0.1", "8383", "", "127.0.0.1:8383"},
      {"localhost", "localhost", "80", "", "localhost:80"},
      {"localhost:8000/", "localhost", "8000", "", "localhost:8000"},
      {"http://example.org/v1/", "example.org", "80", "/v1", "example.org:80"},
      {"http://[::1]:9/a/b", "::1", "9", "/a/b", "[::1]:9"},
      {"http://[::1]", "::1", "80", "", "[::1]:80"},
      {"http://h/a:b", "h", "80", "/a:b", "h:80"},
  };
  for (const auto& c : cases) {
    const auto url = parse_http_url("--url", c.text);
    ASSERT_TRUE(url) << c.text;
    EXPECT_EQ(url->host, c.host) << c.text;
    EXPECT_EQ(url->port, c.port) << c.text;
    EXPECT_EQ(url->path, c.path) << c.text;
    EXPECT_EQ(url->authority(), c.authority) << c.text;
  }
}

TEST(HttpUrl, HttpsHasAPortOfItsOwn) {
  const auto url = parse_http_url("--url", "https://example.org/v1");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->is_tls);
  EXPECT_EQ(url->port, "443");
  EXPECT_EQ(url->path, "/v1");
  EXPECT_EQ(parse_http_url("--url", "https://[::1]:8443")->port, "8443");
  EXPECT_FALSE(parse_http_url("--url", "http://h")->is_tls);
}

TEST(HttpUrl, OthersAreRefusedByTheFlagsName) {
  for (const char* text : {"",
                           "http://",
                           "https://",
                           "https://h:0",
                           "HTTPS//h",
                           "ftp://h",
                           "http://:80",
                           "http://h:",
                           "http://h:0",
                           "http://h:65536",
                           "http://h:8x",
                           "http://u@h",
                           "http://h?x",
                           "http://h/#x",
                           "http://h\r\nX: y",
                           "http://h /v1",
                           "http://::1",
                           "http://[::1",
                           "http://::1]",
                           "http://h\x01",
                           "http://h//v1",
                           "http://h:80:90"}) {
    const auto url = parse_http_url("--url", text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(url.error().message.starts_with("--url: expected http://host:port or https://host:port, found '"))
        << url.error().message;
  }
}

}  // namespace
}  // namespace ferrox
