// Which of OpenTelemetry's variables mean something here?
#include "telemetry/otlp_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ferrox {
namespace {

using Variables = std::map<std::string, std::string>;

ReadVariable reader(const Variables& variables) {
  return [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// "" for no traces, the message for an error.
std::string url_of(const std::string& flag, const Variables& variables) {
  const auto settings = otlp_settings(flag, reader(variables));
  if (!settings) return settings.error().message;
  return *settings ? (*settings)->url : "";
}

TEST(OtlpSettings, AnEndpointIsGivenOrThereAreNoTraces) {
  EXPECT_EQ(url_of("", {}), "");
  EXPECT_EQ(url_of("http://c:4318", {}), "http://c:4318/v1/traces");
  EXPECT_EQ(url_of("http://c:4318/", {}), "http://c:4318/v1/traces");
  EXPECT_EQ(url_of("http://c:4318/v1/traces", {}), "http://c:4318/v1/traces");
}

TEST(OtlpSettings, TheEnvironmentIsReadBehindTheFlag) {
  const Variables base = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://base"}};
  EXPECT_EQ(url_of("", base), "http://base/v1/traces");
  EXPECT_EQ(url_of("http://flag", base), "http://flag/v1/traces");
  Variables both = base;
  both["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://traces/here";
  EXPECT_EQ(url_of("", both), "http://traces/here") << "as it is";
  both["OTEL_SDK_DISABLED"] = "true";
  EXPECT_EQ(url_of("", both), "");
  EXPECT_EQ(url_of("http://flag", both), "http://flag/v1/traces");
}

TEST(OtlpSettings, HeadersAndTheServicesName) {
  const Variables variables = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                               {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, tenant=a"},
                               {"OTEL_SERVICE_NAME", "chat"},
                               {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,zone=b"}};
  const auto settings = otlp_settings("", reader(variables));
  ASSERT_TRUE(settings && *settings);
  EXPECT_EQ((*settings)->headers, (std::vector<std::string>{"authorization: Bearer x", "tenant: a"}));
  EXPECT_EQ(std::get<std::string>((*settings)->service[0].value), "chat");
  EXPECT_EQ((*settings)->service.back().name, "zone");
}

TEST(OtlpSettings, AListThatIsNoneIsAnErrorWithoutItsValues) {
  const Variables variables = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_HEADERS", "secret"}};
  EXPECT_THAT(url_of("", variables), ::testing::HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: expected name=value"));
  EXPECT_THAT(url_of("", variables), ::testing::Not(::testing::HasSubstr("secret")));
  const Variables broken = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0ac"}};
  EXPECT_THAT(url_of("", broken), ::testing::HasSubstr("expected name=value"));
}

TEST(OtlpSettings, AnotherProtocolIsADoubt) {
  EXPECT_EQ(otlp_doubt(reader({})), "");
  const Variables json = {{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"}};
  EXPECT_EQ(otlp_doubt(reader(json)), "");
  const Variables grpc = {{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}};
  EXPECT_THAT(otlp_doubt(reader(grpc)), ::testing::HasSubstr("found grpc"));
}

}  // namespace
}  // namespace ferrox
