// Which events does a stream of server-sent events hold? Bytes come in pieces that are cut anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferrox {

/// Lines end with LF, CRLF or CR; comments and fields other than `data` are passed over; the data lines of one event
/// are joined with LF.
class SseReader {
 public:
  /// The data of the events that end within `bytes`.
  std::vector<std::string> take(std::string_view bytes);

  /// The data of an event that the stream's end left open; empty when there is none.
  std::string finish();

 private:
  void end_line(std::vector<std::string>& events);

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool is_first_line_ = true;
};

}  // namespace ferrox
