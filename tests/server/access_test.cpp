// Are keys, hosts, origins and routes judged as they should?
#include "server/access.h"

#include <gtest/gtest.h>

#include "server/router.h"

namespace ferrox {
namespace {

TEST(Access, BearerSchemeIsReadInAnyCase) {
  EXPECT_EQ(bearer_key("Bearer abc"), "abc");
  EXPECT_EQ(bearer_key("bearer   abc"), "abc");
  EXPECT_EQ(bearer_key("Basic abc"), "");
  EXPECT_EQ(bearer_key("Bearer"), "");
  EXPECT_EQ(bearer_key("Bearer "), "");
}

TEST(Access, HostsOfAuthorities) {
  EXPECT_EQ(host_of("localhost:8383"), "localhost");
  EXPECT_EQ(host_of("[::1]:8383"), "::1");
  EXPECT_EQ(host_of("http://a.b:1"), "a.b");
  EXPECT_EQ(host_of("["), "");
  EXPECT_EQ(host_of(""), "");
}

TEST(Access, OnlyNamesThatCantBeReboundAreHosts) {
  for (const char* good : {"", "localhost", "LOCALHOST:1", "a.localhost", "127.0.0.1:80", "10.1.2.3", "[::1]:8383"}) {
    EXPECT_TRUE(is_allowed_host(good, {})) << good;
  }
  for (const char* evil : {"evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "xlocalhost"}) {
    EXPECT_FALSE(is_allowed_host(evil, {})) << evil;
  }
  EXPECT_TRUE(is_allowed_host("my.name:1", {"my.name"}));
  EXPECT_TRUE(is_allowed_host("any", {"*"}));
}

TEST(Access, OtherSitesPagesAreRefused) {
  EXPECT_TRUE(is_allowed_origin("", "127.0.0.1:1", {}));
  EXPECT_TRUE(is_allowed_origin("http://localhost:3000", "127.0.0.1:1", {}));
  EXPECT_TRUE(is_allowed_origin("http://10.0.0.5:8383", "10.0.0.5:8383", {}));
  EXPECT_FALSE(is_allowed_origin("http://10.0.0.6", "10.0.0.5:8383", {}));
  EXPECT_FALSE(is_allowed_origin("https://evil.example", "localhost", {}));
  EXPECT_FALSE(is_allowed_origin("null", "localhost", {}));
  EXPECT_TRUE(is_allowed_origin("https://my.name", "localhost", {"my.name"}));
}

constexpr Endpoint kList{"GET", "/v1/models", Access::kKey, "", nullptr};
constexpr Endpoint kOne{"GET", "/v1/models/{id}", Access::kKey, "", nullptr};
constexpr Endpoint kSpecial{"GET", "/v1/models/special", Access::kKey, "", nullptr};
constexpr Endpoint kDelete{"DELETE", "/v1/models/{id}", Access::kKey, "", nullptr};
constexpr const Endpoint* kTable[] = {&kOne, &kList, &kSpecial, &kDelete, nullptr};

TEST(Router, LiteralPathsWinAndParametersTakeTheRest) {
  EXPECT_EQ(find_route(kTable, "GET", "/v1/models").endpoint, &kList);
  EXPECT_EQ(find_route(kTable, "HEAD", "/v1/models/").endpoint, &kList);
  const Route route = find_route(kTable, "GET", "/v1/models/org/name");
  EXPECT_EQ(route.endpoint, &kOne);
  EXPECT_EQ(route.parameter, "org/name");
  EXPECT_EQ(find_route(kTable, "GET", "/v1/models/special").endpoint, &kSpecial);
  EXPECT_EQ(find_route(kTable, "DELETE", "/v1/models/x").endpoint, &kDelete);
}

TEST(Router, WrongMethodsAndPathsAreTold) {
  const Route method = find_route(kTable, "POST", "/v1/models");
  EXPECT_EQ(method.endpoint, nullptr);
  EXPECT_EQ(method.allowed_methods, "GET");
  EXPECT_EQ(find_route(kTable, "POST", "/v1/models/x").allowed_methods, "GET, DELETE");
  EXPECT_EQ(find_route(kTable, "GET", "/v1/model").allowed_methods, "");
  EXPECT_EQ(find_route(kTable, "GET", "").allowed_methods, "");
}

TEST(Router, EveryEndpointOfTheServerIsFoundByItsOwnPath) {
  for (const Endpoint* const* row = all_endpoint; *row != nullptr; ++row) {
    std::string path = (*row)->path;
    if (const size_t brace = path.find('{'); brace != std::string::npos) path = path.substr(0, brace) + "x";
    EXPECT_EQ(find_route(all_endpoint, (*row)->method, path).endpoint, *row) << path;
    EXPECT_NE((*row)->handle, nullptr);
    EXPECT_GT(std::string_view((*row)->summary).size(), 0u);
  }
}

}  // namespace
}  // namespace ferrox
