#include "server/cache_json.h"

namespace ferrox {
namespace {

Json currency_json(const PrefixCurrencyReport& currency) {
  return {{"name", currency.name},
          {"pages", currency.n_pages},
          {"idle_pages", currency.n_idle},
          {"bytes", currency.bytes},
          {"evicted_pages", currency.n_evicted}};
}

Json node_json(const PrefixNodeReport& node, const std::string& space, const Tokenizer& tokenizer) {
  Json json = {{"start", node.start},     {"tokens", node.n_tokens},     {"pages", node.n_pages},
               {"states", node.states},   {"children", node.n_children}, {"held", node.is_held},
               {"pinned", node.is_pinned}};
  if (node.space != space) return json;
  std::string text;
  for (const int32_t token : node.tokens) text += tokenizer.token_bytes(token, SpecialText::kShow);
  json["text"] = text;
  json["text_tokens"] = node.tokens.size();
  return json;
}

Json tier_json(const TierStats& tier) {
  return {{"entries", tier.n_entries},     {"bytes", tier.bytes},       {"budget_bytes", tier.budget_bytes},
          {"hits", tier.n_hits},           {"misses", tier.n_misses},   {"stored", tier.n_stored},
          {"evicted", tier.n_evicted},     {"dropped", tier.n_dropped}, {"damaged", tier.n_damaged},
          {"io_errors", tier.n_io_errors}, {"loaded", tier.n_loaded},   {"bytes_loaded", tier.bytes_loaded}};
}

Json tiers_json(const PrefixTierStats& tiers) {
  Json disk = tier_json(tiers.disk);
  disk["is_writer"] = tiers.writes_disk;
  disk["staged_bytes"] = tiers.staged_bytes;
  disk["staging_budget_bytes"] = tiers.staging_budget_bytes;
  return {{"host", tier_json(tiers.host)}, {"disk", disk}};
}

}  // namespace

Json cache_json(const std::optional<PrefixCacheReport>& report, const std::optional<PrefixTierStats>& tiers,
                const std::string& space, const Tokenizer& tokenizer) {
  Json json = {{"object", "prefix_cache"}, {"enabled", report.has_value()}};
  if (!report) return json;
  json["nodes"] = report->n_nodes;
  json["tokens"] = report->n_tokens;
  json["pins"] = report->n_pins;
  json["queries"] = report->n_queries;
  json["hits"] = report->n_hits;
  json["prompt_tokens"] = report->n_tokens_asked;
  json["cached_tokens"] = report->n_tokens_reused;
  json["currencies"] = Json::array();
  for (const PrefixCurrencyReport& currency : report->currencies) json["currencies"].push_back(currency_json(currency));
  if (tiers) json["tiers"] = tiers_json(*tiers);
  json["tree"] = Json::array();
  for (const PrefixNodeReport& node : report->nodes) json["tree"].push_back(node_json(node, space, tokenizer));
  return json;
}

}  // namespace ferrox
