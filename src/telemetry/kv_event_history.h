// Which messages can be sent once more? The last ones, within a number and a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace ferrox {

struct KvEventMessage {
  uint64_t sequence;
  std::string payload;
};

class KvEventHistory {
 public:
  KvEventHistory(size_t most_messages, size_t most_bytes) : most_messages_(most_messages), most_bytes_(most_bytes) {}

  void keep(KvEventMessage message) {
    n_bytes_ += message.payload.size();
    messages_.push_back(std::move(message));
    while (messages_.size() > most_messages_ || n_bytes_ > most_bytes_) {
      n_bytes_ -= messages_.front().payload.size();
      messages_.pop_front();
    }
  }

  const std::deque<KvEventMessage>& messages() const { return messages_; }

 private:
  const size_t most_messages_;
  const size_t most_bytes_;
  std::deque<KvEventMessage> messages_;
  size_t n_bytes_ = 0;
};

}  // namespace ferrox
