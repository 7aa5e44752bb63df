// How does a test judge what a collector gets? By OTLP's JSON mapping, field by field.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <regex>
#include <set>
#include <string>
#include <vector>

namespace ferrox::testing {

using OtlpBody = nlohmann::json;

inline void expect_keys(const OtlpBody& object, const std::set<std::string>& known) {
  ASSERT_TRUE(object.is_object()) << object;
  for (const auto& [key, value] : object.items()) EXPECT_TRUE(known.contains(key)) << key;
}

inline void expect_any_value(const OtlpBody& value) {
  ASSERT_TRUE(value.is_object() && value.size() == 1) << value;
  const std::string kind = value.begin().key();
  const OtlpBody& inner = value.begin().value();
  if (kind == "stringValue") {
    EXPECT_TRUE(inner.is_string());
  } else if (kind == "intValue") {
    ASSERT_TRUE(inner.is_string()) << "64-bit numbers are strings";
    EXPECT_TRUE(std::regex_match(inner.get<std::string>(), std::regex("-?[0-9]+")));
  } else if (kind == "doubleValue") {
    EXPECT_TRUE(inner.is_number());
  } else if (kind == "boolValue") {
    EXPECT_TRUE(inner.is_boolean());
  } else if (kind == "arrayValue") {
    for (const OtlpBody& each : inner.at("values")) expect_any_value(each);
  } else {
    ADD_FAILURE() << "no kind of value: " << kind;
  }
}

inline void expect_attributes(const OtlpBody& attributes) {
  ASSERT_TRUE(attributes.is_array());
  std::set<std::string> keys;
  for (const OtlpBody& attribute : attributes) {
    expect_keys(attribute, {"key", "value"});
    EXPECT_TRUE(keys.insert(attribute.at("key").get<std::string>()).second) << attribute.at("key");
    expect_any_value(attribute.at("value"));
  }
}

inline void expect_span(const OtlpBody& span) {
  static const std::regex trace_id("[0-9a-f]{32}");
  static const std::regex span_id("[0-9a-f]{16}");
  static const std::regex nanoseconds("1[0-9]{18}");
  expect_keys(span, {"traceId", "spanId", "parentSpanId", "traceState", "name", "kind", "startTimeUnixNano",
                     "endTimeUnixNano", "attributes", "status"});
  EXPECT_TRUE(std::regex_match(span.at("traceId").get<std::string>(), trace_id)) << span;
  EXPECT_TRUE(std::regex_match(span.at("spanId").get<std::string>(), span_id)) << span;
  if (span.contains("parentSpanId")) {
    EXPECT_TRUE(std::regex_match(span.at("parentSpanId").get<std::string>(), span_id)) << span;
  }
  EXPECT_FALSE(span.at("name").get<std::string>().empty());
  EXPECT_TRUE(span.at("kind").is_number_integer());
  const auto start = span.at("startTimeUnixNano").get<std::string>();
  const auto end = span.at("endTimeUnixNano").get<std::string>();
  EXPECT_TRUE(std::regex_match(start, nanoseconds)) << start;
  EXPECT_TRUE(std::regex_match(end, nanoseconds)) << end;
  EXPECT_LE(start, end) << "both of 19 digits";
  expect_attributes(span.at("attributes"));
  if (span.contains("status")) expect_keys(span.at("status"), {"code", "message"});
}

/// Judges a whole post; gives its spans.
inline std::vector<OtlpBody> checked_spans(const std::string& body) {
  std::vector<OtlpBody> spans;
  const OtlpBody request = OtlpBody::parse(body);
  expect_keys(request, {"resourceSpans"});
  for (const OtlpBody& resource : request.at("resourceSpans")) {
    expect_keys(resource, {"resource", "scopeSpans"});
    expect_attributes(resource.at("resource").at("attributes"));
    for (const OtlpBody& scope : resource.at("scopeSpans")) {
      expect_keys(scope, {"scope", "spans"});
      for (const OtlpBody& span : scope.at("spans")) {
        expect_span(span);
        spans.push_back(span);
      }
    }
  }
  return spans;
}

/// The value of an attribute, whatever its kind; null: there is none.
inline OtlpBody attribute_of(const OtlpBody& span, const std::string& key) {
  for (const OtlpBody& attribute : span.at("attributes")) {
    if (attribute.at("key") == key) return attribute.at("value").begin().value();
  }
  return nullptr;
}

}  // namespace ferrox::testing
