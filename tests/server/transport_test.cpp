// Does the transport keep its promises to clients that are polite, wrong, slow, or gone?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/raw_client.h"
#include "server/transport_rig.h"

namespace ferrox {
namespace {

using std::chrono::milliseconds;
using testing::Farewell;
using ::testing::HasSubstr;
using testing::http_request;
using testing::RawClient;
using testing::RawResponse;
using testing::TransportRig;

TEST(Transport, OneConnectionCarriesManyRequests) {
  TransportRig rig;
  RawClient client(rig.port());
  for (int i = 0; i < 3; ++i) {
    client.send(http_request("POST", "/echo?a=b", "hello"));
    const RawResponse response = client.read_response();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /echo|a=b|hello");
    EXPECT_EQ(response.headers.at("x-request-id").size(), 24u);
  }
}

TEST(Transport, PipelinedRequestsAreAnsweredInOrder) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("POST", "/echo", "1") + http_request("GET", "/stream") + http_request("POST", "/echo", "3"));
  EXPECT_EQ(client.read_response().body, "POST /echo||1");
  EXPECT_EQ(client.read_response().body, "onetwothree");
  EXPECT_EQ(client.read_response().body, "POST /echo||3");
}

TEST(Transport, RequestsMayArriveByteByByte) {
  TransportRig rig;
  RawClient client(rig.port());
  for (const char byte : http_request("POST", "/echo", "slow")) client.send(std::string_view(&byte, 1));
  EXPECT_EQ(client.read_response().body, "POST /echo||slow");
}

TEST(Transport, PathsAreDecodedAndAbsoluteTargetsAccepted) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("GET", "/a%2Fb%20c%zz"));
  EXPECT_EQ(client.read_response().body, "GET /a/b c%zz||");
  client.send(http_request("GET", "http://127.0.0.1/echo?x"));
  EXPECT_EQ(client.read_response().body, "GET /echo|x|");
}

TEST(Transport, HeadAnswersWithoutABody) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("HEAD", "/echo"));
  const RawResponse response = client.read_response(true);
  EXPECT_EQ(response.headers.at("content-length"), "12");
  client.send(http_request("GET", "/echo"));
  EXPECT_EQ(client.read_response().body, "GET /echo||");
}

TEST(Transport, ChunkedBodiesAndContinueWork) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 100);
  client.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_response().body, "POST /echo||abcde");
}

TEST(Transport, TrailersAndExtensionsAreReadOver) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nContent-Encoding: identity\r\n\r\n");
  client.send("3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n" + http_request("GET", "/echo"));
  EXPECT_EQ(client.read_response().body, "POST /echo||abc");
  EXPECT_EQ(client.read_response().body, "GET /echo||");
}

TEST(Transport, Http10StreamsEndWithTheConnection) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  const RawResponse response = client.read_response();
  EXPECT_FALSE(response.headers.contains("transfer-encoding"));
  EXPECT_EQ(response.body, "onetwothree");
}

struct BadRequest {
  const char* what;
  std::string bytes;
  int status;
};

std::string repeated(const std::string& piece, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += piece;
  return text;
}

class MalformedRequest : public ::testing::TestWithParam<BadRequest> {};

TEST_P(MalformedRequest, IsRefusedAndTheConnectionEnds) {
  HttpLimits limits;
  limits.max_body_bytes = 1000;
  limits.max_header_bytes = 2000;
  TransportRig rig(limits);
  RawClient client(rig.port());
  client.send(GetParam().bytes);
  const RawResponse response = client.read_response();
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_TRUE(response.complete);
  EXPECT_FALSE(response.body.empty());
  EXPECT_TRUE(client.at_end());
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedRequest,
    ::testing::Values(
        BadRequest{"garbage", "\x16\x03\x01\x02garbage\r\n\r\n", 400},
        BadRequest{"version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400},
        BadRequest{"no_host", "GET / HTTP/1.1\r\n\r\n", 400},
        BadRequest{"header_name", "GET / HTTP/1.1\r\nHost: x\r\nbad name: 1\r\n\r\n", 400},
        BadRequest{"length_not_a_number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
        BadRequest{"two_lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", 400},
        BadRequest{"length_and_chunks",
                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   400},
        BadRequest{"chunk_size", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
        BadRequest{"target", "GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        BadRequest{"long_header", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(4000, 'a') + "\r\n\r\n", 431},
        BadRequest{"long_body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'a'),
                   413},
        BadRequest{"long_chunks",
                   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'a') +
                       "\r\n0\r\n\r\n",
                   413},
        BadRequest{"long_trailer",
                   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" +
                       repeated("X: y\r\n", 4000) + "\r\n",
                   431},
        BadRequest{"long_chunk_extension",
                   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;x=" +
                       std::string(16000, 'a') + "\r\na\r\n0\r\n\r\n",
                   431},
        BadRequest{"many_chunk_extensions",
                   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                       repeated("1;x=" + std::string(100, 'a') + "\r\na\r\n", 100) + "0\r\n\r\n",
                   413},
        BadRequest{
            "transfer_coding_identity",
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n" + http_request("GET", "/echo"),
            400},
        BadRequest{"transfer_coding_gzip",
                   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
        BadRequest{"transfer_coding_last_gzip",
                   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400},
        BadRequest{"transfer_coding_of_http10",
                   "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        BadRequest{"two_hosts", "GET /echo HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", 400},
        BadRequest{"two_origins", http_request("GET", "/echo", "", "Origin: http://a\r\nOrigin: http://b\r\n"), 400},
        BadRequest{"two_places", http_request("GET", "/echo", "", "Last-Event-ID: a:1\r\nLast-Event-ID: a:2\r\n"), 400},
        BadRequest{"two_wishes",
                   http_request("GET", "/echo", "", "X-Ferrox-Resumable: false\r\nX-Ferrox-Resumable: true\r\n"), 400},
        BadRequest{"gzip", http_request("POST", "/echo", "{}", "Content-Encoding: gzip\r\n"), 415},
        BadRequest{"expectation", http_request("POST", "/echo", "{}", "Expect: miracles\r\n"), 417},
        BadRequest{"refused_with_body", "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nx", 403}),
    [](const auto& param_info) { return std::string(param_info.param.what); });

TEST(Transport, ARefusalReachesAClientThatIsStillSending) {
  TransportRig rig;
  RawClient client(rig.port());
  const std::string body(33u << 20, 'a');
  client.send(http_request("POST", "/echo", body));
  EXPECT_EQ(client.read_response().status, 413);
}

TEST(Transport, BodiesTogetherAreBoundedByWhatHasCome) {
  HttpLimits limits;
  limits.max_bodies_bytes = 1000;
  TransportRig rig(limits);
  RawClient announced(rig.port());
  announced.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n");
  RawClient chunked(rig.port());
  chunked.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  while (rig.n_busy() < 2) std::this_thread::yield();
  RawClient first(rig.port());
  first.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n" + std::string(899, 'a'));
  while (rig.n_body_bytes() < 899) std::this_thread::yield();
  RawClient second(rig.port());
  second.send(http_request("POST", "/echo", std::string(200, 'b')));
  EXPECT_EQ(second.read_response().status, 503);
  first.send("a");
  EXPECT_EQ(first.read_response().status, 200);
  while (rig.n_body_bytes() > 0) std::this_thread::yield();
  RawClient third(rig.port());
  third.send(http_request("POST", "/echo", std::string(200, 'b')));
  EXPECT_EQ(third.read_response().status, 200);
  announced.send(std::string(1001, 'a'));
  EXPECT_EQ(announced.read_response().status, 503) << "more than there is room for";
}

TEST(Transport, ABodyThatIsLetGoTakesNoRoom) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("POST", "/wait", std::string(900, 'a')));
  rig.service.waiting.get_future().wait();
  EXPECT_EQ(rig.n_body_bytes(), 0u);
  client.close();
  rig.service.gone.get_future().wait();
}

TEST(Transport, AServiceMayAskForSmallBodies) {
  TransportRig rig;
  const auto status_of = [&](const std::string& request) {
    RawClient client(rig.port());
    client.send(request);
    return client.read_response().status;
  };
  EXPECT_EQ(status_of(http_request("POST", "/small", std::string(100, 'a'))), 200);
  EXPECT_EQ(status_of("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"), 413) << "before it comes";
  const std::string chunked = "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(chunked + "64\r\n" + std::string(100, 'a') + "\r\n0\r\n\r\n"), 200);
  EXPECT_EQ(status_of(chunked + "65\r\n"), 413);
}

TEST(Transport, AnAnswerWithoutContentDescribesNone) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("GET", "/nothing"));
  const RawResponse response = client.read_response();
  EXPECT_EQ(response.status, 204);
  EXPECT_FALSE(response.headers.contains("content-length"));
  EXPECT_FALSE(response.headers.contains("content-type"));
  EXPECT_TRUE(response.headers.contains("x-request-id"));
  client.send(http_request("GET", "/echo"));
  EXPECT_EQ(client.read_response().body, "GET /echo||");
}

TEST(Transport, AConnectionThatComesBesideTheEndIsClosed) {
  TransportRig rig;
  std::unique_ptr<RawClient> late;
  // Nobody accepts while this runs, and what is posted runs before what was accepted.
  rig.on_io_thread([&] {
    late = std::make_unique<RawClient>(rig.port());
    asio::post(rig.io, [&] {
      rig.listener->stop();
      rig.listener->connections().close_all();
    });
    return 0;
  });
  late->send(http_request("GET", "/echo"));
  EXPECT_EQ(late->read_response().status, 0);
}

class LeavingClient : public ::testing::TestWithParam<Farewell> {};

TEST_P(LeavingClient, IsNoticedWhileTheAnswerIsMade) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("GET", "/wait"));
  rig.service.waiting.get_future().wait();
  client.leave(GetParam());
  EXPECT_EQ(rig.service.gone.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(All, LeavingClient,
                         ::testing::Values(Farewell::kClose, Farewell::kHalfClose, Farewell::kReset));

TEST(Transport, APipeliningClientIsNoticedToo) {
  TransportRig rig;
  RawClient client(rig.port());
  client.send(http_request("GET", "/wait") + http_request("GET", "/echo"));
  rig.service.waiting.get_future().wait();
  client.close();
  EXPECT_EQ(rig.service.gone.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(Transport, AClientThatNeverReadsIsCutOff) {
  HttpLimits limits;
  limits.write_timeout = milliseconds(200);
  TransportRig rig(limits);
  RawClient client(rig.port(), 4096);
  client.send(http_request("GET", "/flood"));
  const size_t n_bytes = rig.service.flooded.get_future().get();
  EXPECT_LT(n_bytes, 16u << 20);
  RawClient other(rig.port());
  other.send(http_request("GET", "/echo"));
  EXPECT_EQ(other.read_response().status, 200);
}

TEST(Transport, AWholeAnswerThatNobodyReadsIsCutOff) {
  HttpLimits limits;
  limits.write_timeout = milliseconds(200);
  TransportRig rig(limits);
  RawClient client(rig.port(), 4096);
  client.send(http_request("POST", "/echo", std::string(16u << 20, 'x')));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (rig.n_connections() > 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(rig.n_connections(), 0u);
  EXPECT_FALSE(client.read_response().complete);
}

TEST(Transport, IdleConnectionsAreClosed) {
  HttpLimits limits;
  limits.idle_timeout = milliseconds(100);
  TransportRig rig(limits);
  RawClient silent(rig.port());
  EXPECT_TRUE(silent.at_end());
  RawClient halfway(rig.port());
  halfway.send("GET /echo HTT");
  EXPECT_TRUE(halfway.at_end());
}

TEST(Transport, MoreConnectionsThanAllowedWaitTheirTurn) {
  HttpLimits limits;
  limits.max_connections = 4;
  TransportRig rig(limits);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(std::make_unique<RawClient>(rig.port()));
    clients.back()->send(http_request("GET", "/echo", "", "Connection: close\r\n"));
  }
  for (auto& client : clients) EXPECT_EQ(client->read_response().status, 200);
}

TEST(Transport, WhoSaysNothingMakesRoomForThoseWhoAsk) {
  HttpLimits limits;
  limits.max_connections = 4;
  TransportRig rig(limits);
  RawClient kept(rig.port());
  kept.send(http_request("GET", "/echo"));
  EXPECT_EQ(kept.read_response().status, 200);
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<RawClient>(rig.port()));
  RawClient client(rig.port());
  client.send(http_request("POST", "/echo", "here"));
  EXPECT_EQ(client.read_response().body, "POST /echo||here");
  EXPECT_TRUE(kept.at_end()) << "it had said nothing for longest";
}

TEST(Transport, HundredsOfIdleConnectionsDontDisturb) {
  TransportRig rig;
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 400; ++i) idle.push_back(std::make_unique<RawClient>(rig.port()));
  RawClient client(rig.port());
  client.send(http_request("POST", "/echo", "here"));
  EXPECT_EQ(client.read_response().body, "POST /echo||here");
  for (auto& one : idle) {
    one->send(http_request("GET", "/echo"));
    EXPECT_EQ(one->read_response().status, 200);
  }
}

TEST(Transport, EveryRequestIsToldOfOnceUnderTheIdThatItsClientSaw) {
  HttpLimits limits;
  limits.max_body_bytes = 100;
  TransportRig rig(limits);
  const std::string requests[] = {http_request("POST", "/echo", "x"),
                                  http_request("GET", "/stream"),
                                  http_request("POST", "/refused", "x"),
                                  http_request("GET", "/refused"),
                                  http_request("POST", "/echo", std::string(200, 'x')),
                                  "nonsense\r\n\r\n"};
  const int statuses[] = {200, 200, 403, 403, 413, 400};
  std::vector<std::string> ids;
  for (const std::string& request : requests) {
    RawClient client(rig.port());
    client.send(request);
    const RawResponse response = client.read_response();
    ids.push_back(response.headers.at("x-request-id"));
    if (response.headers.contains("x-probe-id")) {
      EXPECT_EQ(response.headers.at("x-probe-id"), ids.back());
    }
  }
  {
    RawClient client(rig.port());
    client.send(http_request("GET", "/wait"));
    rig.service.waiting.get_future().wait();
    client.close();
    rig.service.gone.get_future().wait();
  }
  while (rig.n_busy() > 0) std::this_thread::yield();
  const std::lock_guard lock(rig.service.mutex);
  ASSERT_EQ(rig.service.ended.size(), 7u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(rig.service.ended[i].id, ids[i]);
    EXPECT_EQ(rig.service.ended[i].outcome.status, statuses[i]);
    EXPECT_TRUE(rig.service.ended[i].outcome.is_complete);
  }
  EXPECT_EQ(rig.service.ended[4].path, "/echo") << "of what was refused for its body the head is known";
  EXPECT_EQ(rig.service.ended[6].outcome.status, 0);
  EXPECT_FALSE(rig.service.ended[6].outcome.is_complete);
}

TEST(Transport, AnAddressInUseIsAnError) {
  TransportRig rig;
  const auto again = Listener::open(rig.io.get_executor(), "127.0.0.1", rig.port(), rig.service, rig.limits);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("in use"));
  EXPECT_FALSE(Listener::open(rig.io.get_executor(), "no.such.host.invalid", 0, rig.service, rig.limits));
}

}  // namespace
}  // namespace ferrox
