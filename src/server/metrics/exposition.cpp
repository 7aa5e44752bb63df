// How do names, labels and numbers stand on a line?
#include "server/metrics/exposition.h"

#include <fmt/format.h>

namespace ferrox {
namespace {

std::string escaped_label(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void append_labels(const MetricLabels& labels, std::string& list) {
  for (const auto& [name, value] : labels) {
    list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", name, escaped_label(value));
  }
}

}  // namespace

void Exposition::begin(std::string_view name, std::string_view type, std::string_view help) {
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void Exposition::sample(std::string_view name, const MetricLabels& labels, double value) {
  std::string list;
  append_labels(common_, list);
  append_labels(labels, list);
  text_ += list.empty() ? fmt::format("{} {}\n", name, value) : fmt::format("{}{{{}}} {}\n", name, list, value);
}

void Exposition::single(std::string_view name, std::string_view type, std::string_view help, double value) {
  begin(name, type, help);
  sample(name, {}, value);
}

void Exposition::histogram(std::string_view name, std::string_view help, const Histogram::Snapshot& taken) {
  begin(name, "histogram", help);
  const std::string bucket = fmt::format("{}_bucket", name);
  uint64_t n_so_far = 0;
  for (size_t i = 0; i < taken.counts.size(); ++i) {
    n_so_far += taken.counts[i];
    const std::string bound = i < taken.bounds.size() ? fmt::format("{}", taken.bounds[i]) : "+Inf";
    sample(bucket, {{"le", bound}}, static_cast<double>(n_so_far));
  }
  sample(fmt::format("{}_sum", name), {}, taken.sum_s);
  sample(fmt::format("{}_count", name), {}, static_cast<double>(n_so_far));
}

}  // namespace ferrox
