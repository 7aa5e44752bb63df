#include "loadgen/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "loadgen/html_text.h"
#include "loadgen/plot_axis.h"

namespace ferrox {
namespace {

// In the drawing's own units; the page scales it to its width.
constexpr double kWidth = 720;
constexpr double kLeft = 48;
constexpr double kRight = kWidth - 16;
constexpr double kTop = 12;
constexpr double kBelow = 34;  // for marks under the axis
constexpr double kPlotHeight = 220;
constexpr size_t kMostPoints = 600;

/// Events that came in one read have no time between them: an axis that showed it would show nothing else.
constexpr double kMostSpread = 1e4;

std::string svg_begin(double height, const std::string& title) {
  return fmt::format("<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height,
                     html_text(title));
}

std::string svg_line(const char* style, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1, y1,
                     x2, y2);
}

std::string svg_label(const char* anchor, double x, double y, const std::string& text) {
  return fmt::format("<text text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", anchor, x, y, html_text(text));
}

/// Marks of the axis of times, from `top` down to `bottom`.
template <class Axis>
std::string time_marks(const Axis& axis, double top, double bottom, double unit_ms, const char* unit) {
  std::string svg;
  double free_from = 0;
  for (const double mark : axis.marks()) {
    const double x = axis.at(mark);
    svg += svg_line("grid", x, top, x, bottom);
    if (x < free_from) continue;  // names would run into each other
    svg += svg_label("middle", x, bottom + 16, fmt::format("{:g}", mark / unit_ms));
    free_from = x + 40;
  }
  return svg + svg_label("end", kRight, bottom + 31, unit);
}

/// Which samples a line of few points goes through: the first and the last, and others at equal ranks.
std::vector<size_t> thinned(size_t n) {
  const size_t n_points = std::min(n, kMostPoints);
  std::vector<size_t> picked;
  for (size_t i = 0; i < n_points; ++i) picked.push_back(n_points == 1 ? 0 : i * (n - 1) / (n_points - 1));
  return picked;
}

void add_bar(std::string& svg, const char* style, double x1, double x2, double y, double height,
             const std::string& told) {
  svg += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}</title></rect>\n",
      style, x1, y, std::max(x2 - x1, 0.5), height, html_text(told));
}

const char* bar_style(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRefused:
    case Outcome::kFailed:
      return "bad";
    case Outcome::kCancelled:
      return "dropped";
    default:
      return "tokens";
  }
}

void add_request(std::string& svg, const RequestRecord& record, const LinearAxis& axis, double y, double height) {
  const std::string told =
      fmt::format("conversation {}, turn {}: {}, {:.0f} to {:.0f} ms, {} tokens{}{}", record.conversation, record.turn,
                  outcome_name(record.outcome), record.due_ms, record.end_ms, record.output_tokens(),
                  record.error.empty() ? "" : ", ", record.error);
  const double due = axis.at(record.due_ms);
  const double end = axis.at(record.end_ms);
  const bool is_answered = !record.token_ms.empty();
  const double first = is_answered ? axis.at(record.token_ms.front()) : end;
  const bool is_bad = record.outcome == Outcome::kRefused || record.outcome == Outcome::kFailed;
  if (is_answered || !is_bad) add_bar(svg, "wait", due, first, y, height, told);
  add_bar(svg, bar_style(record.outcome), is_answered || !is_bad ? first : due, end, y, height, told);
}

}  // namespace

std::string svg_distribution(std::vector<double> samples, std::optional<double> limit_ms, const std::string& title) {
  std::sort(samples.begin(), samples.end());
  const double bottom = kTop + kPlotHeight;
  const LogAxis axis(std::max(samples.front(), samples.back() / kMostSpread), samples.back(), kLeft, kRight);
  const auto height_of = [&](double share) { return bottom - share * kPlotHeight; };
  std::string svg = svg_begin(bottom + kBelow, title) + time_marks(axis, kTop, bottom, 1, "milliseconds");
  for (const int percent : {0, 25, 50, 75, 90, 100}) {
    const double y = height_of(percent / 100.0);
    svg += svg_line("grid", kLeft, y, kRight, y) + svg_label("end", kLeft - 6, y + 4, fmt::format("{} %", percent));
  }
  if (limit_ms) svg += svg_line("limit", axis.at(*limit_ms), kTop, axis.at(*limit_ms), bottom);
  std::string path = fmt::format("M{:.1f} {:.1f}", axis.at(samples.front()), bottom);
  for (const size_t i : thinned(samples.size())) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(samples.size());
    path += fmt::format("H{:.1f}V{:.1f}", axis.at(samples[i]), height_of(share));
  }
  return svg + fmt::format("<path class=\"curve\" d=\"{}\"/>\n</svg>\n", path);
}

std::string svg_timeline(const std::vector<RequestRecord>& records, const std::string& title) {
  std::vector<const RequestRecord*> rows;
  double end_ms = 0;
  for (const auto& record : records) {
    if (record.outcome == Outcome::kSkipped || rows.size() == kMostTimelineRows) continue;
    rows.push_back(&record);
    end_ms = std::max(end_ms, record.end_ms);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->due_ms < b->due_ms; });
  const double row_height = std::clamp(480.0 / static_cast<double>(std::max<size_t>(rows.size(), 1)), 2.0, 12.0);
  const double bottom = kTop + row_height * static_cast<double>(rows.size());
  const LinearAxis axis(end_ms, kLeft, kRight);
  std::string svg = svg_begin(bottom + kBelow, title) + time_marks(axis, kTop, bottom, 1000, "seconds");
  for (size_t i = 0; i < rows.size(); ++i) {
    add_request(svg, *rows[i], axis, kTop + row_height * static_cast<double>(i), row_height * 0.8);
  }
  return svg + "</svg>\n";
}

}  // namespace ferrox
