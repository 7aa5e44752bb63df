// How is a body sent to a collector? By libcurl, with limits, and ended early when the process stops.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ferrox {

struct HttpPostOptions {
  std::string url;                            ///< http:// or https://
  std::vector<std::string> headers;           ///< "name: value"
  std::chrono::milliseconds longest{10'000};  ///< one post may take
};

/// One connection that is kept. One thread uses it.
class HttpPost {
 public:
  /// kInvalidArgument: a URL that isn't http or https.
  static Result<std::unique_ptr<HttpPost>> open(HttpPostOptions options);
  ~HttpPost();
  HttpPost(const HttpPost&) = delete;
  HttpPost& operator=(const HttpPost&) = delete;

  /// The status of the answer, whose body is dropped. kIo: none came. `stops` is asked several times a second; true
  /// gives up (kCancelled).
  Result<int> send(std::string_view body, const std::function<bool()>& stops);

 private:
  struct Handle;
  explicit HttpPost(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace ferrox
