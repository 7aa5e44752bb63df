#include "cli/bench_profile.h"

#include <algorithm>

#include <fmt/format.h>

namespace ferrox {
namespace {

constexpr int kNameWidth = 28;

/// The root has no time of its own: it is what its children took.
double seconds_of(const ProfileNode& node) {
  if (node.n_calls > 0) return static_cast<double>(node.time_ns) * 1e-9;
  double total = 0;
  for (const ProfileNode& child : node.children) total += seconds_of(child);
  return total;
}

std::string limit_text(const Work& work, double seconds, const MachineLimits& limits) {
  const LimitTime least = limit_time(work, limits);
  if (least.seconds <= 0 || seconds <= 0) return "";
  return fmt::format("{:.0f} % of {}", 100 * least.seconds / seconds, least.limit);
}

class TreePrinter {
 public:
  TreePrinter(const ProfileUnit& unit, const MachineLimits& limits, double total_seconds)
      : count_(static_cast<double>(std::max<int64_t>(unit.count, 1))), limits_(limits), total_(total_seconds) {}

  void print(const ProfileNode& node, int depth) {
    const double seconds = seconds_of(node);
    const double waiting = static_cast<double>(total_waiting_ns(node)) * 1e-9;
    const Work work = total_work(node);
    text_ +=
        fmt::format("{:<{}} {:>9.3f} {:>6.1f} % {:>6.1f} % {:>9.2f} {:>9.3f}  {}\n",
                    std::string(static_cast<size_t>(2 * depth), ' ') + node.name, kNameWidth, 1e3 * seconds / count_,
                    100 * seconds / total_, 100 * waiting / total_, 1e-6 * work.bytes / count_,
                    1e-9 * (work.int8_operations + work.f32_operations) / count_, limit_text(work, seconds, limits_));
    for (const ProfileNode& child : node.children) print(child, depth + 1);
  }

  std::string text() && { return std::move(text_); }

 private:
  double count_;
  const MachineLimits& limits_;
  double total_;
  std::string text_;
};

}  // namespace

LimitTime limit_time(const Work& work, const MachineLimits& limits) {
  const double reading = limits.read_bytes > 0 ? work.bytes / limits.read_bytes : 0;
  const double int8 = limits.int8_operations > 0 ? work.int8_operations / limits.int8_operations : 0;
  const double f32 = limits.f32_operations > 0 ? work.f32_operations / limits.f32_operations : 0;
  if (reading >= int8 + f32) return {"read", reading};
  return {int8 >= f32 ? "int8" : "f32", int8 + f32};
}

std::string profile_text(const ProfileNode& root, const ProfileUnit& unit, const MachineLimits& limits) {
  const double total = seconds_of(root);
  std::string head = fmt::format("\n{:<{}} {:>9} {:>8} {:>8} {:>9} {:>9}  {}\n", unit.name, kNameWidth, "ms", "share",
                                 "waiting", "MB", "GOP", "of the limit");
  TreePrinter printer(unit, limits, total > 0 ? total : 1);
  for (const ProfileNode& child : root.children) printer.print(child, 0);
  return head + std::move(printer).text();
}

nlohmann::ordered_json profile_json(const ProfileNode& node) {
  const Work work = total_work(node);
  nlohmann::ordered_json json = {{"name", node.name},
                                 {"n_calls", node.n_calls},
                                 {"time_ns", static_cast<int64_t>(seconds_of(node) * 1e9)},
                                 {"waiting_ns", total_waiting_ns(node)},
                                 {"bytes", work.bytes},
                                 {"int8_operations", work.int8_operations},
                                 {"f32_operations", work.f32_operations},
                                 {"children", nlohmann::ordered_json::array()}};
  for (const ProfileNode& child : node.children) json["children"].push_back(profile_json(child));
  return json;
}

}  // namespace ferrox
