// Are conversations put away and taken up again over HTTP, by a later server as well?
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "server/server_rig.h"
#include "support/file_bytes.h"
#include "support/hanging_disk.h"
#include "support/temp_folder.h"
#include "tier/session_file.h"

namespace ferrox {
namespace {

using testing::RigOptions;
using testing::ServerRig;
using testing::TempFolder;

/// `change` what else is wanted.
RigOptions with_folder(const TempFolder& folder, const std::function<void(RigOptions&)>& change = {}) {
  RigOptions options;
  options.engine.kv_disk = folder / "kv";
  options.engine.kv_disk_bytes = uint64_t{64} << 20;
  options.engine.n_parallel = 2;
  if (change) change(options);
  return options;
}

Json question() {
  return {
      {"messages", {{{"role", "user"}, {"content", "What is the capital of France? Please answer in one sentence."}}}},
      {"max_tokens", 16},
      {"temperature", 0}};
}

int64_t session_cached_tokens(const Json& answer) { return answer["usage"]["prompt_tokens_details"]["cached_tokens"]; }

std::filesystem::path file_of(const TempFolder& folder, const std::string& id) {
  return folder / "kv" / "sessions" / (id + ".session1");
}

/// A store of some 1,600 positions.
void make_small(RigOptions& options) {
  options.engine.context_length = 512;
  options.engine.kv_bytes = uint64_t{2} << 20;
}

Json prompt_of(int token, int n_tokens) { return {{"prompt", std::vector<int>(static_cast<size_t>(n_tokens), token)}}; }

/// Asks for one token behind a prompt and saves it.
std::string saved_id(const ServerRig& rig, Json prompt) {
  const Json saved = prompt;
  prompt["max_tokens"] = 1;
  EXPECT_EQ(rig.complete(prompt).status, 200);
  return parse_json(rig.call("POST", "/v1/sessions", saved).body).value()["id"];
}

/// What the store keeps; the tiers' thread may still be writing.
Json cached_in_store(const ServerRig& rig) {
  Json cache = parse_json(rig.call("GET", "/v1/cache").body).value();
  cache.erase("tiers");
  return cache;
}

/// What the tiers may take of the disk.
uint64_t tier_budget(const ServerRig& rig) {
  return parse_json(rig.call("GET", "/v1/cache").body).value()["tiers"]["disk"]["budget_bytes"];
}

/// Until so many of the tiers' files are written at least, and no more waits for that.
void wait_for_files(const ServerRig& rig, int n) {
  for (;;) {
    const Json disk = parse_json(rig.call("GET", "/v1/cache").body).value()["tiers"]["disk"];
    if (disk["entries"] >= n && disk["staged_bytes"] == 0) return;
  }
}

/// Changes what a session's file says of it, with all checksums right.
void rewrite_session(const std::filesystem::path& path, const std::function<void(SessionHeader&)>& change) {
  std::string bytes = testing::read_file(path);
  const auto all = std::as_bytes(std::span(bytes));
  SessionHeader header = *parse_session_header(all.first(announced_header_bytes(all)));
  change(header);
  const auto encoded = encode_session_header(header);
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  testing::write_file(path, bytes);
}

TEST(Sessions, ComeBackOverARestartUnderAnOpaqueId) {
  const TempFolder folder;
  std::string id;
  std::string text;
  {
    ServerRig rig(with_folder(folder));
    EXPECT_EQ(rig.call("POST", "/v1/sessions", question()).status, 404) << "nothing is cached yet";
    const Json answer = parse_json(rig.chat(question()).body).value();
    text = answer["choices"][0]["message"]["content"];
    const auto saved = rig.call("POST", "/v1/sessions", question());
    ASSERT_EQ(saved.status, 200) << saved.body;
    const Json json = parse_json(saved.body).value();
    id = json["id"];
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ(json["tokens"], json["prompt_tokens"]);
    EXPECT_EQ(rig.call("POST", "/v1/cache/clear").status, 200);
  }
  // No page of the tiers: the session alone.
  for (const auto& path : testing::files_in(folder / "kv", "1")) std::filesystem::remove(path);
  ServerRig rig(with_folder(folder));
  const Json list = parse_json(rig.call("GET", "/v1/sessions").body).value();
  ASSERT_EQ(list["data"].size(), 1u);
  EXPECT_EQ(list["data"][0]["id"], id);
  const auto restored = rig.call("POST", "/v1/sessions/restore", {{"id", id}});
  ASSERT_EQ(restored.status, 200) << restored.body;
  const Json answer = parse_json(rig.chat(question()).body).value();
  EXPECT_EQ(answer["choices"][0]["message"]["content"], text);
  EXPECT_EQ(session_cached_tokens(answer), answer["usage"]["prompt_tokens"].get<int64_t>() - 1);
  EXPECT_EQ(rig.call("DELETE", "/v1/sessions/" + id).status, 200);
  EXPECT_EQ(rig.call("DELETE", "/v1/sessions/" + id).status, 404);
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", id}}).status, 404);
  rig.expect_all_released();
}

TEST(Sessions, OfAConversationThatNobodyAskedForThereIsNone) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  rig.chat(question());
  Json other = question();
  other["messages"][0]["content"] = "Name three rivers of Asia, please, and the seas that they reach.";
  const auto saved = rig.call("POST", "/v1/sessions", other);
  EXPECT_EQ(saved.status, 404) << saved.body << ": what all prompts begin with is no conversation";
}

TEST(Sessions, WhatIsClearedComesBackFromNoTier) {
  const TempFolder folder;
  const auto with_memory = [](RigOptions& options) { options.engine.kv_host_bytes = uint64_t{64} << 20; };
  const auto stored = [](ServerRig& rig, const std::string& tier) {
    const std::string page = rig.call("GET", "/metrics").body;
    const size_t at = page.find("ferrox_prefix_tier_stored_total{tier=\"" + tier + "\"} ");
    EXPECT_NE(at, std::string::npos) << page;
    return page[page.find("} ", at) + 2] != '0';
  };
  {
    ServerRig rig(with_folder(folder, with_memory));
    Json long_question = question();
    long_question["messages"][0]["content"] = std::string(400, 'x');
    rig.chat(long_question);
    while (!stored(rig, "host") || !stored(rig, "disk")) std::this_thread::yield();
    EXPECT_EQ(rig.call("POST", "/v1/cache/clear").status, 200);
    EXPECT_EQ(session_cached_tokens(parse_json(rig.chat(long_question).body).value()), 0);
    EXPECT_EQ(rig.call("POST", "/v1/cache/clear").status, 200);
  }
  ServerRig rig(with_folder(folder));
  Json long_question = question();
  long_question["messages"][0]["content"] = std::string(400, 'x');
  EXPECT_EQ(session_cached_tokens(parse_json(rig.chat(long_question).body).value()), 0);
}

TEST(Sessions, ARestoreThatCantBeUsedSaysSo) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  rig.chat(question());
  const std::string id = parse_json(rig.call("POST", "/v1/sessions", question()).body).value()["id"];
  const auto path = folder / "kv" / "sessions" / (id + ".session1");
  std::string bytes = testing::read_file(path);
  EXPECT_EQ(rig.call("POST", "/v1/cache/clear").status, 200);
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
  testing::write_file(path, bytes);
  rig.complete({{"prompt", std::vector<int>(40, 7)}, {"max_tokens", 1}});
  const Json before = cached_in_store(rig);
  const auto damaged = rig.call("POST", "/v1/sessions/restore", {{"id", id}});
  EXPECT_EQ(damaged.status, 409) << damaged.body;
  EXPECT_EQ(cached_in_store(rig), before) << "a refusal costs no cached page";
  for (const Json& body : std::vector<Json>{{{"id", "../../etc/passwd"}}, {{"id", 7}}, {{"name", id}}, Json::array()}) {
    EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", body).status, 400) << body;
  }
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", std::string(32, '0')}}).status, 404);
  rig.expect_all_released();
}

TEST(Sessions, WhatCountsIsListedAndForgottenHoweverDamagedItIs) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  rig.chat(question());
  const std::string id = parse_json(rig.call("POST", "/v1/sessions", question()).body).value()["id"];
  const auto other = std::move(*SessionStore::open({.model = {}, .page_rows = 4, .part_bytes = {8}},
                                                   folder / "kv" / "sessions", uint64_t{1} << 20));
  const std::string other_id = to_hex(*other->save(std::vector<int32_t>{1, 2}, 2, {}, std::nullopt));
  const std::string damaged_id(32, 'd');
  testing::write_file(folder / "kv" / "sessions" / (damaged_id + ".session1"), "FXSESSN1 and no more");
  std::map<std::string, Json> listed;
  const Json list = parse_json(rig.call("GET", "/v1/sessions").body).value();
  for (const Json& session : list["data"]) listed[session["id"]] = session;
  ASSERT_EQ(listed.size(), 3u) << list;
  EXPECT_EQ(listed[id]["state"], "saved");
  EXPECT_EQ(listed[other_id]["state"], "other_model");
  EXPECT_EQ(listed[other_id]["tokens"], 2);
  EXPECT_EQ(listed[damaged_id]["state"], "damaged");
  EXPECT_EQ(listed[damaged_id]["bytes"], 20);
  EXPECT_FALSE(listed[damaged_id].contains("tokens"));
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", damaged_id}}).status, 409);
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", other_id}}).status, 501);
  for (const auto& [each, json] : listed) EXPECT_EQ(rig.call("DELETE", "/v1/sessions/" + each).status, 200);
  EXPECT_TRUE(testing::files_in(folder / "kv" / "sessions", ".session1").empty());
}

TEST(Sessions, TokensThatTheModelDoesntHaveAreDamage) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  const std::string id = saved_id(rig, prompt_of(7, 80));
  for (const int32_t token : {-1, rig.engine->shape().n_vocab}) {
    rewrite_session(file_of(folder, id), [&](SessionHeader& header) { header.tokens[3] = token; });
    const auto restored = rig.call("POST", "/v1/sessions/restore", {{"id", id}});
    EXPECT_EQ(restored.status, 409) << restored.body;
    EXPECT_NE(restored.body.find("expected token ids"), std::string::npos) << restored.body;
  }
}

TEST(Sessions, AreRestoredAsFarAsTheyWereComputed) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  const std::string id = saved_id(rig, prompt_of(7, 80));
  rewrite_session(file_of(folder, id), [](SessionHeader& header) { header.n_rows = 40; });
  const auto restored = rig.call("POST", "/v1/sessions/restore", {{"id", id}});
  ASSERT_EQ(restored.status, 200) << restored.body;
  EXPECT_EQ(parse_json(restored.body).value()["tokens"], 40);
  rewrite_session(file_of(folder, id), [](SessionHeader& header) { header.n_rows = 0; });
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", id}}).status, 409);
}

TEST(Sessions, TiersHaveWhatTheyLeaveOfTheDisk) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  const uint64_t all = tier_budget(rig);
  const std::string id = saved_id(rig, prompt_of(7, 80));
  EXPECT_EQ(tier_budget(rig), all - std::filesystem::file_size(file_of(folder, id)));
  EXPECT_EQ(rig.call("DELETE", "/v1/sessions/" + id).status, 200);
  EXPECT_EQ(tier_budget(rig), all);
}

TEST(Sessions, MoreThanTheStoreHoldsIsRefused) {
  const TempFolder folder;
  std::string id;
  {
    ServerRig rig(with_folder(folder));
    id = saved_id(rig, prompt_of(7, 1800));
  }
  ServerRig rig(with_folder(folder, make_small));
  const auto restored = rig.call("POST", "/v1/sessions/restore", {{"id", id}});
  EXPECT_EQ(restored.status, 400) << restored.body;
  EXPECT_NE(restored.body.find("device_memory_budget_exceeded"), std::string::npos);
}

TEST(Sessions, DamageCostsNoCachedPageOfAFullStore) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, make_small));
  const std::string id = saved_id(rig, prompt_of(7, 200));
  std::string bytes = testing::read_file(file_of(folder, id));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  testing::write_file(file_of(folder, id), bytes);
  EXPECT_EQ(rig.call("POST", "/v1/cache/clear").status, 200);
  for (int token = 10; rig.engine->status().n_pages_free > 0; ++token) {
    ASSERT_LT(token, 100) << "a store is full some time";
    Json prompt = prompt_of(token, 200);
    prompt["max_tokens"] = 1;
    EXPECT_EQ(rig.complete(prompt).status, 200);
  }
  const Json before = cached_in_store(rig);
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", id}}).status, 409);
  EXPECT_EQ(cached_in_store(rig), before);
}

/// A disk that hangs keeps a session's pages held: nobody computes over them, and who needs them is told to come again.
TEST(Sessions, PagesAreHeldUntilTheyAreWritten) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, [](RigOptions& options) {
    options.engine.context_length = 512;
    options.engine.kv_bytes = uint64_t{1} << 20;
  }));
  const auto n_positions = static_cast<int>(rig.engine->status().n_pages_total) * 32;
  const std::string other = saved_id(rig, prompt_of(7, n_positions * 6 / 10));
  EXPECT_EQ(rig.call("POST", "/v1/cache/clear").status, 200);
  const Json prompt = prompt_of(8, n_positions * 6 / 10);
  const std::string first = saved_id(rig, prompt);
  std::string second;
  {
    testing::HangingDisk disk(folder / "kv");
    Json small = prompt_of(9, 64);
    small["max_tokens"] = 1;
    EXPECT_EQ(rig.complete(small).status, 200);
    rig.expect_all_released();
    std::thread saver([&] { second = parse_json(rig.call("POST", "/v1/sessions", prompt).body).value()["id"]; });
    rig.wait_for(
        [](const EngineStatus& status) { return status.n_pages_free + status.n_pages_cached < status.n_pages_total; });
    const auto busy = rig.call("POST", "/v1/sessions/restore", {{"id", other}});
    EXPECT_EQ(busy.status, 503) << busy.body;
    EXPECT_NE(busy.body.find("sessions_busy"), std::string::npos);
    for (int token = 10; token < 20; ++token) {
      small = prompt_of(token, 64);
      small["max_tokens"] = 1;
      EXPECT_EQ(rig.complete(small).status, 200);
    }
    disk.release();
    saver.join();
    rig.stop();
    rig.server.reset();
    rig.engine.reset();
  }
  const auto rows_of = [&](const std::string& id) {
    const std::string bytes = testing::read_file(file_of(folder, id));
    return bytes.substr(announced_header_bytes(std::as_bytes(std::span(bytes))));
  };
  EXPECT_TRUE(rows_of(first) == rows_of(second));
}

/// The end of a server waits for a disk no longer than for a request; what isn't wholly written isn't there afterwards.
TEST(Sessions, ADiskThatHangsDoesntKeepTheServerFromEnding) {
  const TempFolder folder;
  {
    ServerRig rig(with_folder(folder, [](RigOptions& options) {
      make_small(options);
      options.server.drain_timeout = std::chrono::milliseconds(300);
    }));
    saved_id(rig, prompt_of(7, 100));
    wait_for_files(rig, 1);
    testing::HangingDisk disk(folder / "kv");
    Json prompt = prompt_of(8, 100);
    prompt["max_tokens"] = 1;
    EXPECT_EQ(rig.complete(prompt).status, 200);
    prompt.erase("max_tokens");
    rig.expect_all_released();
    testing::RawClient saver(rig.port());
    saver.send(testing::http_request("POST", "/v1/sessions", dump_json(prompt)));
    rig.wait_for(
        [](const EngineStatus& status) { return status.n_pages_free + status.n_pages_cached < status.n_pages_total; });
    const auto start = std::chrono::steady_clock::now();
    rig.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    EXPECT_EQ(saver.read_response().status, 0) << "nobody is told of a session that isn't there";
    disk.release();
    rig.server.reset();  // waits for what hung, and for nothing else
    rig.engine.reset();
  }
  const ServerRig later(with_folder(folder, make_small));
  const Json sessions = parse_json(later.call("GET", "/v1/sessions").body).value()["data"];
  EXPECT_GE(sessions.size(), 1u);
  for (const Json& session : sessions) EXPECT_EQ(session["state"], "saved") << "whole, or not there";
}

TEST(Sessions, MoreThanTheFolderMayHoldIsRefused) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, [](RigOptions& options) { options.engine.kv_disk_bytes = 20'000; }));
  rig.chat(question());
  const auto saved = rig.call("POST", "/v1/sessions", question());
  EXPECT_EQ(saved.status, 400) << saved.body;
  EXPECT_NE(saved.body.find("device_memory_budget_exceeded"), std::string::npos);
  EXPECT_TRUE(testing::files_in(folder / "kv" / "sessions", ".session1").empty());
}

TEST(Sessions, ARefusedOneMakesNoPrefixGo) {
  const TempFolder folder;
  uint64_t page_bytes = 0;
  for (const bool is_small : {false, true}) {
    ServerRig rig(with_folder(folder, [&](RigOptions& options) {
      if (is_small) options.engine.kv_disk_bytes = page_bytes * 5 / 2;
    }));
    Json prompt = prompt_of(is_small ? 8 : 7, 200);
    const Json asked = prompt;
    prompt["max_tokens"] = 1;
    EXPECT_EQ(rig.complete(prompt).status, 200);
    wait_for_files(rig, is_small ? 2 : 1);
    const auto pages = testing::files_in(folder / "kv", ".page1");
    page_bytes = std::filesystem::file_size(pages.front());
    if (!is_small) continue;
    EXPECT_EQ(rig.call("POST", "/v1/sessions", asked).status, 400);
    EXPECT_EQ(testing::files_in(folder / "kv", ".page1"), pages);
  }
}

/// Pages that a session holds while its file is written are missed by requests that want all of them, and no more.
TEST(Sessions, RequestsOfTheWholeStoreWaitForThem) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, [](RigOptions& options) {
    options.engine.context_length = 512;
    options.engine.kv_bytes = uint64_t{2} << 20;
  }));
  const std::vector<int> prompt(200, 7);
  EXPECT_EQ(rig.complete({{"prompt", prompt}, {"max_tokens", 1}}).status, 200);
  std::atomic<bool> is_over = false;
  std::thread saver([&] {
    while (!is_over) {
      const auto saved = rig.call("POST", "/v1/sessions", {{"prompt", prompt}});
      if (saved.status != 200) continue;
      const std::string id = parse_json(saved.body).value()["id"];
      rig.call("POST", "/v1/sessions/restore", {{"id", id}});
      rig.call("DELETE", "/v1/sessions/" + id);
    }
  });
  const Json admission = parse_json(rig.call("POST", "/v1/admission", {{"prompt", {5}}}).body).value();
  const int most = admission["choices"][0]["position_limit"];
  for (int i = 0; i < 8; ++i) {
    const Json request = {
        {"prompt", {5, 6 + i}}, {"max_tokens", most - 2}, {"stop", {" ", "a", "e", "i", "o", "t", "."}}};
    EXPECT_EQ(rig.complete(request).status, 200);
  }
  is_over = true;
  saver.join();
  rig.expect_all_released();
}

TEST(Sessions, WithoutAFolderTheyAreRefusedByName) {
  ServerRig rig;
  rig.chat(question());
  EXPECT_EQ(rig.call("POST", "/v1/sessions", question()).status, 501);
  EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", std::string(32, '0')}}).status, 501);
  EXPECT_EQ(rig.call("GET", "/v1/sessions").status, 501);
  EXPECT_EQ(rig.call("POST", "/slots/0?action=save").status, 501);
}

// M3: with no bytes for memory and none for files there are no tiers, no sessions and no folder.
TEST(Sessions, NoBytesMeanNoFolder) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, [](RigOptions& options) { options.engine.kv_disk_bytes = 0; }));
  rig.chat(question());
  EXPECT_FALSE(std::filesystem::exists(folder / "kv"));
  EXPECT_FALSE(parse_json(rig.call("GET", "/v1/cache").body).value().contains("tiers"));
  EXPECT_EQ(rig.call("POST", "/v1/sessions", question()).status, 501);
}

// S11: what isn't an id opens, makes and removes nothing, however it is written.
TEST(Sessions, NamesOfFilesAreNoIds) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder));
  rig.chat(question());
  const auto outside = folder / "kv" / "a.session1";
  testing::write_file(outside, "FXSESSN1 outside");
  testing::write_file(folder / "kv" / "sessions" / "con.session1", "FXSESSN1 reserved");
  const auto files_before = testing::files_in(folder / "kv" / "sessions");
  const std::string dots = "../a";
  const std::string nul("a\0b", 3);
  const std::string cut = std::string(32, '0') + std::string(1, '\0');
  for (const std::string& id : {dots, nul, cut, outside.string(), std::string("con"), std::string(".."), std::string(),
                                std::string("writer.lock"), std::string(32, 'A'), std::string(4096, '0')}) {
    EXPECT_EQ(rig.call("POST", "/v1/sessions/restore", {{"id", id}}).status, 400) << id;
    EXPECT_EQ(rig.call("POST", "/slots/0?action=restore", {{"filename", id}}).status, 400) << id;
    if (id.empty()) continue;  // none: the server chooses
    EXPECT_EQ(rig.call("POST", "/slots/0?action=save", {{"filename", id}}).status, 400) << id;
  }
  for (const char* const id :
       {"../a", "..%2Fa", "%2e%2e%2fa", "..%5Ca", "a%00b", "con", "00000000000000000000000000000000%00"}) {
    EXPECT_EQ(rig.call("DELETE", std::string("/v1/sessions/") + id).status, 400) << id;
  }
  EXPECT_EQ(testing::read_file(outside), "FXSESSN1 outside");
  EXPECT_EQ(testing::files_in(folder / "kv" / "sessions"), files_before);
}

TEST(Slots, SaveAndRestoreTheirLastConversation) {
  const TempFolder folder;
  std::string id;
  {
    ServerRig rig(with_folder(folder));
    EXPECT_EQ(parse_json(rig.call("GET", "/slots").body).value().size(), 2u);
    EXPECT_EQ(rig.call("POST", "/slots/0?action=save").status, 404) << "nothing ran there";
    rig.chat(question());
    const auto saved = rig.call("POST", "/slots/0?action=save", Json::object());
    ASSERT_EQ(saved.status, 200) << saved.body;
    const Json json = parse_json(saved.body).value();
    id = json["filename"];
    EXPECT_GT(json["n_saved"], 20);
    EXPECT_EQ(rig.call("POST", "/slots/0?action=save", {{"filename", "mine.bin"}}).status, 400);
    EXPECT_EQ(rig.call("POST", "/slots/2?action=save").status, 404);
    EXPECT_EQ(rig.call("POST", "/slots/x?action=save").status, 404);
    EXPECT_EQ(rig.call("POST", "/slots/0?action=eject").status, 400);
  }
  for (const auto& path : testing::files_in(folder / "kv", "1")) std::filesystem::remove(path);
  ServerRig rig(with_folder(folder));
  const auto restored = rig.call("POST", "/slots/1?action=restore", {{"filename", id}});
  ASSERT_EQ(restored.status, 200) << restored.body;
  const Json answer = parse_json(rig.chat(question()).body).value();
  EXPECT_EQ(session_cached_tokens(answer), answer["usage"]["prompt_tokens"].get<int64_t>() - 1);
}

TEST(Sessions, NamespacesOfKeysAreApart) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, [](RigOptions& options) {
    options.server.api_keys = {"two"};
    ApiKey one;
    one.name = "one";
    one.sha256 = digest_of("one");
    options.server.keys = {one};
  }));
  const auto call = [&](const char* path, const Json& body, const std::string& key) {
    return rig.call("POST", path, body, "Authorization: Bearer " + key + "\r\n");
  };
  EXPECT_EQ(call("/v1/chat/completions", question(), "one").status, 200);
  EXPECT_EQ(call("/v1/sessions", question(), "two").status, 404) << "what another asked isn't there";
  EXPECT_EQ(call("/slots/0?action=save", Json::object(), "two").status, 404);
  EXPECT_EQ(call("/v1/sessions", question(), "one").status, 200);
  EXPECT_EQ(rig.call("GET", "/v1/sessions", nullptr, "Authorization: Bearer one\r\n").status, 403);
  const auto list = rig.call("GET", "/v1/sessions", nullptr, "Authorization: Bearer two\r\n");
  ASSERT_EQ(list.status, 200) << "of an admin";
  EXPECT_EQ(parse_json(list.body).value()["data"].size(), 1u);
}

TEST(Sessions, SleepWaitsForWhatIsBeingSaved) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, make_small));
  saved_id(rig, prompt_of(7, 100));
  wait_for_files(rig, 1);
  testing::HangingDisk disk(folder / "kv");
  Json prompt = prompt_of(8, 100);
  prompt["max_tokens"] = 1;
  EXPECT_EQ(rig.complete(prompt).status, 200);
  prompt.erase("max_tokens");
  rig.expect_all_released();
  testing::RawClient saver(rig.port());
  saver.send(testing::http_request("POST", "/v1/sessions", dump_json(prompt)));
  rig.wait_for(
      [](const EngineStatus& status) { return status.n_pages_free + status.n_pages_cached < status.n_pages_total; });
  testing::RawClient sleeper(rig.port());
  sleeper.send(testing::http_request("POST", "/sleep?level=2"));
  while (rig.call("GET", "/readyz").status == 200) {
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rig.call("GET", "/slots").status, 200) << "the engine's thread is free";
  EXPECT_EQ(parse_json(rig.call("GET", "/is_sleeping").body).value()["is_sleeping"], false);
  disk.release();
  EXPECT_EQ(saver.read_response().status, 200);
  EXPECT_EQ(sleeper.read_response().status, 200);
  rig.stop();
  rig.server.reset();
  rig.engine.reset();
}

}  // namespace
}  // namespace ferrox
