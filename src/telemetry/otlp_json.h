// How are spans written for a collector? As an ExportTraceServiceRequest of OTLP 1 in JSON.
#pragma once

#include <span>
#include <string>

#include "telemetry/span.h"

namespace ferrox {

/// `service`: the name and whatever else is said of the process that the spans are of. Ids are hexadecimal, times
/// are decimal strings of nanoseconds, as OTLP's mapping asks. Invalid UTF-8 becomes U+FFFD.
std::string otlp_json(std::span<const Span> spans, std::span<const SpanAttribute> service);

}  // namespace ferrox
