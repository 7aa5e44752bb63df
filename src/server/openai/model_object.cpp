// Which facts about the model does a client need?
#include "server/openai/model_object.h"

namespace ferrox {

Json model_object(App& app) {
  const ModelShape& shape = app.engine().shape();
  Json capabilities = Json::array({"completion", "chat"});
  Json meta = {
      {"architecture", shape.architecture}, {"n_params", shape.n_parameters}, {"size", shape.weight_bytes},
      {"n_vocab", shape.n_vocab},           {"n_embd", shape.n_embd},         {"n_ctx_train", shape.context_length}};
  return {{"id", app.engine().model_id()},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "ferrox"},
          {"context_length", app.engine().context_length()},
          {"capabilities", std::move(capabilities)},
          {"meta", std::move(meta)}};
}

}  // namespace ferrox
