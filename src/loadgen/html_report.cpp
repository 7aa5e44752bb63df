#include "loadgen/html_report.h"

#include <fmt/format.h>

#include "loadgen/html_text.h"
#include "loadgen/svg_plot.h"

namespace ferrox {
namespace {

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { --paper: #ffffff; --ink: #1b1f24; --faint: #d5dae0; --muted: #57606a; --blue: #1f6fd0; --wait: #b3c0cf;
  --red: #c6362c; --orange: #c77700; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --ink: #e6e9ed; --faint: #333b45; --muted: #9aa4b0; --blue: #62a8ff; --wait: #55626f;
    --red: #ff7b72; --orange: #f0a840; }
}
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.8rem 0.2rem 0; text-align: right; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
th { color: var(--muted); font-weight: 600; }
svg { width: 100%; height: auto; }
svg text { fill: var(--muted); font-size: 11px; }
.grid { stroke: var(--faint); stroke-width: 1; }
.curve { fill: none; stroke: var(--blue); stroke-width: 2; }
.limit { stroke: var(--orange); stroke-width: 1.5; stroke-dasharray: 5 4; }
.wait { fill: var(--wait); background: var(--wait); }
.tokens { fill: var(--blue); background: var(--blue); }
.bad { fill: var(--red); background: var(--red); }
.dropped { fill: var(--orange); background: var(--orange); }
.key { display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.3em 0 1em; }
.note { color: var(--muted); }
</style>
)";

constexpr const char* kTimelineKey =
    "<p class=\"note\"><span class=\"key wait\"></span>waiting for the first token<span class=\"key tokens\"></span>"
    "tokens<span class=\"key bad\"></span>refused or failed<span class=\"key dropped\"></span>dropped by the "
    "load</p>\n";

std::string table_of_pairs(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (const auto& [name, value] : rows) {
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(name), html_text(value));
  }
  return html + "</table></div>\n";
}

std::string table_of_spreads(const Figures& figures) {
  std::string html =
      "<div class=\"wide\"><table>\n<tr><th>milliseconds</th><th>mean</th><th>p50</th><th>p90</th><th>p95</th>"
      "<th>p99</th><th>max</th><th>samples</th></tr>\n";
  for (const SpreadRow& row : spread_rows(figures)) {
    html += fmt::format("<tr><td>{}</td>", row.name);
    for (const auto& cell : row.cells()) html += fmt::format("<td>{}</td>", cell);
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string distribution(const char* title, std::vector<double> samples, std::optional<double> limit_ms) {
  std::string html = fmt::format("<h2>{}</h2>\n", title);
  if (samples.empty()) return html + "<p class=\"note\">no samples</p>\n";
  const char* note = limit_ms ? "; dashed: the limit that was asked for" : "";
  html += fmt::format("<p class=\"note\">share of {} samples up to each time{}</p>\n", samples.size(), note);
  return html + svg_distribution(std::move(samples), limit_ms, title);
}

std::string timeline(const LoadReport& report) {
  const size_t n_sent = report.records.size() - report.figures.n_of(Outcome::kSkipped);
  std::string html = "<h2>Requests over time</h2>\n";
  if (n_sent > kMostTimelineRows) {
    html += fmt::format("<p class=\"note\">the first {} of {}</p>\n", kMostTimelineRows, n_sent);
  }
  return html + kTimelineKey + svg_timeline(report.records, "requests over time");
}

std::string errors(const Figures& figures) {
  if (figures.n_errors.empty()) return {};
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [error, n] : figures.n_errors) rows.emplace_back(error, std::to_string(n));
  return "<h2>What went wrong</h2>\n" + table_of_pairs(rows);
}

std::string settings_table(const ReportJson& settings) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, value] : settings.items()) {
    rows.emplace_back(name, value.is_string() ? value.get<std::string>()
                                              : value.dump(-1, ' ', false, ReportJson::error_handler_t::replace));
  }
  return "<h2>Settings</h2>\n" + table_of_pairs(rows);
}

}  // namespace

std::string html_report(const LoadReport& report) {
  const Figures& figures = report.figures;
  const std::string title = html_text(report_title(report));
  std::string html = fmt::format("{}<title>{}</title>\n</head>\n<body>\n<h1>{}</h1>\n", kHead, title, title);
  html += table_of_pairs(summary_rows(report)) + table_of_spreads(figures);
  html += distribution("Time to the first token", all_ttft_ms(report.records), report.level.ttft_ms);
  html += distribution("Time between tokens", all_gaps_ms(report.records), report.level.itl_ms);
  html += timeline(report) + errors(figures) + settings_table(report.settings);
  return html + "</body>\n</html>\n";
}

}  // namespace ferrox
