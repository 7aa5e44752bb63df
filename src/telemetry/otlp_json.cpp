#include "telemetry/otlp_json.h"

#include <nlohmann/json.hpp>

#include "base/version.h"

namespace ferrox {
namespace {

using OtlpJson = nlohmann::ordered_json;

OtlpJson any_value(const std::string& value) { return {{"stringValue", value}}; }
OtlpJson any_value(int64_t value) { return {{"intValue", std::to_string(value)}}; }
OtlpJson any_value(double value) { return {{"doubleValue", value}}; }
OtlpJson any_value(bool value) { return {{"boolValue", value}}; }
OtlpJson any_value(const std::vector<std::string>& values) {
  OtlpJson list = OtlpJson::array();
  for (const std::string& value : values) list.push_back(any_value(value));
  return {{"arrayValue", {{"values", std::move(list)}}}};
}

OtlpJson attribute_list(std::span<const SpanAttribute> attributes) {
  OtlpJson list = OtlpJson::array();
  for (const SpanAttribute& attribute : attributes) {
    OtlpJson entry;
    entry["key"] = attribute.name;
    entry["value"] = std::visit([](const auto& value) { return any_value(value); }, attribute.value);
    list.push_back(std::move(entry));
  }
  return list;
}

OtlpJson span_object(const Span& span) {
  constexpr int kStatusError = 2;
  OtlpJson object;
  object["traceId"] = span.trace_id;
  object["spanId"] = span.span_id;
  if (!span.parent_id.empty()) object["parentSpanId"] = span.parent_id;
  if (!span.trace_state.empty()) object["traceState"] = span.trace_state;
  object["name"] = span.name;
  object["kind"] = static_cast<int>(span.kind);
  object["startTimeUnixNano"] = std::to_string(span.start.count());
  object["endTimeUnixNano"] = std::to_string(span.end.count());
  object["attributes"] = attribute_list(span.attributes);
  if (span.is_error) object["status"] = {{"code", kStatusError}};
  return object;
}

}  // namespace

std::string otlp_json(std::span<const Span> spans, std::span<const SpanAttribute> service) {
  OtlpJson list = OtlpJson::array();
  for (const Span& span : spans) list.push_back(span_object(span));
  OtlpJson scope;
  scope["scope"] = {{"name", "ferrox"}, {"version", kVersion}};
  scope["spans"] = std::move(list);
  OtlpJson resource;
  resource["resource"] = {{"attributes", attribute_list(service)}};
  resource["scopeSpans"] = OtlpJson::array({std::move(scope)});
  OtlpJson request;
  request["resourceSpans"] = OtlpJson::array({std::move(resource)});
  return request.dump(-1, ' ', false, OtlpJson::error_handler_t::replace);
}

}  // namespace ferrox
