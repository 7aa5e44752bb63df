// Where are traces sent? What the flag says, and what OpenTelemetry's environment variables say.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "telemetry/span_exporter.h"

namespace ferrox {

/// An environment variable's value; nullptr: it isn't set.
using ReadVariable = std::function<const char*(const char* name)>;

/// `endpoint`: the flag's, empty: not given; goes before the environment. Nothing: no traces are wanted. Read are
/// OTEL_SDK_DISABLED, and OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (as it is) before OTEL_EXPORTER_OTLP_ENDPOINT (to which
/// /v1/traces is added, as to the flag), the same two of _HEADERS, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
/// kInvalidArgument: an endpoint that is no URL, a list that isn't name=value,...
Result<std::optional<SpanExporterOptions>> otlp_settings(const std::string& endpoint, const ReadVariable& read);

/// What the environment asks for and won't get: another protocol than http/json. Empty: nothing.
std::string otlp_doubt(const ReadVariable& read);

}  // namespace ferrox
