// Which value stands for which JSON type?
#include "text/jinja/json_value.h"

#include "text/jinja/build.h"

namespace ferrox::jinja {
namespace {

using Json = nlohmann::ordered_json;

class Converter {
 public:
  Converter(Budget& budget, Origin origin) : budget_(budget), origin_(origin) {}

  Value convert(const Json& json) {
    switch (json.type()) {
      case Json::value_t::boolean:
        return json.get<bool>();
      case Json::value_t::number_integer:
        return json.get<int64_t>();
      case Json::value_t::number_unsigned:
        return static_cast<Integer>(json.get<uint64_t>());
      case Json::value_t::number_float:
        return json.get<double>();
      case Json::value_t::string:
        return text(json.get_ref<const std::string&>());
      case Json::value_t::array:
        return list(json);
      case Json::value_t::object:
        return dict(json);
      default:
        return None{};
    }
  }

 private:
  Value text(const std::string& bytes) {
    budget_.spend_text(bytes.size());
    return Text(bytes, origin_);
  }

  void enter() {
    if (++depth_ > kMaxValueDepth) fail("variables nest deeper than {} levels", kMaxValueDepth);
  }

  Value list(const Json& json) {
    enter();
    std::vector<Value> items;
    items.reserve(json.size());
    for (const Json& item : json) items.push_back(convert(item));
    --depth_;
    return make_list(budget_, std::move(items));
  }

  Value dict(const Json& json) {
    enter();
    Dict dict;
    for (const auto& [key, value] : json.items()) dict.set(text(key), convert(value));
    --depth_;
    return make_dict(budget_, std::move(dict));
  }

  Budget& budget_;
  Origin origin_;
  size_t depth_ = 0;
};

}  // namespace

Value from_json(Budget& budget, const nlohmann::ordered_json& json, Origin origin) {
  return Converter(budget, origin).convert(json);
}

}  // namespace ferrox::jinja
