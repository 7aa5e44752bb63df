#include "telemetry/kv_event_publisher.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include <zmq.hpp>

#include "base/log.h"
#include "kv/page_hash.h"
#include "telemetry/kv_event_history.h"
#include "telemetry/wake_signal.h"

namespace ferrox {
namespace {

constexpr size_t kSequenceBytes = 8;

using SequenceBytes = std::array<uint8_t, kSequenceBytes>;

SequenceBytes big_endian(uint64_t number) {
  SequenceBytes bytes;
  for (size_t i = 0; i < kSequenceBytes; ++i) bytes[i] = static_cast<uint8_t>(number >> (56 - 8 * i));
  return bytes;
}

uint64_t from_big_endian(const zmq::message_t& part) {
  uint64_t number = 0;
  for (size_t i = 0; i < kSequenceBytes; ++i) number = number << 8 | static_cast<uint8_t>(part.to_string_view()[i]);
  return number;
}

bool is_bound(std::string_view endpoint) {
  const auto has = [endpoint](std::string_view part) { return endpoint.find(part) != std::string_view::npos; };
  return has("*") || has("::") || has("//0.0.0.0") || endpoint.starts_with("ipc://") ||
         endpoint.starts_with("inproc://");
}

void attach(zmq::socket_t& socket, const std::string& endpoint) {
  if (is_bound(endpoint)) {
    socket.bind(endpoint);
  } else {
    socket.connect(endpoint);
  }
}

Error attach_error(const std::string& endpoint, const zmq::error_t& error) {
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("kv events: '{}': expected an endpoint such as tcp://*:5557, found: {}", endpoint, error.what())};
}

Error no_sockets(std::string_view why) { return Error{ErrorCode::kIo, fmt::format("kv events: no sockets: {}", why)}; }

/// Never waits; false: the socket has no room for it. A socket that has room for a first part has it for the others.
bool send_part(zmq::socket_t& socket, std::string_view bytes, bool is_last) {
  const auto flags = is_last ? zmq::send_flags::dontwait : zmq::send_flags::dontwait | zmq::send_flags::sndmore;
  return socket.send(zmq::buffer(bytes), flags).has_value();
}

/// Two whole replays, since libzmq hears only by halves of this what a client has read: who read all it asked for gets
/// all it asks for next.
int replay_limit(const KvEventPublisherOptions& options) { return 2 * (static_cast<int>(options.most_replayed) + 1); }

std::string_view view_of(const SequenceBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

struct KvEventPublisher::Sockets {
  explicit Sockets(const KvEventPublisherOptions& given)
      : topic(given.topic), history(given.most_replayed, given.most_replayed_bytes) {
    const int linger_ms = static_cast<int>(given.linger.count());
    for (zmq::socket_t* socket : {&publisher, &replay}) {
      socket->set(zmq::sockopt::linger, linger_ms);
      socket->set(zmq::sockopt::ipv6, true);
    }
    publisher.set(zmq::sockopt::sndhwm, static_cast<int>(given.most_unread));
    replay.set(zmq::sockopt::sndhwm, replay_limit(given));
    replay.set(zmq::sockopt::router_mandatory, true);  // says when there is no room
  }

  void publish(const KvEventBatch& batch) {
    std::string payload = encode(batch);
    const SequenceBytes sequence = big_endian(batch.sequence);
    send_part(publisher, topic, false);
    send_part(publisher, view_of(sequence), false);
    send_part(publisher, payload, true);
    if (has_replay) history.keep({batch.sequence, std::move(payload)});
  }

  /// Answers one question, which is [client, empty, sequence]; passes over what isn't. As much as the client has room
  /// for: who leaves answers unread and asks again misses the rest.
  void answer_replay() {
    std::vector<zmq::message_t> parts;
    do {
      zmq::message_t part;
      if (!replay.recv(part, zmq::recv_flags::dontwait)) return;
      parts.push_back(std::move(part));
    } while (parts.back().more());
    if (parts.size() != 3 || parts[1].size() != 0 || parts[2].size() != kSequenceBytes) return;
    const uint64_t first = from_big_endian(parts[2]);
    for (const KvEventMessage& message : history.messages()) {
      if (message.sequence >= first && !answer(parts[0], message.sequence, message.payload)) return;
    }
    answer(parts[0], ~uint64_t{0}, "");
  }

  /// False: the client has left, or has no room.
  bool answer(const zmq::message_t& client, uint64_t number, std::string_view payload) {
    const SequenceBytes sequence = big_endian(number);
    try {
      if (!send_part(replay, client.to_string_view(), false)) return false;
    } catch (const zmq::error_t& error) {
      if (error.num() == EHOSTUNREACH) return false;
      throw;
    }
    send_part(replay, "", false);
    send_part(replay, view_of(sequence), false);
    send_part(replay, payload, true);
    return true;
  }

  /// Until there are events or somebody asks for old ones.
  void wait() {
    std::vector<zmq::pollitem_t> items = {{nullptr, signal.fd(), ZMQ_POLLIN, 0}};
    if (has_replay) items.push_back({replay.handle(), 0, ZMQ_POLLIN, 0});
    try {
      zmq::poll(items, std::chrono::milliseconds(-1));
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
    signal.reset();
  }

  zmq::context_t context{1};
  zmq::socket_t publisher{context, zmq::socket_type::pub};
  zmq::socket_t replay{context, zmq::socket_type::router};
  bool has_replay = false;
  const std::string topic;
  KvEventHistory history;
  WakeSignal signal;
};

Result<std::shared_ptr<KvEventPublisher>> KvEventPublisher::open(KvEventPublisherOptions options) {
  std::unique_ptr<Sockets> sockets;
  try {
    sockets = std::make_unique<Sockets>(options);
  } catch (const zmq::error_t& error) {
    return no_sockets(error.what());
  }
  if (!sockets->signal.is_open()) return no_sockets("the system has no event file");
  try {
    attach(sockets->publisher, options.endpoint);
  } catch (const zmq::error_t& error) {
    return attach_error(options.endpoint, error);
  }
  sockets->has_replay = !options.replay_endpoint.empty();
  try {
    if (sockets->has_replay) attach(sockets->replay, options.replay_endpoint);
  } catch (const zmq::error_t& error) {
    return attach_error(options.replay_endpoint, error);
  }
  return std::shared_ptr<KvEventPublisher>(new KvEventPublisher(options, std::move(sockets)));
}

KvEventPublisher::KvEventPublisher(const KvEventPublisherOptions& options, std::unique_ptr<Sockets> sockets)
    : sockets_(std::move(sockets)), queue_(options.most_queued_bytes, [signal = &sockets_->signal] { signal->set(); }) {
  queue_.push(AllBlocksCleared{});  // whoever knew this server from before its start
  thread_ = std::thread([this] { run(); });
}

KvEventPublisher::~KvEventPublisher() {
  stops_ = true;
  sockets_->signal.set();
  thread_.join();
}

void KvEventPublisher::stored(const StoredPages& pages) {
  BlocksStored event{{pages.hashes.begin(), pages.hashes.end()},
                     pages.parent,
                     {pages.tokens.begin(), pages.tokens.end()},
                     pages.page_rows,
                     pages.space.empty() ? "" : fmt::format("{:016x}", root_hash(pages.space))};
  queue_.push(std::move(event));
}

void KvEventPublisher::removed(std::span<const uint64_t> hashes) {
  queue_.push(BlocksRemoved{{hashes.begin(), hashes.end()}});
}

void KvEventPublisher::cleared() { queue_.push(AllBlocksCleared{}); }

void KvEventPublisher::run() {
  try {
    for (bool goes_on = true; goes_on;) {
      sockets_->wait();
      goes_on = !stops_;  // what was queued before that is sent
      for (const KvEventBatch& batch : queue_.take()) sockets_->publish(batch);
      if (sockets_->has_replay) sockets_->answer_replay();
    }
  } catch (const zmq::error_t& error) {
    log().error("kv events: {}; no more are sent", error.what());
    queue_.close();
  }
}

}  // namespace ferrox
