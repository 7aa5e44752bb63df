// How do times look? Drawings in SVG that take their colours from the page's style sheet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loadgen/record.h"

namespace ferrox {

/// The share of the samples (milliseconds, at least one) up to each time, on a logarithmic axis; a line at `limit_ms`.
std::string svg_distribution(std::vector<double> samples, std::optional<double> limit_ms, const std::string& title);

/// At most so many requests are drawn.
inline constexpr size_t kMostTimelineRows = 1000;

/// A row for each request that was sent, first ones at the top: waiting for the first token, then for the others.
std::string svg_timeline(const std::vector<RequestRecord>& records, const std::string& title);

}  // namespace ferrox
