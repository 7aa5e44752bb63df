#include "telemetry/otlp_settings.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "base/version.h"

namespace ferrox {
namespace {

constexpr std::string_view kTracesPath = "/v1/traces";

std::string value_of(const ReadVariable& read, const char* name) {
  const char* const value = read(name);
  return value == nullptr ? "" : value;
}

/// The first of two variables that is set.
std::pair<const char*, std::string> first_of(const ReadVariable& read, const char* first, const char* second) {
  std::string value = value_of(read, first);
  if (!value.empty()) return {first, std::move(value)};
  return {second, value_of(read, second)};
}

std::string traces_url(std::string base) {
  if (base.ends_with(kTracesPath)) return base;
  while (base.ends_with('/')) base.pop_back();
  return base.append(kTracesPath);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// "name=value,name=value"
Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(const char* variable, std::string_view list) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!list.empty()) {
    const size_t end = list.find(',');
    const std::string_view entry = trimmed(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    std::string value = equals == std::string_view::npos ? "" : percent_decode(trimmed(entry.substr(equals + 1)));
    if (equals == 0 || equals == std::string_view::npos || value.find_first_of("\r\n") != std::string::npos) {
      return make_error(ErrorCode::kInvalidArgument, "{}: expected name=value,..., found an entry that isn't",
                        variable);
    }
    pairs.emplace_back(trimmed(entry.substr(0, equals)), std::move(value));
  }
  return pairs;
}

Result<std::vector<SpanAttribute>> service_of(const ReadVariable& read) {
  std::string name = value_of(read, "OTEL_SERVICE_NAME");
  TRY_ASSIGN(auto pairs, parse_pairs("OTEL_RESOURCE_ATTRIBUTES", value_of(read, "OTEL_RESOURCE_ATTRIBUTES")));
  std::vector<SpanAttribute> service;
  for (auto& [key, value] : pairs) {
    if (key != "service.name") {
      service.push_back({std::move(key), std::move(value)});
    } else if (name.empty()) {
      name = std::move(value);
    }
  }
  service.insert(service.begin(), {{"service.name", name.empty() ? "ferrox" : name},
                                   {"service.version", std::string(kVersion)},
                                   {"telemetry.sdk.language", std::string("cpp")},
                                   {"telemetry.sdk.name", std::string("ferrox")}});
  return service;
}

}  // namespace

Result<std::optional<SpanExporterOptions>> otlp_settings(const std::string& endpoint, const ReadVariable& read) {
  SpanExporterOptions options;
  if (!endpoint.empty()) {
    options.url = traces_url(endpoint);
  } else if (value_of(read, "OTEL_SDK_DISABLED") == "true") {
    return std::optional<SpanExporterOptions>();
  } else if (std::string traces = value_of(read, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); !traces.empty()) {
    options.url = std::move(traces);
  } else if (std::string base = value_of(read, "OTEL_EXPORTER_OTLP_ENDPOINT"); !base.empty()) {
    options.url = traces_url(std::move(base));
  } else {
    return std::optional<SpanExporterOptions>();
  }
  const auto [variable, list] = first_of(read, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS");
  TRY_ASSIGN(const auto headers, parse_pairs(variable, list));
  for (const auto& [name, value] : headers) options.headers.push_back(fmt::format("{}: {}", name, value));
  TRY_ASSIGN(options.service, service_of(read));
  return std::optional(std::move(options));
}

std::string otlp_doubt(const ReadVariable& read) {
  const auto [variable, protocol] = first_of(read, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol.empty() || protocol == "http/json") return "";
  return fmt::format("{}: traces are sent as http/json, found {}", variable, protocol);
}

}  // namespace ferrox
