// How is a metric written? Prometheus's text format, version 0.0.4.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/metrics/histogram.h"

namespace ferrox {

inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

/// Metrics one after another: each family is begun once, and its samples follow it.
class Exposition {
 public:
  /// `common` stand in every sample.
  explicit Exposition(MetricLabels common = {}) : common_(std::move(common)) {}

  void gauge(std::string_view name, std::string_view help, double value) { single(name, "gauge", help, value); }
  /// The name ends in _total.
  void counter(std::string_view name, std::string_view help, double value) { single(name, "counter", help, value); }
  void histogram(std::string_view name, std::string_view help, const Histogram::Snapshot& taken);

  /// For families of several samples, or with labels of their own.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::string_view name, const MetricLabels& labels, double value);

  const std::string& text() const { return text_; }

 private:
  void single(std::string_view name, std::string_view type, std::string_view help, double value);

  MetricLabels common_;
  std::string text_;
};

}  // namespace ferrox
