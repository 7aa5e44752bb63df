// Which members has an entry, in which ranges?
#include "server/keys/keys_file.h"

#include <algorithm>

#include "base/hex.h"
#include "server/keys/key_ring.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

constexpr double kMostRequests = 1e6;
constexpr double kMostTokensPerMinute = 1e9;
constexpr FieldRange kWeightRange{0.001, 1000};  // beyond a millionth of a share nobody is served

constexpr FieldRange kNameBytes{1, 64};

bool is_name_letter(char c) {
  const bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alphanumeric || c == '_' || c == '.' || c == '-';
}

ApiResult<void> read_name(const Json& value, ApiKey& key) {
  TRY_ASSIGN(key.name, read_string("name", value, kNameBytes));
  if (std::all_of(key.name.begin(), key.name.end(), is_name_letter)) return {};
  return wrong_value("name", "letters, digits, '_', '.' and '-'", value);
}

ApiResult<void> read_sha256(const Json& value, ApiKey& key) {
  const auto digest = value.is_string() ? parse_hex<32>(value.get_ref<const std::string&>()) : std::nullopt;
  if (!digest) return wrong_value("sha256", "64 hexadecimal digits in lower case", value);
  if (*digest == digest_of("")) return wrong_value("sha256", "the hash of a key and not of nothing", value);
  key.sha256 = *digest;
  return {};
}

ApiResult<void> read_weight(const Json& value, ApiKey& key) {
  TRY_ASSIGN(key.weight, read_number("weight", value, kWeightRange));
  return {};
}

Json name_schema() { return string_schema(kNameBytes); }
Json sha256_schema() { return {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}}; }
Json weight_schema() { return number_schema(kWeightRange); }

const Field<ApiKey> kKeyFields[] = {
    {"name",
     Structured<ApiKey>{read_name, name_schema},
     {},
     "who it is, in messages and metrics; names the cached prefixes too",
     Presence::kRequired},
    {"sha256", Structured<ApiKey>{read_sha256, sha256_schema}, {}, "of the key", Presence::kRequired},
    {"weight", Structured<ApiKey>{read_weight, weight_schema}, {}, "of its share of the engine"},
    {"max_requests",
     [](ApiKey& k) -> std::optional<int64_t>& { return k.max_requests; },
     {1, kMostRequests},
     "answers that may wait or run at once"},
    {"tokens_per_minute",
     [](ApiKey& k) -> std::optional<int64_t>& { return k.tokens_per_minute; },
     {1, kMostTokensPerMinute},
     "of prompts and answers"},
    {"priority",
     [](ApiKey& k) -> int32_t& { return k.priority; },
     {kFirstPriority, kLastPriority},
     "the lowest number that its requests may ask for"},
    {"admin", [](ApiKey& k) -> bool& { return k.is_admin; }, {}, "may do what concerns other callers"},
};

ApiResult<ApiKey> read_key(const Json& object) {
  if (!object.is_object()) return wrong_value("entry", "an object", object);
  ApiKey key;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null()) return wrong_value(name, "a value or no such member", value);
    TRY_ASSIGN(const FieldUse use, read_field<ApiKey>(kKeyFields, name, value, key));
    if (use == FieldUse::kUnknown) {
      return wrong_value(name.substr(0, kShownLetters), "a member that entries have (docs/http-api.md)", value);
    }
  }
  TRY(require_fields<ApiKey>(kKeyFields, object, key));
  return key;
}

}  // namespace

Result<std::vector<ApiKey>> parse_keys_file(std::string_view text, std::string_view file) {
  const auto fault = [file](std::string_view what) { return make_error(ErrorCode::kCorrupt, "{}: {}", file, what); };
  const auto json = parse_json(text);
  if (!json) return fault(json.error().message);
  if (!json->is_object() || json->size() != 1 || !json->contains("keys") || !(*json)["keys"].is_array()) {
    return fault("expected an object with the one member \"keys\", an array, found something else");
  }
  std::vector<ApiKey> keys;
  for (const Json& object : (*json)["keys"]) {
    const auto key = read_key(object);
    if (!key) return fault(fmt::format("keys[{}]: {}", keys.size(), key.error().message));
    keys.push_back(*key);
  }
  if (keys.empty()) return fault("keys: expected at least one entry, found none");
  if (const auto ring = KeyRing::make(keys); !ring) return fault(ring.error().message);
  return keys;
}

Result<std::string> new_key_entry(const std::string& name, std::string_view key) {
  ApiKey entry;
  if (const auto named = read_name(name, entry); !named) {
    return make_error(ErrorCode::kInvalidArgument, "{}", named.error().message);
  }
  return dump_json({{"name", name}, {"sha256", hex_of(digest_of(key))}});
}

}  // namespace ferrox
