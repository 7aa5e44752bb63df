#include "telemetry/span_exporter.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "telemetry/otlp_json.h"

namespace ferrox {
namespace {

/// Statuses after which OTLP lets a client send the same once more.
bool may_send_again(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

bool is_taken(int status) { return status >= 200 && status < 300; }

/// Without what may be secret: user and password, query and fragment.
std::string url_to_show(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t scheme = url.find("://");
  const size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t path = url.find('/', host);
  const size_t at = url.substr(0, path).rfind('@');
  const bool has_user = at != std::string_view::npos && at >= host;
  return std::string(url.substr(0, host)).append(url.substr(has_user ? at + 1 : host));
}

}  // namespace

Result<std::shared_ptr<SpanExporter>> SpanExporter::open(SpanExporterOptions options) {
  HttpPostOptions post{options.url, options.headers, options.post_timeout};
  post.headers.insert(post.headers.begin(), {"content-type: application/json", "expect:"});
  TRY_ASSIGN(auto opened, HttpPost::open(std::move(post)));
  return std::shared_ptr<SpanExporter>(new SpanExporter(std::move(options), std::move(opened)));
}

SpanExporter::SpanExporter(SpanExporterOptions options, std::unique_ptr<HttpPost> post)
    : options_(std::move(options)), post_(std::move(post)), thread_([this] { run(); }) {}

SpanExporter::~SpanExporter() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    deadline_ = Clock::now() + options_.last_flush;
  }
  changed_.notify_all();
  thread_.join();
}

void SpanExporter::add(std::vector<Span> spans) {
  {
    const std::lock_guard lock(mutex_);
    if (stops_ || queue_.size() + spans.size() > options_.most_queued) {
      stats_.n_dropped += spans.size();
      return;
    }
    queue_.insert(queue_.end(), std::make_move_iterator(spans.begin()), std::make_move_iterator(spans.end()));
  }
  changed_.notify_all();
}

SpanExporterStats SpanExporter::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void SpanExporter::run() {
  for (;;) {
    const std::vector<Span> spans = take_some();
    if (spans.empty()) return;
    const bool is_sent = send(spans);
    const std::lock_guard lock(mutex_);
    (is_sent ? stats_.n_sent : stats_.n_dropped) += spans.size();
  }
}

/// Waits for a first span and a while for others; none at the end.
std::vector<Span> SpanExporter::take_some() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stops_ || !queue_.empty(); });
  changed_.wait_for(lock, options_.gather, [this] { return stops_ || queue_.size() >= options_.most_sent; });
  const auto n = static_cast<ptrdiff_t>(std::min(queue_.size(), options_.most_sent));
  std::vector<Span> taken(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.begin() + n));
  queue_.erase(queue_.begin(), queue_.begin() + n);
  return taken;
}

bool SpanExporter::is_late() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() >= deadline_;
}

/// Waits, and less long when the end comes; false: nothing more may be tried.
bool SpanExporter::pause(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [this] { return stops_; });
  if (!stops_) return true;
  lock.unlock();
  std::this_thread::sleep_for(std::min(longest, std::chrono::milliseconds(100)));
  return !is_late();
}

bool SpanExporter::send(const std::vector<Span>& spans) {
  const std::string body = otlp_json(spans, options_.service);
  std::chrono::milliseconds wait = options_.retry;
  for (int attempt = 1; !is_late(); ++attempt, wait *= 2) {
    const Result<int> status = post_->send(body, [this] { return is_late(); });
    if (status && is_taken(*status)) {
      has_warned_ = false;
      return true;
    }
    if (!has_warned_) {
      const std::string why = status ? fmt::format("status {}", *status) : status.error().message;
      log().warn("traces: {}: {}; not said again until spans are taken", url_to_show(options_.url), why);
      has_warned_ = true;
    }
    const bool is_worth_it = status ? may_send_again(*status) : status.error().code == ErrorCode::kIo;
    if (!is_worth_it || attempt >= options_.most_attempts || !pause(wait)) return false;
  }
  return false;
}

}  // namespace ferrox
