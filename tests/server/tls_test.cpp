// Is a connection through TLS like any other, and does nobody hold one who speaks something else?
#include "server/http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "server/self_signed.h"
#include "server/server_rig.h"
#include "server/tls_client.h"
#include "server/transport_rig.h"

namespace ferrox {
namespace {

using namespace std::string_literals;
using std::chrono::milliseconds;
using testing::Farewell;
using ::testing::HasSubstr;
using testing::http_request;
using testing::RawClient;
using testing::RawResponse;
using testing::SelfSigned;
using testing::ServerRig;
using testing::TlsClient;
using testing::TransportRig;

/// A transport that speaks TLS.
class TlsRig {
 public:
  explicit TlsRig(const HttpLimits& limits = {})
      : context_(open_tls(files_.cert_file(), files_.key_file()).value()), transport(limits, context_.get()) {}
  uint16_t port() const { return transport.port(); }

 private:
  SelfSigned files_;
  std::unique_ptr<asio::ssl::context> context_;

 public:
  TransportRig transport;
};

void wait_until_empty(TransportRig& rig) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (rig.n_connections() > 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(rig.n_connections(), 0u);
}

TEST(Tls, OneConnectionCarriesWholeAnswersAndStreams) {
  const TlsRig rig;
  TlsClient client(rig.port());
  ASSERT_TRUE(client.connected());
  for (int i = 0; i < 3; ++i) {
    client.send(http_request("POST", "/echo?a=b", "hello") + http_request("GET", "/stream"));
    EXPECT_EQ(client.read_response().body, "POST /echo|a=b|hello");
    EXPECT_EQ(client.read_response().body, "onetwothree");
  }
}

TEST(Tls, LargeBodiesPassBothWays) {
  const TlsRig rig;
  TlsClient client(rig.port());
  const std::string body(3 << 20, 'b');
  client.send(http_request("POST", "/echo", body));
  EXPECT_EQ(client.read_response().body, "POST /echo||" + body);
}

TEST(Tls, Versions12And13AreSpokenAndNoneBefore) {
  const TlsRig rig;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(rig.port(), version);
    ASSERT_TRUE(client.connected());
    client.send(http_request("GET", "/echo"));
    EXPECT_EQ(client.read_response().status, 200);
    EXPECT_EQ(SSL_version(client.ssl()), version);
  }
  EXPECT_FALSE(TlsClient(rig.port(), TLS1_1_VERSION).connected());
}

TEST(Tls, AnAnswerThatEndsWithTheConnectionIsToldFromOneThatWasCut) {
  const TlsRig rig;
  TlsClient client(rig.port());
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.read_response().body, "onetwothree");
  EXPECT_EQ(client.last_error(), SSL_ERROR_ZERO_RETURN);
}

TEST(Tls, ARefusalIsReadWhileItsBodyIsStillSent) {
  HttpLimits limits;
  limits.max_body_bytes = 1000;
  const TlsRig rig(limits);
  TlsClient client(rig.port());
  client.send(http_request("POST", "/echo", std::string(100'000, 'b')));
  EXPECT_EQ(client.read_response().status, 413);
  EXPECT_TRUE(client.at_end());
}

class LeavingTlsClient : public ::testing::TestWithParam<Farewell> {};

// D1: seen while the answer is made, whether the client says that it goes or not.
TEST_P(LeavingTlsClient, IsNoticedWhileTheAnswerIsMade) {
  TlsRig rig;
  TlsClient client(rig.port());
  client.send(http_request("GET", "/wait"));
  rig.transport.service.waiting.get_future().wait();
  if (GetParam() == Farewell::kHalfClose) {
    SSL_shutdown(client.ssl());
  } else {
    client.leave(GetParam());
  }
  EXPECT_EQ(rig.transport.service.gone.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(All, LeavingTlsClient,
                         ::testing::Values(Farewell::kClose, Farewell::kHalfClose, Farewell::kReset));

TEST(Tls, AnAnswerGoesOnAfterItsClientWasWatched) {
  TlsRig rig;
  TlsClient client(rig.port());
  for (int i = 0; i < 20; ++i) {
    client.send(http_request("GET", "/watched"));
    EXPECT_EQ(client.read_response().body, "GET /watched||") << "the watch's read was cancelled, nothing of it is lost";
  }
}

TEST(Tls, AClientThatNeverReadsIsCutOff) {
  HttpLimits limits;
  limits.write_timeout = milliseconds(200);
  TlsRig rig(limits);
  TlsClient client(rig.port(), 0, 4096);
  client.send(http_request("GET", "/flood"));
  EXPECT_LT(rig.transport.service.flooded.get_future().get(), 16u << 20);
  TlsClient other(rig.port());
  other.send(http_request("GET", "/echo"));
  EXPECT_EQ(other.read_response().status, 200);
}

// A slow or absent handshake holds a connection for its limit and no longer; others don't wait for it.
TEST(Tls, AHandshakeThatDoesntComeEndsAtItsLimit) {
  HttpLimits limits;
  limits.handshake_timeout = milliseconds(100);
  TlsRig rig(limits);
  RawClient silent(rig.port());
  RawClient halfway(rig.port());
  halfway.send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc"s);  // the head of a greeting of 512 bytes
  TlsClient other(rig.port());
  other.send(http_request("GET", "/echo"));
  EXPECT_EQ(other.read_response().status, 200);
  other.close();
  EXPECT_TRUE(silent.at_end());
  EXPECT_TRUE(halfway.at_end());
  wait_until_empty(rig.transport);
}

TEST(Tls, OtherBytesThanTlsEndTheConnectionCleanly) {
  TlsRig rig;
  const std::string inputs[] = {http_request("POST", "/echo", std::string(50'000, 'x')), std::string(200'000, '\0'),
                                "\x16\x03\x01\xff\xff"s + std::string(70'000, '\x7f'), "SSH-2.0-x\r\n"};
  for (const std::string& bytes : inputs) {
    RawClient client(rig.port());
    EXPECT_TRUE(client.send(bytes));
    client.half_close();
    errno = 0;
    while (client.receive()) {
    }
    EXPECT_THAT(client.unread(), ::testing::Not(HasSubstr("HTTP/1.1 200")));
    EXPECT_EQ(errno, 0) << "an end, not a reset";
  }
  wait_until_empty(rig.transport);
}

TEST(Tls, HundredsOfIdleConnectionsDontDisturb) {
  TlsRig rig;
  std::vector<std::unique_ptr<TlsClient>> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(std::make_unique<TlsClient>(rig.port()));
  for (auto& one : idle) {
    one->send(http_request("GET", "/echo"));
    EXPECT_EQ(one->read_response().status, 200);
  }
  idle.clear();
  wait_until_empty(rig.transport);
}

TEST(Tls, FilesThatWontDoAreNamed) {
  const SelfSigned files;
  const SelfSigned others;
  const auto fault = [](const std::string& cert, const std::string& key) {
    const auto opened = open_tls(cert, key);
    EXPECT_FALSE(opened);
    return opened ? "" : opened.error().message;
  };
  EXPECT_TRUE(open_tls(files.cert_file(), files.key_file()));
  EXPECT_THAT(fault("/no/such.pem", files.key_file()), HasSubstr("--ssl-cert-file /no/such.pem: "));
  EXPECT_THAT(fault(files.key_file(), files.key_file()), HasSubstr("--ssl-cert-file " + files.key_file()));
  EXPECT_THAT(fault(files.cert_file(), "/no/such.pem"), HasSubstr("--ssl-key-file /no/such.pem: "));
  EXPECT_THAT(fault(files.cert_file(), files.cert_file()), HasSubstr("--ssl-key-file " + files.cert_file()));
  EXPECT_THAT(fault(files.cert_file(), others.key_file()), HasSubstr("--ssl-key-file " + others.key_file()));
  EXPECT_THAT(fault(files.cert_file(), files.locked_key_file()), HasSubstr("--ssl-key-file")) << "nobody is asked";
}

TEST(Tls, AServerTakesBothFilesOrNeither) {
  const SelfSigned files;
  ServerOptions options;
  options.port = 0;
  for (auto* one : {&options.tls_cert_file, &options.tls_key_file}) {
    *one = files.cert_file();
    const auto refused = Server::open(*testing::shared_server().engine, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("--ssl-cert-file and --ssl-key-file"));
    one->clear();
  }
}

TEST(Tls, AServerAnswersThroughIt) {
  const SelfSigned files;
  testing::RigOptions options;
  options.server.tls_cert_file = files.cert_file();
  options.server.tls_key_file = files.key_file();
  const ServerRig rig(options);
  EXPECT_THAT(rig.server->url(), ::testing::StartsWith("https://127.0.0.1:"));
  TlsClient client(rig.port());
  const Json body = {{"prompt", "Once"}, {"max_tokens", 40}, {"ignore_eos", true}, {"stream", true}};
  for (int i = 0; i < 2; ++i) {
    client.send(http_request("POST", "/v1/completions", dump_json(body)));
    const RawResponse response = client.read_response();
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(testing::read_sse(response.body).done);
  }
  RawClient plain(rig.port());
  plain.send(http_request("GET", "/health"));
  EXPECT_EQ(plain.read_response().status, 0);
}

}  // namespace
}  // namespace ferrox
