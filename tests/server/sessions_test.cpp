// Are conversations put away and taken up again over HTTP, by a later server as well?
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "server/server_rig.h"
#include "support/file_bytes.h"
#include "support/temp_folder.h"

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
  const std::string before = rig.call("GET", "/v1/cache").body;
  const auto damaged = rig.call("POST", "/v1/sessions/restore", {{"id", id}});
  EXPECT_EQ(damaged.status, 409) << damaged.body;
  EXPECT_EQ(rig.call("GET", "/v1/cache").body, before) << "a refusal costs no cached page";
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

TEST(Sessions, MoreThanTheFolderMayHoldIsRefused) {
  const TempFolder folder;
  ServerRig rig(with_folder(folder, [](RigOptions& options) { options.engine.kv_disk_bytes = 20'000; }));
  rig.chat(question());
  const auto saved = rig.call("POST", "/v1/sessions", question());
  EXPECT_EQ(saved.status, 400) << saved.body;
  EXPECT_NE(saved.body.find("device_memory_budget_exceeded"), std::string::npos);
  EXPECT_TRUE(testing::files_in(folder / "kv" / "sessions", ".session1").empty());
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
  ServerRig rig(with_folder(folder, [](RigOptions& options) { options.server.api_keys = {"one", "two"}; }));
  const auto call = [&](const char* path, const Json& body, const std::string& key) {
    return rig.call("POST", path, body, "Authorization: Bearer " + key + "\r\n");
  };
  EXPECT_EQ(call("/v1/chat/completions", question(), "one").status, 200);
  EXPECT_EQ(call("/v1/sessions", question(), "two").status, 404) << "what another asked isn't there";
  EXPECT_EQ(call("/slots/0?action=save", Json::object(), "two").status, 404);
  EXPECT_EQ(call("/v1/sessions", question(), "one").status, 200);
  EXPECT_EQ(rig.call("GET", "/v1/sessions", nullptr, "Authorization: Bearer one\r\n").status, 403);
}

}  // namespace
}  // namespace ferrox
