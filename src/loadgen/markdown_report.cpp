#include "loadgen/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace ferrox {
namespace {

constexpr size_t kMostErrors = 10;

std::string summary_table(const LoadReport& report) {
  const auto rows = summary_rows(report);
  size_t name_width = 0, value_width = 0;
  for (const auto& [name, value] : rows) {
    name_width = std::max(name_width, name.size());
    value_width = std::max(value_width, value.size());
  }
  std::string text = fmt::format("| {:<{}} | {:>{}} |\n| {:-<{}} | {:->{}}: |\n", "", name_width, "", value_width, "",
                                 name_width, "", value_width - 1);
  for (const auto& [name, value] : rows) {
    text += fmt::format("| {:<{}} | {:>{}} |\n", name, name_width, value, value_width);
  }
  return text;
}

std::string spread_table(const Figures& figures) {
  std::string text = fmt::format("| {:<14} | {:>8} | {:>8} | {:>8} | {:>8} | {:>8} | {:>8} | {:>8} |\n", "ms", "mean",
                                 "p50", "p90", "p95", "p99", "max", "samples");
  text += fmt::format("| {:-<14} | {:->7}: | {:->7}: | {:->7}: | {:->7}: | {:->7}: | {:->7}: | {:->7}: |\n", "", "", "",
                      "", "", "", "", "");
  for (const SpreadRow& row : spread_rows(figures)) {
    text += fmt::format("| {:<14} |", row.name);
    for (const auto& cell : row.cells()) text += fmt::format(" {:>8} |", cell);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string markdown_report(const LoadReport& report) {
  std::string text =
      fmt::format("{}\n\n{}\n{}", report_title(report), summary_table(report), spread_table(report.figures));
  size_t n_told = 0;
  for (const auto& [error, n] : report.figures.n_errors) {
    if (n_told == 0) text += "\n";
    if (n_told++ == kMostErrors) break;
    text += fmt::format("- {} x {}\n", n, error);
  }
  if (n_told > kMostErrors) text += fmt::format("- and {} others\n", report.figures.n_errors.size() - kMostErrors);
  return text;
}

}  // namespace ferrox
