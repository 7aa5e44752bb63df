#include "telemetry/http_post.h"

#include <curl/curl.h>

#include "base/check.h"

namespace ferrox {
namespace {

constexpr long kConnectMs = 3'000;

void start_curl_once() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(started == CURLE_OK, "libcurl starts");
}

size_t drop_bytes(const char*, size_t size, size_t n, void*) { return size * n; }

int ask_whether_to_stop(void* stops, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<const std::function<bool()>*>(stops))() ? 1 : 0;
}

}  // namespace

struct HttpPost::Handle {
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;

  ~Handle() {
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
  }
};

HttpPost::HttpPost(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
HttpPost::~HttpPost() = default;

Result<std::unique_ptr<HttpPost>> HttpPost::open(HttpPostOptions options) {
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return make_error(ErrorCode::kInvalidArgument, "expected a URL of http or https, found '{}'", options.url);
  }
  start_curl_once();
  auto handle = std::make_unique<Handle>();
  handle->curl = curl_easy_init();
  CHECK(handle->curl != nullptr, "libcurl gives a handle");
  for (const std::string& header : options.headers) {
    handle->headers = curl_slist_append(handle->headers, header.c_str());
  }
  CURL* const curl = handle->curl;
  curl_easy_setopt(curl, CURLOPT_URL, options.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // threads have no use for its SIGALRM
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle->headers);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options.longest.count()));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop_bytes);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, ask_whether_to_stop);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  return std::unique_ptr<HttpPost>(new HttpPost(std::move(handle)));
}

Result<int> HttpPost::send(std::string_view body, const std::function<bool()>& stops) {
  CURL* const curl = handle_->curl;
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stops);
  const CURLcode done = curl_easy_perform(curl);
  if (done == CURLE_ABORTED_BY_CALLBACK) return make_error(ErrorCode::kCancelled, "given up");
  if (done != CURLE_OK) return make_error(ErrorCode::kIo, "{}", curl_easy_strerror(done));
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

}  // namespace ferrox
